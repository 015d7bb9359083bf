#include "layout/placement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cluster/load.hpp"
#include "layout/cluster_of_for_test.hpp"

namespace headway {
namespace {

// The definition, by enumeration: for every group of the run, how its ranks fall into domains of
// `domain` ranks. Fewest and most members that a touched domain holds, and most domains touched.
struct Counted {
  std::int64_t fewest = 1'000'000;
  std::int64_t most = 0;
  std::int64_t most_domains = 0;
};
Counted count(std::int64_t ranks, std::int64_t stride, std::int64_t total, std::int64_t domain) {
  Counted out;
  const std::int64_t block = ranks * stride;
  for (std::int64_t start = 0; start + block <= total; start += block) {
    for (std::int64_t offset = 0; offset < stride; ++offset) {
      std::vector<std::int64_t> members(static_cast<std::size_t>(total / domain + 1), 0);
      for (std::int64_t k = 0; k < ranks; ++k) {
        ++members[static_cast<std::size_t>((start + offset + k * stride) / domain)];
      }
      std::int64_t touched = 0;
      for (const std::int64_t m : members) {
        if (m == 0) continue;
        ++touched;
        out.fewest = std::min(out.fewest, m);
        out.most = std::max(out.most, m);
      }
      out.most_domains = std::max(out.most_domains, touched);
    }
  }
  return out;
}

TEST(Placement, TensorParallelGroupLiesInOneNode) {
  const Cluster cluster = cluster_of({8, 1024});
  const GroupSpan span = span_of(8, 1, 512, cluster);
  EXPECT_EQ(span.members[0], 8);
  EXPECT_EQ(span.members[1], 8);
  EXPECT_EQ(crossed_level(span, cluster), 0);
}

TEST(Placement, DataParallelOutsideTensorParallelHasOneMemberANodeAndEightShareItsLinks) {
  const Cluster cluster = cluster_of({8, 1024});
  const GroupSpan span = span_of(64, 8, 512, cluster);
  EXPECT_EQ(span.members[0], 1);
  EXPECT_EQ(span.members[1], 64);
  EXPECT_EQ(span.sharing[0], 8);
  EXPECT_EQ(crossed_level(span, cluster), 1);
}

TEST(Placement, DataParallelOutsideTensorParallelOfTwoHasFourMembersANode) {
  const GroupSpan span = span_of(64, 2, 128, cluster_of({8, 1024}));
  EXPECT_EQ(span.members[0], 4);
  EXPECT_EQ(span.members[1], 64);
}

TEST(Placement, PipelineAcrossThreeLevels) {
  // 2 in a package, 8 in a node, 4 stages that are 4 ranks apart: two stages a node.
  const GroupSpan span = span_of(4, 4, 64, cluster_of({2, 8, 1024}));
  EXPECT_EQ(span.members[0], 1);
  EXPECT_EQ(span.members[1], 2);
  EXPECT_EQ(span.members[2], 4);
}

TEST(Placement, TensorParallelSixteenOverEightsHalvesItself) {
  const GroupSpan span = span_of(16, 1, 64, cluster_of({8, 1024}));
  EXPECT_EQ(span.members[0], 8);
  EXPECT_EQ(span.members[1], 16);
}

TEST(Placement, SixteenInRacksOfSeventyTwoCrossTheRackForSomeGroups) {
  // Ranks 64 to 79: eight in the first rack, eight in the second.
  const GroupSpan span = span_of(16, 1, 144, cluster_of({72, 72 * 16}));
  EXPECT_EQ(span.members[0], 8);
}

TEST(Placement, RacksOfSeventyTwoGiveSixtyFourToRunsOfPowersOfTwo) {
  const auto cluster = load_cluster("gb200-nvl72");
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(span_of(16, 1, 256, *cluster).members[0], 16);
  EXPECT_EQ(span_of(64, 1, 256, *cluster).members[0], 64);
  EXPECT_EQ(span_of(256, 1, 256, *cluster).members[0], 64);
  EXPECT_EQ(span_of(256, 1, 256, *cluster).sharing[0], 64);
  // A run that fits in one rack, and one that only divides by 72.
  EXPECT_EQ(span_of(72, 1, 72, *cluster).members[0], 72);
  EXPECT_EQ(span_of(1440, 1, 1440, *cluster).members[0], 72);
  EXPECT_EQ(span_of(1440, 1, 1440, *cluster).sharing[0], 72);
}

TEST(Placement, DomainsFurtherOutShrinkWithTheUsableOnes) {
  Cluster cluster = cluster_of({72, 72 * 8, 72 * 64});
  cluster.levels[0].usable = 64;
  const auto domains = domains_in_use(cluster, 1024);
  EXPECT_EQ(domains[0], 64);
  EXPECT_EQ(domains[1], 64 * 8);
  EXPECT_EQ(domains[2], 64 * 64);
  // 4,608 accelerators are all there are: 64 divides that, but 64 racks of 64 do not hold it.
  EXPECT_EQ(domains_in_use(cluster, 72 * 64)[0], 72);
}

TEST(Placement, ARunOverPodsTakesAnEqualSliceOfEach) {
  // PaLM 540B: 6,144 chips in two pods of 3,072, each with a whole copy of the model that 12-way
  // model and 256-way sharded data parallelism hold (arXiv 2204.02311, section 4).
  const auto cluster = load_cluster("tpu-v4");  // pods of 4,096
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(domains_in_use(*cluster, 6144)[0], 3072);
  EXPECT_EQ(span_of(3072, 1, 6144, *cluster).members[0], 3072);
  EXPECT_EQ(span_of(256, 12, 6144, *cluster).members[0], 256);    // the shards
  EXPECT_EQ(span_of(2, 12 * 256, 6144, *cluster).members[0], 1);  // the copies
  EXPECT_EQ(span_of(512, 12, 6144, *cluster).members[0], 256);    // all of data parallelism
  EXPECT_EQ(span_of(12, 1, 6144, *cluster).members[0], 12);
  EXPECT_EQ(span_of(256, 12, 6144, *cluster).sharing[0], 3072);
  // What fills its pods, or fits in one, is as before.
  EXPECT_EQ(domains_in_use(*cluster, 8192)[0], 4096);
  EXPECT_EQ(domains_in_use(*cluster, 3072)[0], 4096);
}

TEST(Placement, SlicesAreEqualAtEveryLevelAndOfWholeDomainsInside) {
  const Cluster nodes = cluster_of({8, 1024});
  EXPECT_EQ(domains_in_use(nodes, 12)[0], 6);
  EXPECT_EQ(domains_in_use(nodes, 21)[0], 7);
  EXPECT_EQ(domains_in_use(nodes, 24)[0], 8);
  // 20 ranks need three nodes, which cannot have as many each: two are full, one has four.
  EXPECT_EQ(domains_in_use(nodes, 20)[0], 8);
  // Six racks of 8 nodes: 96 ranks are 2 x 6 nodes of 8; 320 are 5 racks of 64; 328 are 41 nodes.
  const Cluster racks = cluster_of({8, 64, 384});
  EXPECT_EQ(domains_in_use(racks, 96)[1], 48);
  EXPECT_EQ(domains_in_use(racks, 320)[1], 64);
  EXPECT_EQ(domains_in_use(racks, 328)[1], 64);
  // 68 ranks would be 2 x 34, which are no whole nodes.
  EXPECT_EQ(domains_in_use(racks, 68)[1], 64);
  // Two racks of which the scheduler takes 64 where that divides, else equal slices.
  const auto gb200 = load_cluster("gb200-nvl72");
  ASSERT_TRUE(gb200.ok());
  EXPECT_EQ(domains_in_use(*gb200, 128)[0], 64);
  EXPECT_EQ(domains_in_use(*gb200, 96)[0], 48);
  EXPECT_EQ(domains_in_use(*gb200, 144)[0], 72);
}

TEST(Placement, RunsSmallerThanADomainAreWhollyInIt) {
  const GroupSpan span = span_of(3, 1, 6, cluster_of({8, 1024}));
  EXPECT_EQ(span.members[0], 3);
  EXPECT_EQ(span.sharing[0], 6);
}

TEST(Placement, PairsThreeApartCrossANodeOfEightForSomeGroup) {
  // Ranks 6 and 9 form a group: it must not be taken to lie within a node.
  EXPECT_EQ(span_of(2, 3, 48, cluster_of({8, 1024})).members[0], 1);
}

TEST(Placement, NonsenseIsTreatedAsOne) {
  const Cluster cluster = cluster_of({8, 1024});
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-5}, INT64_MIN}) {
    const GroupSpan span = span_of(bad, bad, bad, cluster);
    EXPECT_EQ(span.ranks, 1);
    EXPECT_EQ(span.members[0], 1);
  }
  const GroupSpan huge = span_of(INT64_MAX, INT64_MAX, INT64_MAX, cluster);
  EXPECT_EQ(huge.members[0], 1);
  EXPECT_EQ(huge.members[1], INT64_MAX);
  EXPECT_EQ(span_of(INT64_MAX, 3, INT64_MAX, cluster).members[1], INT64_MAX);
  EXPECT_EQ(crossed_level(span_of(4, 1, 4, Cluster()), Cluster()), 0);
}

// A cluster whose sizes grow by small factors, with awkward ones among them.
Cluster any_cluster() {
  const auto factors =
      *rc::gen::resize(4, rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
                              rc::gen::element<std::int64_t>(2, 3, 4, 5, 8, 9))));
  std::vector<std::int64_t> sizes{factors.front()};
  for (std::size_t i = 1; i < factors.size() && i < kMostLevels; ++i) {
    sizes.push_back(sizes.back() * factors[i]);
  }
  return cluster_of(sizes);
}

RC_GTEST_PROP(Placement, MembersGrowOutwardsByWholeFactorsUpToTheGroup, ()) {
  const Cluster cluster = any_cluster();
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto stride = *rc::gen::inRange<std::int64_t>(1, 100);
  const auto blocks = *rc::gen::inRange<std::int64_t>(1, 5);
  const std::int64_t total = ranks * stride * blocks;
  const GroupSpan span = span_of(ranks, stride, total, cluster);
  std::int64_t inside = 1;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    RC_ASSERT(span.members[i] >= 1);
    RC_ASSERT(span.members[i] % inside == 0);
    RC_ASSERT(ranks % span.members[i] == 0);
    RC_ASSERT(span.sharing[i] <= std::min(cluster.levels[i].size, total));
    const bool outermost = i + 1 == cluster.levels.size();
    if (!outermost) {
      RC_ASSERT(span.members[i] <= cluster.levels[i].size);
      RC_ASSERT(span.members[i] <= span.sharing[i]);
    }
    inside = span.members[i];
  }
  RC_ASSERT(span.members[cluster.levels.size() - 1] == ranks);
}

// By trying all numbers of domains: the fewest that hold the run, each with the same number of
// whole domains of the level inside, where those are enough without that condition too.
RC_GTEST_PROP(Placement, TheFewestDomainsShareARunEquallyWhereTheyCan, ()) {
  const Cluster cluster = any_cluster();
  const std::int64_t machine = cluster.levels.back().size;
  const auto total = *rc::gen::inRange<std::int64_t>(1, machine + 1);
  const auto domains = domains_in_use(cluster, total);
  std::int64_t inside = 1, size_inside = 1;
  for (std::size_t i = 0; i + 1 < cluster.levels.size(); ++i) {
    const std::int64_t room = cluster.levels[i].size / size_inside * inside;
    std::int64_t fewest = 1;
    while (fewest * room < total) ++fewest;
    const bool equal = fewest > 1 && total % fewest == 0 && total / fewest % inside == 0;
    RC_ASSERT(domains[i] == (equal ? total / fewest : room));
    RC_CLASSIFY(equal && domains[i] < room);
    inside = domains[i];
    size_inside = cluster.levels[i].size;
  }
  // The machine has enough of them.
  RC_ASSERT(machine / size_inside * inside >= total);
}

// Such a run loses nothing against a machine whose domains are as large as the slices.
RC_GTEST_PROP(Placement, EqualSlicesAreLikeDomainsOfThatSize, ()) {
  const auto slice = *rc::gen::inRange<std::int64_t>(2, 100);
  const auto slices = *rc::gen::inRange<std::int64_t>(2, 6);
  const auto spare = *rc::gen::inRange<std::int64_t>(1, 100);
  // One slice fewer must not do.
  RC_PRE((slices - 1) * (slice + spare) < slices * slice);
  const std::int64_t total = slices * slice;
  const auto divisor_of = [](std::int64_t number) {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 1; d <= number; ++d) {
      if (number % d == 0) all.push_back(d);
    }
    return *rc::gen::elementOf(all);
  };
  const std::int64_t ranks = divisor_of(total), stride = divisor_of(total / ranks);
  const auto larger = cluster_of({slice + spare, (slice + spare) * 10});
  const auto exact = cluster_of({slice, slice * 10});
  const GroupSpan span = span_of(ranks, stride, total, larger);
  RC_ASSERT(span.members == span_of(ranks, stride, total, exact).members);
  RC_ASSERT(span.sharing[0] == slice);
  // A group of neighbours that divides the slice lies within it.
  if (stride == 1 && slice % ranks == 0) RC_ASSERT(span.members[0] == ranks);
}

RC_GTEST_PROP(Placement, NoGroupTouchesMoreDomainsThanTheSpanSays, ()) {
  const auto domain = *rc::gen::inRange<std::int64_t>(2, 30);
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 30);
  const auto stride = *rc::gen::inRange<std::int64_t>(1, 30);
  const auto blocks = *rc::gen::inRange<std::int64_t>(1, 12);
  const std::int64_t total = ranks * stride * blocks;
  const Cluster cluster = cluster_of({domain, domain * 100'000});
  const GroupSpan span = span_of(ranks, stride, total, cluster);
  const Counted counted = count(ranks, stride, total, domains_in_use(cluster, total)[0]);
  RC_ASSERT(ranks / span.members[0] >= counted.most_domains);
  RC_ASSERT(span.members[0] <= counted.most);
}

RC_GTEST_PROP(Placement, IsExactWhereEveryDomainHoldsTheSame, ()) {
  const auto domain = *rc::gen::element<std::int64_t>(2, 4, 6, 8, 16, 64, 72);
  const auto ranks = *rc::gen::element<std::int64_t>(1, 2, 3, 4, 6, 8, 16, 32);
  const auto stride = *rc::gen::element<std::int64_t>(1, 2, 3, 4, 8, 9, 16);
  const std::int64_t total = ranks * stride * domain;  // all alignments occur
  const Counted counted = count(ranks, stride, total, domain);
  RC_PRE(counted.fewest == counted.most);
  const GroupSpan span = span_of(ranks, stride, total, cluster_of({domain, domain * 100'000}));
  RC_ASSERT(span.members[0] == counted.most);
}

RC_GTEST_PROP(Placement, ALevelOfTheSameSizeTwiceSeesTheSame, ()) {
  const Cluster cluster = any_cluster();
  const auto at = *rc::gen::inRange<std::size_t>(0, cluster.levels.size());
  RC_PRE(cluster.levels.size() < static_cast<std::size_t>(kMostLevels));
  Cluster doubled = cluster;
  doubled.levels.insert(doubled.levels.begin() + static_cast<std::ptrdiff_t>(at),
                        cluster.levels[at]);
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 100);
  const auto stride = *rc::gen::inRange<std::int64_t>(1, 50);
  // Within the machine: beyond it the outermost level stands for all that is missing.
  const std::int64_t total = std::min(ranks * stride, cluster.levels.back().size);
  const GroupSpan once = span_of(ranks, stride, total, cluster);
  const GroupSpan twice = span_of(ranks, stride, total, doubled);
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const std::size_t there = i < at ? i : i + 1;
    RC_ASSERT(twice.members[there] == once.members[i]);
    RC_ASSERT(twice.sharing[there] == once.sharing[i]);
  }
  RC_ASSERT(twice.members[at] == twice.members[at + 1]);
  RC_ASSERT(twice.sharing[at] == twice.sharing[at + 1]);
}

RC_GTEST_PROP(Placement, ALargerInnerDomainNeverHoldsFewerOfADividingGroup, ()) {
  const auto small = *rc::gen::element<std::int64_t>(2, 4, 8, 16);
  const auto ranks = *rc::gen::element<std::int64_t>(1, 2, 4, 8, 16, 64);
  const auto stride = *rc::gen::element<std::int64_t>(1, 2, 4, 8, 16);
  const std::int64_t total = ranks * stride * 4;
  const auto a = span_of(ranks, stride, total, cluster_of({small, small * 4096}));
  const auto b = span_of(ranks, stride, total, cluster_of({small * 2, small * 4096}));
  RC_ASSERT(b.members[0] >= a.members[0]);
}

}  // namespace
}  // namespace headway
