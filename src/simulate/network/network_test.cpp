// Shared rates against networks with known ones, and against what makes an allocation max-min fair;
// flows over time against what they move, and against rates found anew at every moment.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "simulate/network/file.hpp"
#include "simulate/network/filling.hpp"
#include "simulate/network/traffic.hpp"

namespace headway::network {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each, at);) {
    const auto begin = each.find_first_not_of(' '), end = each.find_last_not_of(' ');
    if (begin != std::string::npos) out.push_back(each.substr(begin, end - begin + 1));
  }
  return out;
}

double fraction(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::stod(text);
  return std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
}

// [SIM-10]
TEST(Filling, SharesTwelveNetworksAsTheyAreKnownToBeShared) {
  const std::string file = source_dir() + "/tests/oracles/simulation/maxmin.csv";
  const Csv table = parse_csv(read_file(file).value(), "maxmin.csv").value();
  ASSERT_EQ(table.rows.size(), 12U);
  for (const CsvRow& row : table.rows) {
    const auto cell = [&](const char* column) { return row.cells[table.column(column).value()]; };
    std::map<std::string, LinkId> names;
    std::vector<BytesPerSecond> capacities;
    for (const std::string& each : split(cell("capacities"), ' ')) {
      const auto parts = split(each, '=');
      names.emplace(parts[0], static_cast<LinkId>(capacities.size()));
      capacities.emplace_back(std::stod(parts[1]));
    }
    std::vector<std::vector<LinkId>> routes;
    for (const std::string& flow : split(cell("flows_by_links"), '|')) {
      routes.emplace_back();
      for (const std::string& link : split(flow, '-')) routes.back().push_back(names.at(link));
    }
    std::vector<Demand> demands(routes.size());
    const auto weights = split(cell("weights"), ' '), bounds = split(cell("bounds"), ' ');
    for (std::size_t i = 0; i < routes.size(); ++i) {
      demands[i].route = routes[i];
      if (!weights.empty()) demands[i].weight = std::stod(weights[i]);
      if (!bounds.empty() && bounds[i] != "-") {
        demands[i].bound = BytesPerSecond(std::stod(bounds[i]));
      }
    }
    const auto rates = shared_rates(capacities, demands);
    const auto expected = split(cell("rates"), ' ');
    ASSERT_EQ(rates.size(), expected.size()) << cell("case");
    for (std::size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(rates[i].value(), fraction(expected[i]), 1e-12) << cell("case") << ", flow " << i;
    }
  }
}

// A random network: capacities, and flows over up to four different links each.
struct RandomNetwork {
  std::vector<Link> links;
  std::vector<std::vector<LinkId>> routes;
  std::vector<Demand> demands;
  std::vector<BytesPerSecond> capacities() const {
    std::vector<BytesPerSecond> out;
    for (const Link& link : links) out.push_back(link.capacity);
    return out;
  }
};

RandomNetwork random_network(int most_links, int most_flows, bool plain = false) {
  RandomNetwork out;
  const int links = *rc::gen::inRange(1, most_links + 1);
  for (int i = 0; i < links; ++i) {
    out.links.push_back({.capacity = BytesPerSecond(*rc::gen::inRange(1, 21)),
                         .latency = Seconds(*rc::gen::inRange(0, 4) * 0.25)});
  }
  const int flows = *rc::gen::inRange(1, most_flows + 1);
  for (int i = 0; i < flows; ++i) {
    std::vector<LinkId> route;
    const int hops = *rc::gen::inRange(1, 5);
    for (int h = 0; h < hops; ++h) {
      const auto link = static_cast<LinkId>(*rc::gen::inRange(0, links));
      if (std::find(route.begin(), route.end(), link) == route.end()) route.push_back(link);
    }
    out.routes.push_back(route);
  }
  for (const auto& route : out.routes) {
    Demand demand{.route = route};
    if (!plain) demand.weight = *rc::gen::inRange(1, 5);
    if (!plain && *rc::gen::inRange(0, 3) == 0) {
      demand.bound = BytesPerSecond(*rc::gen::inRange(1, 11) * 0.5);
    }
    out.demands.push_back(demand);
  }
  return out;
}

// Each flow is at its bound, or crosses a full link on which none has a higher level; no link
// carries more than it can.
void expect_fair(const RandomNetwork& network, const std::vector<BytesPerSecond>& rates) {
  std::vector<double> used(network.links.size());
  for (std::size_t f = 0; f < rates.size(); ++f) {
    for (const LinkId link : network.routes[f]) used[link] += rates[f].value();
  }
  for (std::size_t l = 0; l < used.size(); ++l) {
    RC_ASSERT(used[l] <= network.links[l].capacity.value() * (1 + 1e-9));
  }
  const auto level = [&](std::size_t f) { return rates[f].value() / network.demands[f].weight; };
  for (std::size_t f = 0; f < rates.size(); ++f) {
    const double bound = network.demands[f].bound.value();
    RC_ASSERT(rates[f].value() <= bound * (1 + 1e-9));
    bool held = rates[f].value() >= bound * (1 - 1e-9);
    for (const LinkId link : network.routes[f]) {
      bool highest = used[link] >= network.links[link].capacity.value() * (1 - 1e-9);
      for (std::size_t g = 0; g < rates.size(); ++g) {
        const auto& route = network.routes[g];
        const bool there = std::find(route.begin(), route.end(), link) != route.end();
        if (there && level(g) > level(f) * (1 + 1e-9)) highest = false;
      }
      held = held || highest;
    }
    RC_ASSERT(held);
  }
}

RC_GTEST_PROP(Filling, EachFlowIsAtItsBoundOrHasABottleneck, ()) {
  const RandomNetwork network = random_network(8, 16);
  expect_fair(network, shared_rates(network.capacities(), network.demands));
}

// Flows that enter and leave, some at once: the rates found anew where they move are those of all
// flows that are there, filled from nothing; what did not change is not called changed.
RC_GTEST_PROP(Filling, RatesFoundWhereTheyMoveAreThoseFoundForAll, ()) {
  RandomNetwork network = random_network(40, 60);
  for (Demand& demand : network.demands) {  // levels that are no whole numbers
    demand.weight += *rc::gen::inRange(0, 1000) * 1e-3;
  }
  Filling filling(network.links);
  std::map<std::size_t, Filling::FlowId> there;
  std::map<Filling::FlowId, double> known;
  for (int turn = 0; turn < 40; ++turn) {
    const int moves = *rc::gen::inRange(1, 6);
    for (int move = 0; move < moves; ++move) {
      const auto f =
          static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(network.demands.size())));
      if (const auto at = there.find(f); at != there.end()) {
        filling.leave(at->second);
        known.erase(at->second);
        there.erase(at);
      } else {
        const Filling::FlowId flow = filling.add(network.demands[f]);
        there[f] = flow;
        if (filling.enter(flow)) known[flow] = filling.rate(flow);
      }
    }
    filling.settle();
    for (const Filling::FlowId flow : filling.changed()) known[flow] = filling.rate(flow);
    std::vector<Demand> demands;
    for (const auto& [f, flow] : there) demands.push_back(network.demands[f]);
    const auto all = shared_rates(network.capacities(), demands);
    std::size_t i = 0;
    for (const auto& [f, flow] : there) {
      RC_ASSERT(std::abs(filling.rate(flow) / all[i].value() - 1) < 1e-10);
      RC_ASSERT(known.at(flow) == filling.rate(flow));
      ++i;
    }
  }
}

// [SIM-11] Rates that are found anew for a few flows are those found for all: at each moment the
// flows under way have the one fair allocation; and each moves its bytes.
RC_GTEST_PROP(Traffic, RatesAreFairAtEveryMomentAndMoveAllBytes, ()) {
  const RandomNetwork network = random_network(12, 30);
  Traffic traffic(network.links);
  std::vector<RateChange> changes;
  traffic.record(&changes);
  std::vector<double> bytes, start, crossing;
  for (std::size_t f = 0; f < network.demands.size(); ++f) {
    bytes.push_back(*rc::gen::inRange(0, 40));
    start.push_back(*rc::gen::inRange(0, 8) * 0.5);
    crossing.push_back(start[f]);
    for (const LinkId link : network.routes[f]) crossing[f] += network.links[link].latency.value();
    traffic.add({network.demands[f], Bytes(bytes[f]), Seconds(start[f]), Seconds(0), f});
  }
  std::vector<double> end(bytes.size(), -1);
  for (;;) {
    const auto ended = traffic.advance();
    if (ended.empty()) break;
    for (const auto f : ended) end[f] = traffic.now().value();
  }
  std::vector<double> moments = crossing;
  moments.insert(moments.end(), end.begin(), end.end());
  std::sort(moments.begin(), moments.end());
  std::vector<double> moved(bytes.size());
  for (std::size_t m = 0; m + 1 < moments.size(); ++m) {
    const double length = moments[m + 1] - moments[m];
    if (length < 1e-9) continue;
    const double middle = moments[m] + length / 2;
    std::vector<double> rate(bytes.size());
    for (const RateChange& change : changes) {
      if (change.at.value() < middle) rate[change.tag] = change.rate.value();
    }
    RandomNetwork under_way;
    under_way.links = network.links;
    std::vector<BytesPerSecond> rates;
    for (std::size_t f = 0; f < bytes.size(); ++f) {
      if (crossing[f] > middle || end[f] < middle) continue;
      under_way.routes.push_back(network.routes[f]);
      under_way.demands.push_back(network.demands[f]);
      rates.emplace_back(rate[f]);
      moved[f] += rate[f] * length;
    }
    expect_fair(under_way, rates);
  }
  for (std::size_t f = 0; f < bytes.size(); ++f) {
    RC_ASSERT(end[f] >= crossing[f] - 1e-9);
    RC_ASSERT(std::abs(moved[f] - bytes[f]) < 1e-6);
  }
}

NetworkQuestion asked(const std::string& text) {
  const auto document = parse_toml(text, "n.toml");
  EXPECT_TRUE(document.ok());
  const auto question = read_network(*document);
  if (question.ok()) return *question;
  for (const Problem& problem : question.problems()) {
    ADD_FAILURE() << where_text(problem) << ": " << problem.message;
  }
  return {};
}

std::vector<std::string> refused(const std::string& text) {
  const auto document = parse_toml(text, "n.toml");
  EXPECT_TRUE(document.ok());
  const auto question = read_network(*document);
  std::vector<std::string> out;
  if (question.ok()) return out;
  for (const Problem& each : question.problems())
    out.push_back(where_text(each) + ": " + each.message);
  return out;
}

constexpr const char* kTwoLinks = R"(
[[links]]
name = "up"
capacity = "10 GB/s"
latency = "1 s"
from = "host"
to = "leaf"
[[links]]
name = "down"
capacity = "4 GB/s"
from = "leaf"
to = "other"
)";

// By hand: first crosses both (4 GB/s) from 1 s on and shares `up` with nothing; second comes after
// it and has 10 GB/s.
TEST(SimulateNetwork, StartsAFlowWhenThoseBeforeItHaveEnded) {
  const auto simulated = simulate_network(asked(std::string(kTwoLinks) + R"(
[[flows]]
name = "first"
bytes = "8 GB"
from = "host"
to = "other"
[[flows]]
name = "second"
bytes = "20 GB"
route = ["up"]
after = ["first"]
)"));
  EXPECT_DOUBLE_EQ(simulated.flows[0].end.value(), 1 + 2);
  EXPECT_DOUBLE_EQ(simulated.flows[1].start.value(), 3);
  EXPECT_DOUBLE_EQ(simulated.flows[1].end.value(), 3 + 1 + 2);
  ASSERT_EQ(simulated.flows[1].rates.size(), 1U);
  EXPECT_DOUBLE_EQ(simulated.flows[1].rates[0].at.value(), 4);
  EXPECT_DOUBLE_EQ(simulated.flows[1].rates[0].rate.value(), 10e9);
  EXPECT_DOUBLE_EQ(simulated.carried[0].value(), 28e9);
  EXPECT_DOUBLE_EQ(simulated.end.value(), 6);
}

// By hand: 5 GB/s each until the shorter is done at 2 s, then 10 GB/s for the 10 GB that are left.
TEST(SimulateNetwork, GivesWhatAFlowLeavesToTheOthers) {
  const auto simulated = simulate_network(asked(R"(
links = [{name = "a", capacity = "10 GB/s"}]
flows = [{name = "long", bytes = "20 GB", route = ["a"]}, {name = "short", bytes = "10 GB", route = ["a"]}]
)"));
  EXPECT_DOUBLE_EQ(simulated.flows[1].end.value(), 2);
  EXPECT_DOUBLE_EQ(simulated.flows[0].end.value(), 3);
  ASSERT_EQ(simulated.flows[0].rates.size(), 2U);
  EXPECT_DOUBLE_EQ(simulated.flows[0].rates[0].rate.value(), 5e9);
  EXPECT_DOUBLE_EQ(simulated.flows[0].rates[1].rate.value(), 10e9);
}

TEST(SimulateNetwork, SaysAllThatIsWrongWithAFile) {
  const auto problems = refused(std::string(kTwoLinks) + R"(
[[flows]]
name = "a"
bytes = "-1 GB"
route = ["up"]
after = ["b"]
[[flows]]
name = "b"
bytes = "1 GB"
route = ["down", "up"]
after = ["a"]
[[flows]]
name = "c"
bytes = "1 GB"
from = "other"
to = "host"
[[flows]]
name = "d"
bytes = "1 GB"
route = ["sideways"]
start = "-1 s"
)");
  const auto said = [&](const std::string& part) {
    return std::any_of(problems.begin(), problems.end(), [&](const std::string& each) {
      return each.find(part) != std::string::npos;
    });
  };
  EXPECT_EQ(problems.size(), 6U) << testing::PrintToString(problems);
  EXPECT_TRUE(said("must be greater than zero"));
  EXPECT_TRUE(said("is disconnected: 'down' ends at 'other', 'up' begins at 'host'"));
  EXPECT_TRUE(said("is disconnected: no links lead from 'other' to 'host'"));
  EXPECT_TRUE(said("'sideways' is no link"));
  EXPECT_TRUE(said("must not be negative"));
  EXPECT_TRUE(said("wait for each other and never start: a -> b -> a"));
}

}  // namespace
}  // namespace headway::network
