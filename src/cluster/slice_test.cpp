#include "cluster/slice.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

// Nodes of 8, rails of 32 nodes, 1,024 in all.
Cluster machine() {
  Cluster out;
  out.name = "mine";
  for (const auto& [name, size] : {std::pair("node", 8), {"rail", 256}, {"spine", 1024}}) {
    Level level;
    level.name = name;
    level.size = size;
    out.levels.push_back(level);
  }
  return out;
}

TEST(Slice, GivesSoManyOfEachDomainWhateverTheSizeOfTheRun) {
  Cluster cluster = machine();
  ASSERT_FALSE(set_slices("node=4", cluster));
  // Four of each node: a rail of 32 nodes holds 128, a spine of four rails 512.
  EXPECT_EQ(domains_in_use(cluster, 256)[0], 4);
  EXPECT_EQ(domains_in_use(cluster, 256)[1], 128);
  EXPECT_EQ(domains_in_use(cluster, 8)[0], 4);  // two nodes, where one would do
  cluster = machine();
  ASSERT_FALSE(set_slices("node=8,rail=64", cluster));  // four racks of eight nodes
  EXPECT_EQ(domains_in_use(cluster, 256)[0], 8);
  EXPECT_EQ(domains_in_use(cluster, 256)[1], 64);
}

TEST(Slice, SaysWhatOfTheTextIsWrongAndLeavesTheClusterAlone) {
  for (const char* wrong : {"", "tray=4", "node", "node=", "node=0", "node=9", "node=four", ",",
                            "node=4,rail=6", "node=99999999999999999999"}) {
    Cluster cluster = machine();
    const auto problem = set_slices(wrong, cluster);
    EXPECT_TRUE(problem) << wrong;
    EXPECT_EQ(cluster.levels[0].slice, 0) << wrong;
  }
  Cluster cluster = machine();
  EXPECT_EQ(set_slices("tray=4", cluster).value(),
            "'tray=4' is no LEVEL=N of mine; legal: node=1..8, rail=1..256, spine=1..1024");
}

TEST(Slice, RefusesARunThatDoesNotFillItsSlices) {
  Cluster cluster = machine();
  ASSERT_FALSE(set_slices("node=4", cluster));
  EXPECT_FALSE(unfilled_slice(cluster, 64));
  EXPECT_FALSE(unfilled_slice(cluster, 512));
  EXPECT_TRUE(unfilled_slice(cluster, 6));     // of fours
  EXPECT_TRUE(unfilled_slice(cluster, 1024));  // 4 of 8 leave 512
}

}  // namespace
}  // namespace headway
