#include "layout/layout.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "layout/cluster_of_for_test.hpp"

namespace headway {
namespace {

std::vector<std::int64_t> chunk_layers(std::int64_t layers, const Layout& layout) {
  std::vector<std::int64_t> out;
  for (std::int64_t chunk = 0; chunk < layout.pp * layout.vpp; ++chunk) {
    out.push_back(chunk_begin(layers, layout, chunk + 1) - chunk_begin(layers, layout, chunk));
  }
  return out;
}

RC_GTEST_PROP(ChunkBegin, EveryLayerStandsInOneChunkAndChunksDifferByAtMostOne, ()) {
  Layout layout;
  layout.pp = *rc::gen::inRange(1, 40);
  layout.vpp = layout.pp > 1 ? *rc::gen::inRange(1, 6) : 1;
  const std::int64_t layers = layout.pp * layout.vpp + *rc::gen::inRange(0, 200);
  RC_ASSERT(chunk_begin(layers, layout, 0) == 0);
  RC_ASSERT(chunk_begin(layers, layout, layout.pp * layout.vpp) == layers);
  const std::vector<std::int64_t> chunks = chunk_layers(layers, layout);
  const auto [least, most] = std::minmax_element(chunks.begin(), chunks.end());
  RC_ASSERT(*least >= 1);
  RC_ASSERT(*most - *least <= 1);
  RC_ASSERT(std::is_sorted(chunks.rbegin(), chunks.rend()));  // earlier chunks hold one more
}

RC_GTEST_PROP(ChunkBegin, ExplicitEndsAreHeldAndTheRestIsSpreadEvenly, ()) {
  Layout layout;
  layout.pp = *rc::gen::inRange(2, 40);
  layout.first_stage_layers = *rc::gen::inRange(1, 10);
  layout.last_stage_layers = *rc::gen::inRange(1, 10);
  const std::int64_t others = layout.pp - 2;
  const std::int64_t rest = others == 0 ? 0 : others + *rc::gen::inRange(0, 100);
  const std::int64_t layers = layout.first_stage_layers + layout.last_stage_layers + rest;
  const std::vector<std::int64_t> chunks = chunk_layers(layers, layout);
  RC_ASSERT(chunks.front() == layout.first_stage_layers);
  RC_ASSERT(chunks.back() == layout.last_stage_layers);
  RC_ASSERT(std::accumulate(chunks.begin(), chunks.end(), std::int64_t{0}) == layers);
  if (others == 0) return;
  const auto [least, most] = std::minmax_element(chunks.begin() + 1, chunks.end() - 1);
  RC_ASSERT(*least >= 1);
  RC_ASSERT(*most - *least <= 1);
}

TEST(ChunkBegin, Llama405BHasOneLayerFewerAtEitherEnd) {  // arXiv 2407.21783 §3.3.2
  Layout layout;
  layout.pp = 16;
  layout.first_stage_layers = layout.last_stage_layers = 7;
  std::vector<std::int64_t> expected(16, 8);
  expected.front() = expected.back() = 7;
  EXPECT_EQ(chunk_layers(126, layout), expected);
}

TEST(MicroBatches, AreTheSequencesOfARankOverTheMicroBatch) {
  Job job;
  job.global_batch = 96;
  Layout layout;
  layout.dp = 4;
  layout.micro_batch = 3;
  layout.pp = 2;
  EXPECT_EQ(micro_batches(job, layout), 8);
}

TEST(Stride, IsTheProductOfTheDegreesInsideIt) {
  Layout layout;
  layout.tp = 2;
  layout.cp = 3;
  layout.dp = 5;
  layout.pp = 7;
  EXPECT_EQ(stride(layout, Dimension::tp), 1);
  EXPECT_EQ(stride(layout, Dimension::cp), 2);
  EXPECT_EQ(stride(layout, Dimension::dp), 6);
  EXPECT_EQ(stride(layout, Dimension::pp), 30);
  layout.order = {Dimension::pp, Dimension::dp, Dimension::tp, Dimension::cp};
  EXPECT_EQ(stride(layout, Dimension::pp), 1);
  EXPECT_EQ(stride(layout, Dimension::dp), 7);
  EXPECT_EQ(stride(layout, Dimension::tp), 35);
  EXPECT_EQ(stride(layout, Dimension::cp), 70);
}

using Ranks = std::vector<std::int64_t>;

std::int64_t coordinate(const Layout& layout, std::int64_t rank, Dimension dimension) {
  return rank / stride(layout, dimension) % degree(layout, dimension);
}

// The ranks that agree with rank 0 in every dimension but those given: its group.
Ranks group_of_rank_0(const Layout& layout, const std::vector<Dimension>& along) {
  Ranks out;
  for (std::int64_t rank = 0; rank < layout.ranks(); ++rank) {
    bool member = true;
    for (const Dimension d : layout.order) {
      const bool free = std::find(along.begin(), along.end(), d) != along.end();
      member = member && (free || coordinate(layout, rank, d) == 0);
    }
    if (member) out.push_back(rank);
  }
  return out;
}

// Every `step`-th of `ranks`, `count` of them.
Ranks every(const Ranks& ranks, std::int64_t step, std::int64_t count) {
  Ranks out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(ranks[static_cast<std::size_t>(i * step)]);
  return out;
}

// By enumeration: the ranks of the group in the domain of each level that rank 0 lies in.
void expect_span(const char* name, const GroupSpan& span, const Ranks& group,
                 const Cluster& cluster) {
  if (span.ranks != static_cast<std::int64_t>(group.size())) {
    RC_FAIL(std::string(name) + " has " + std::to_string(span.ranks) + " ranks, not " +
            std::to_string(group.size()));
  }
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const std::int64_t inside = std::count_if(group.begin(), group.end(), [&](std::int64_t rank) {
      return rank < cluster.levels[i].size;
    });
    if (span.members[i] != inside) {
      RC_FAIL(std::string(name) + " level " + std::to_string(i) + ": " +
              std::to_string(span.members[i]) + " members, counted " + std::to_string(inside));
    }
  }
}

std::int64_t power_of_two(int most) {
  return std::int64_t{1} << *rc::gen::inRange(0, most + 1);
}

Layout random_layout() {
  Layout layout;
  layout.tp = power_of_two(3);
  layout.cp = power_of_two(2);
  layout.dp = power_of_two(4);
  layout.pp = power_of_two(3);
  std::array<Dimension, 4> order = layout.order;
  const int times = *rc::gen::inRange(0, 24);
  for (int i = 0; i < times; ++i) std::next_permutation(order.begin(), order.end());
  layout.order = order;
  return layout;
}

RC_GTEST_PROP(Spans, AreThoseOfTheRankGridInEveryOrder, ()) {
  Layout layout = random_layout();
  const Cluster cluster = cluster_of({4, 32, 4096});
  const Spans s = spans(layout, cluster);
  expect_span("tp", s.tp, group_of_rank_0(layout, {Dimension::tp}), cluster);
  expect_span("cp", s.cp, group_of_rank_0(layout, {Dimension::cp}), cluster);
  expect_span("pp", s.pp, group_of_rank_0(layout, {Dimension::pp}), cluster);
  expect_span("dp", s.dp, group_of_rank_0(layout, {Dimension::dp, Dimension::cp}), cluster);
}

// Experts lie over all ranks of a pipeline stage, numbered in order without the pipeline: first the
// ranks of an expert's own tensor group, then the experts, then their replicas. The stage is one
// block or regular blocks of the grid.
RC_GTEST_PROP(Spans, OfExpertsFillAStageFromTheInnerRanks, ()) {
  Layout layout = random_layout();
  const Ranks stage = group_of_rank_0(layout, {Dimension::tp, Dimension::cp, Dimension::dp});
  const std::int64_t ranks = static_cast<std::int64_t>(stage.size());
  layout.etp = std::min(power_of_two(2), ranks);
  layout.ep = std::min(power_of_two(6), ranks / layout.etp);
  const std::int64_t inner = layout.etp * layout.ep;
  const Cluster cluster = cluster_of({4, 32, 4096});
  const Spans s = spans(layout, cluster);
  expect_span("etp", s.etp, every(stage, 1, layout.etp), cluster);
  expect_span("ep", s.ep, every(stage, layout.etp, layout.ep), cluster);
  expect_span("expert_dp", s.expert_dp, every(stage, inner, ranks / inner), cluster);
}

// Hybrid sharding: neighbours among the replicas share one copy; across copies gradients are
// summed.
RC_GTEST_PROP(Spans, OfShardAndReplicaMultiplyToTheDataParallelRanks, ()) {
  Layout layout = random_layout();
  const Ranks replicas = group_of_rank_0(layout, {Dimension::dp, Dimension::cp});
  const std::int64_t ranks = static_cast<std::int64_t>(replicas.size());
  layout.shard = std::min(power_of_two(6), ranks);
  const Cluster cluster = cluster_of({4, 32, 4096});
  const Spans s = spans(layout, cluster);
  RC_ASSERT(s.shard.ranks * s.replica.ranks == layout.dp * layout.cp);
  expect_span("shard", s.shard, every(replicas, 1, layout.shard), cluster);
  expect_span("replica", s.replica, every(replicas, layout.shard, ranks / layout.shard), cluster);
}

TEST(Spans, WithoutASharedSizeOneCopyIsSharedByAllReplicas) {
  Layout layout;
  layout.dp = 16;
  layout.cp = 2;
  const Spans s = spans(layout, cluster_of({8, 4096}));
  EXPECT_EQ(s.shard.ranks, 32);
  EXPECT_EQ(s.shard.members, s.dp.members);
  EXPECT_EQ(s.replica.ranks, 1);
}

TEST(Recipes, AreFoundByTheirNamesAndNoOther) {
  EXPECT_GE(recipes().size(), 8u);
  for (const Recipe& recipe : recipes()) EXPECT_EQ(recipe_from(recipe.name), &recipe);
  EXPECT_EQ(recipe_from("fp12"), nullptr);
}

// DeepSeek-V3's layout of 61 layers in 16 chunks, "Et*4|(t*4|)*14tmL", and in 32,
// "Et|(tt|)*30mL" (Megatron-Bridge, scripts/performance).
TEST(ChunkBegin, EmbeddingAndHeadMayCountAsLayers) {
  Layout layout;
  layout.pp = 2;
  layout.vpp = 8;
  layout.head_slots = 3;
  std::vector<std::int64_t> expected(16, 4);
  expected.back() = 1;
  EXPECT_EQ(chunk_layers(61, layout), expected);
  layout.vpp = 16;
  layout.embedding_slots = 1;
  layout.head_slots = 2;
  expected.assign(32, 2);
  expected.front() = 1;
  expected.back() = 0;
  EXPECT_EQ(chunk_layers(61, layout), expected);
}

}  // namespace
}  // namespace headway
