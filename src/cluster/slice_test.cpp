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
  out.accelerators = 1024;
  return out;
}

TEST(Slice, GivesSoManyOfEachDomainWhateverTheSizeOfTheRun) {
  Cluster cluster = machine();
  ASSERT_FALSE(set_slices("node=4", 0, cluster));
  // Four of each node: a rail of 32 nodes holds 128, a spine of four rails 512.
  EXPECT_EQ(domains_in_use(cluster, 256)[0], 4);
  EXPECT_EQ(domains_in_use(cluster, 256)[1], 128);
  EXPECT_EQ(domains_in_use(cluster, 8)[0], 4);  // two nodes, where one would do
  cluster = machine();
  ASSERT_FALSE(set_slices("node=8,rail=64", 256, cluster));  // four rails of eight nodes
  EXPECT_EQ(domains_in_use(cluster, 256)[0], 8);
  EXPECT_EQ(domains_in_use(cluster, 256)[1], 64);
}

TEST(Slice, SaysWhatOfTheTextIsWrongAndLeavesTheClusterAlone) {
  for (const char* wrong : {"", "tray=4", "node", "node=", "node=0", "node=9", "node=four", ",",
                            "node=4,rail=6", "node=99999999999999999999"}) {
    Cluster cluster = machine();
    const auto problem = set_slices(wrong, 0, cluster);
    EXPECT_TRUE(problem) << wrong;
    EXPECT_EQ(cluster.levels[0].size, 8) << wrong;
    EXPECT_EQ(cluster.accelerators, 1024) << wrong;
  }
  Cluster cluster = machine();
  EXPECT_EQ(set_slices("tray=4", 0, cluster).value(),
            "'tray=4' is no LEVEL=N of mine; legal: node=1..8, rail=1..256, spine=1..1024");
}

// An NVL72's innermost domain is a rack, whatever the file calls it.
TEST(Slice, UnderstandsWhatALevelIsCalled) {
  Cluster cluster = machine(), named = machine();
  cluster.levels[0].network = named.levels[0].network = "nvlink5-nvl72";
  ASSERT_FALSE(set_slices("rack=4", 256, cluster));
  ASSERT_FALSE(set_slices("node=4", 256, named));
  EXPECT_EQ(cluster.levels[0].size, 4);
  EXPECT_EQ(cluster.accelerators, named.accelerators);
  EXPECT_EQ(set_slices("cube=4", 0, cluster).value(),
            "'cube=4' is no LEVEL=N of mine; legal: node or rack=1..4, rail=1..128, spine=1..512");
  Cluster other = machine();
  EXPECT_TRUE(set_slices("rack=4", 0, other));
}

// Four of each node leave 128 of a rail and 512 in all.
TEST(Slice, RefusesARunThatDoesNotFillItsSlices) {
  const auto refused = [](const char* slices, std::int64_t ranks) {
    Cluster cluster = machine();
    return set_slices(slices, ranks, cluster).has_value();
  };
  EXPECT_FALSE(refused("node=4", 64));
  EXPECT_FALSE(refused("node=4", 512));
  EXPECT_TRUE(refused("node=4", 6));     // of fours
  EXPECT_TRUE(refused("node=4", 1024));  // 4 of 8 leave 512
  EXPECT_FALSE(refused("node=4,rail=128", 256));
  EXPECT_TRUE(refused("node=4,rail=256", 256));
}

// What reads the sizes of levels by themselves, as launchers and hybrid sharding do, reads what
// was given.
TEST(Slice, LeavesACluster) {
  Cluster cluster = machine();
  cluster.levels[1].usable = 192;
  ASSERT_FALSE(set_slices("node=4", 256, cluster));
  EXPECT_EQ(cluster.levels[0].size, 4);
  EXPECT_EQ(cluster.levels[1].size, 128);
  EXPECT_EQ(cluster.levels[1].usable, 0);
  EXPECT_EQ(cluster.levels[2].size, 512);
  EXPECT_EQ(cluster.accelerators, 512);
}

}  // namespace
}  // namespace headway
