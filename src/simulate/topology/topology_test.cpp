// Generated topologies against counts and distances that are known of them.
#include "simulate/topology/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "simulate/network/filling.hpp"
#include "simulate/network/paths.hpp"
#include "simulate/topology/file.hpp"
#include "simulate/topology/read.hpp"

namespace headway::network {
namespace {

const Speeds kSpeeds{{BytesPerSecond(50e9)}, {Seconds(1e-6)}};

Topology made(const std::string& text, std::uint32_t ranks = 0) {
  auto read = read_topology(text, ranks, 0, kSpeeds);
  EXPECT_TRUE(read.ok()) << text;
  return std::move(read).value();
}

std::vector<LinkId> way(const Topology& on, NodeId from, NodeId to) {
  std::vector<LinkId> out;
  EXPECT_TRUE(on.route(from, to, out));
  return out;
}

// [SIM-12] Each way leads from its first rank to its last, link by link, and is as short as any.
TEST(Topology, RoutesJoinTheirEndsAndAreShortest) {
  for (const Topology& on :
       {made("switch", 5), made("full", 5), made("torus:4x3x2"), made("mesh:3x4"),
        made("fat-tree:3x4:2"), made("clos:4"), made("rails:3x4"), made("dragonfly:2x3x1"),
        made("sites:3x2"), made("cubes:4x4x4"), made("cubes:2x2x4"), made("switches:3x4")}) {
    NodeId nodes = 0;
    for (const Link& link : on.links) nodes = std::max({nodes, link.from + 1, link.to + 1});
    Paths paths(on.links, nodes);
    for (NodeId from = 0; from < on.ranks; ++from) {
      for (NodeId to = 0; to < on.ranks; ++to) {
        if (from == to) continue;
        NodeId at = from;
        for (const LinkId link : way(on, from, to)) {
          EXPECT_EQ(on.links[link].from, at) << on.name;
          at = on.links[link].to;
        }
        EXPECT_EQ(at, to) << on.name;
        std::vector<LinkId> shortest;
        ASSERT_TRUE(paths.route(from, to, shortest));
        // Across rails the way over the node is one of several of the same length.
        EXPECT_EQ(way(on, from, to).size(), shortest.size()) << on.name << from << " " << to;
      }
    }
  }
}

// Both ways each: 2d links a rank of a torus, one where a side is two; k^3/4 hosts and three levels
// of k^3/4 links of a tree of switches of k ports; g(g-1)/2 between g groups.
TEST(Topology, HaveAsManyLinksAsIsKnown) {
  EXPECT_EQ(made("torus:4x4x4").links.size(), 64U * 6);
  EXPECT_EQ(made("torus:4x2x3").links.size(), 24U * (2 + 1 + 2));
  EXPECT_EQ(made("mesh:5x5").links.size(), 2U * 2 * 4 * 5);
  EXPECT_EQ(made("cubes:4x4x2").links.size(), made("mesh:4x4x2").links.size());
  EXPECT_EQ(made("cubes:4x8x4").links.size(), made("torus:4x8x4").links.size());
  EXPECT_EQ(made("clos:8").ranks, 8U * 8 * 8 / 4);
  EXPECT_EQ(made("clos:8").links.size(), 2U * 3 * 8 * 8 * 8 / 4);
  const Topology dragonfly = made("dragonfly:2x4x2");
  EXPECT_EQ(dragonfly.ranks, 9U * 4 * 2);
  EXPECT_EQ(dragonfly.links.size(), 2U * (72 + 9 * 4 * 3 / 2 + 9 * 8 / 2));
}

// The ring of a grid with an even side, or a torus, steps from neighbour to neighbour.
TEST(Topology, RingsOfGridsStepToNeighbours) {
  for (const Topology& on : {made("torus:8x8"), made("mesh:4x5"), made("mesh:5x4"),
                             made("torus:3x3x4"), made("mesh:2x2"), made("torus:8")}) {
    ASSERT_EQ(on.ring.size(), on.ranks);
    for (std::uint32_t i = 0; i < on.ranks; ++i) {
      EXPECT_EQ(way(on, on.ring[i], on.ring[(i + 1) % on.ranks]).size(), 1U) << on.name << " " << i;
    }
  }
}

std::vector<double> rates(const Topology& on, const std::vector<std::pair<NodeId, NodeId>>& flows) {
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : on.links) capacities.push_back(link.capacity);
  std::vector<std::vector<LinkId>> routes;
  for (const auto& [from, to] : flows) routes.push_back(way(on, from, to));
  std::vector<Demand> demands;
  for (const auto& route : routes) demands.push_back({.route = route});
  std::vector<double> out;
  for (const BytesPerSecond each : shared_rates(capacities, demands)) out.push_back(each.value());
  return out;
}

// Four flows across leaves over two uplinks, two on each: half of a port each. With a hash they
// fall as it has it: the slowest has the uplink's bandwidth by the largest load.
TEST(Topology, UplinksAreSharedByTheFlowsHashedOnThem) {
  bool even = false, uneven = false;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    for (const std::uint32_t uplinks : {2U, 4U}) {
      const Topology on = leaf_spine(2, 4, uplinks, seed, kSpeeds);
      std::vector<std::pair<NodeId, NodeId>> flows;
      std::map<LinkId, int> load;
      int most = 0;
      for (NodeId r = 0; r < 4; ++r) {
        flows.emplace_back(r, 4 + r);
        for (const LinkId link : way(on, r, 4 + r)) most = std::max(most, ++load[link]);
      }
      const auto found = rates(on, flows);
      const double slowest = *std::min_element(found.begin(), found.end());
      EXPECT_NEAR(slowest, 50e9 / most, 1);
      if (uplinks == 2 && most == 2) {
        even = true;
        for (const double rate : found) EXPECT_NEAR(rate, 25e9, 1);
      }
      if (uplinks == 4 && most == 2 && load.size() == 8 + 6) uneven = true;  // loads 2, 1, 1, 0
    }
  }
  EXPECT_TRUE(even);
  EXPECT_TRUE(uneven);
}

TEST(Topology, FilesAreReadAndDisconnectedOnesRefused) {
  const std::string text = R"(
ranks = ["a", "b"]
links = [{name = "x", capacity = "1 GB/s", from = "a", to = "s"},
         {name = "y", capacity = "1 GB/s", from = "s", to = "b")";
  const auto joined = read_topology_file(
      *parse_toml(text + "},{name = 'z', capacity = '1 GB/s', from = 'b', to = 'a'}]", "t.toml"));
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(way(*joined, 0, 1).size(), 2U);
  const auto refused = read_topology_file(*parse_toml(text + "}]", "t.toml"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.problems()[0].message.find("no links lead from 'b' to 'a'"), std::string::npos);
}

}  // namespace
}  // namespace headway::network
