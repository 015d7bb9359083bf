// Where SimGrid is installed: random networks, each flow's end there and here. With factors 1 and
// S 0 SimGrid weighs a flow by 1 / the latency of its route; without latencies all are alike. Its
// lazy updates give ends that are up to 2 % off those of its full ones, which are asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <simgrid/s4u.hpp>

#include "simulate/network/traffic.hpp"

namespace headway::network {
namespace {

namespace sg = simgrid::s4u;

struct Compared {
  std::vector<LinkId> route;
  double bytes = 0, start = 0, latency = 0, there = -1, here = -1;
};

// A plain generator: the same networks everywhere.
struct Numbers {
  std::uint64_t state = 1;
  unsigned next(unsigned below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<unsigned>((state >> 33U) % below);
  }
};

// Up to eight links, and up to sixteen flows over up to four of them each.
void add_network(Numbers& numbers, bool latencies, std::vector<Link>& links,
                 std::vector<Compared>& flows) {
  const auto first = static_cast<LinkId>(links.size());
  const unsigned count = 1 + numbers.next(8);
  for (unsigned l = 0; l < count; ++l) {
    links.push_back({.capacity = BytesPerSecond(1e6 * (1 + numbers.next(20))),
                     .latency = Seconds(latencies ? 0.25 * (1 + numbers.next(4)) : 0)});
  }
  for (unsigned f = 1 + numbers.next(16); f > 0; --f) {
    Compared flow;
    for (unsigned hop = 1 + numbers.next(4); hop > 0; --hop) {
      const LinkId link = first + numbers.next(count);
      if (std::find(flow.route.begin(), flow.route.end(), link) != flow.route.end()) continue;
      flow.route.push_back(link);
      flow.latency += links[link].latency.value();
    }
    flow.bytes = 1e6 * (1 + numbers.next(40));
    flow.start = 0.5 * numbers.next(8);
    flows.push_back(flow);
  }
}

void run_there(const std::vector<Link>& links, std::vector<Compared>& flows) {
  int argc = 2;
  char name[] = "simulate_test", quiet[] = "--log=root.thresh:critical";
  char* argv[] = {name, quiet, nullptr};
  sg::Engine engine(&argc, argv);
  for (const char* setting :
       {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
        "network/weight-S:0", "network/TCP-gamma:1e15", "network/crosstraffic:0",
        "network/optim:Full"}) {
    engine.set_config(setting);
  }
  auto* zone = sg::create_full_zone("zone");
  std::vector<sg::Link*> made;
  for (const Link& link : links) {
    made.push_back(zone->create_link("l" + std::to_string(made.size()), link.capacity.value())
                       ->set_latency(link.latency.value())
                       ->seal());
  }
  std::vector<sg::Host*> hosts;
  for (const Compared& flow : flows) {
    for (int end = 0; end < 2; ++end) {
      hosts.push_back(zone->create_host("h" + std::to_string(hosts.size()), 1e9));
    }
    std::vector<sg::LinkInRoute> route;
    for (const LinkId link : flow.route) route.emplace_back(made[link]);
    zone->add_route((*(hosts.end() - 2))->get_netpoint(), hosts.back()->get_netpoint(), nullptr,
                    nullptr, route, false);
  }
  zone->seal();
  for (std::size_t i = 0; i < flows.size(); ++i) {
    sg::Actor::create("a" + std::to_string(i), hosts[2 * i], [&flows, &hosts, i] {
      sg::this_actor::sleep_until(flows[i].start);
      sg::Comm::sendto(hosts[2 * i], hosts[2 * i + 1], static_cast<std::uint64_t>(flows[i].bytes));
      flows[i].there = sg::Engine::get_clock();
    });
  }
  engine.run();
}

void run_here(const std::vector<Link>& links, std::vector<Compared>& flows) {
  Traffic traffic(links);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const double weight = flows[i].latency > 0 ? 1 / flows[i].latency : 1;
    traffic.add({.demand = {.route = flows[i].route, .weight = weight},
                 .bytes = Bytes(flows[i].bytes),
                 .start = Seconds(flows[i].start),
                 .delay = Seconds(0),
                 .tag = i});
  }
  for (;;) {
    const auto& ended = traffic.advance();
    if (ended.empty()) break;
    for (const auto i : ended) flows[i].here = traffic.now().value();
  }
}

TEST(Traffic, EndsWhereSimGridEnds) {
  Numbers numbers;
  std::vector<Link> links;
  std::vector<Compared> flows;
  for (int i = 0; i < 200; ++i) add_network(numbers, i % 2 == 1, links, flows);
  run_there(links, flows);
  run_here(links, flows);
  EXPECT_GT(flows.size(), 1000U);
  for (const Compared& flow : flows) EXPECT_NEAR(flow.here / flow.there, 1, 1e-12);
}

}  // namespace
}  // namespace headway::network
