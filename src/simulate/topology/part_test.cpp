// Some ranks of a topology among themselves.
#include "simulate/topology/part.hpp"

#include <gtest/gtest.h>

#include "simulate/collectives/collective.hpp"
#include "simulate/topology/read.hpp"

namespace headway::network {
namespace {

Topology topology(const char* text) {
  return read_topology(text, 0, 0, {{BytesPerSecond(1e9), BytesPerSecond(1e8)}, {Seconds(0)}})
      .value();
}

// Two nodes of 4: within one the inner rate, across the outer; two of each are domains of two.
TEST(PartOfATopology, IsItsRanksWithTheLinksBetweenThem) {
  const Topology on = topology("switches:4x2");
  const auto ring_of = [&](std::vector<NodeId> members) {
    const Topology part = part_of(on, members);
    EXPECT_EQ(part.ranks, members.size());
    return simulate_collective({Collective::all_reduce, Bytes(8e6)}, part,
                               {.algorithm = "ring", .every_rank = true});
  };
  // 2 (n - 1)/n · S/b.
  EXPECT_NEAR(ring_of({0, 1, 2, 3})->time.value(), 1.5 * 8e-3, 1e-9);
  EXPECT_NEAR(ring_of({1, 5})->time.value(), 8e-2, 1e-9);
}

TEST(PartOfATopology, KnowsItsDomains) {
  const Topology on = topology("rails:2x4");
  const std::vector<NodeId> two = {0, 1, 4, 5}, uneven = {0, 1, 4}, inside = {0, 1};
  EXPECT_EQ(part_of(on, two).group, 2U);
  EXPECT_EQ(part_of(on, uneven).group, 0U);
  EXPECT_EQ(part_of(on, inside).group, 0U);
}

// All of a torus is the torus; a part of it has no sizes, and goes through the ranks between.
TEST(PartOfATopology, OfAGridGoesThroughTheOthers) {
  const Topology on = topology("torus:4x4");
  std::vector<NodeId> all(16);
  for (NodeId i = 0; i < 16; ++i) all[i] = i;
  EXPECT_EQ(part_of(on, all).sizes, on.sizes);
  const std::vector<NodeId> apart = {0, 2};
  const Topology part = part_of(on, apart);
  EXPECT_TRUE(part.sizes.empty());
  std::vector<LinkId> route;
  ASSERT_TRUE(part.route(0, 1, route));
  EXPECT_EQ(route.size(), 2U);
  EXPECT_EQ(part.links[route.front()].from, 0U);
  EXPECT_EQ(part.links[route.back()].to, 1U);
  EXPECT_GE(part.links[route.front()].to, 2U);
}

}  // namespace
}  // namespace headway::network
