// [STEP-26] The vocabulary split over stages, against closed forms. Llama 3.1 8B: hidden width
// 4,096, 128,256 words, which Megatron pads to multiples of 128 times the ranks that share them.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/pieces.hpp"

namespace headway::testing {
namespace {

constexpr double kHidden = 4096, kTokens = 8192;
constexpr std::int64_t kTp = 2, kPp = 4;
constexpr double kPadded = 126.0 * 128 * kTp * kPp;  // the least that holds 128,256

Case llama(bool split) {
  Case c = case_of("llama-3.1-8b", "dgx-h100");
  c.job.framework = framework_from("megatron").value();
  c.job.sequence = static_cast<std::int64_t>(kTokens);
  c.job.global_batch = 16;
  c.layout.tp = kTp;
  c.layout.pp = kPp;
  c.layout.split_vocabulary = split;
  return c;
}

double parameters_of(const Step& step, std::int64_t rank) {
  for (const StageClass& stage : step.stages) {
    if (rank >= stage.first && rank < stage.first + stage.stages) return stage.parameters;
  }
  return 0;
}

TEST(SplitVocabulary, EveryStageHoldsAsMuchOfBothTables) {
  expect_legal(llama(true));
  const Step whole = llama(false).lowered(), split = llama(true).lowered();
  const double part = 2 * kPadded * kHidden / (kTp * kPp);
  const double table = 128256 * kHidden / kTp;
  EXPECT_DOUBLE_EQ(parameters_of(split, 0), parameters_of(whole, 0) - table + part);
  EXPECT_DOUBLE_EQ(parameters_of(split, 1), parameters_of(whole, 1) + part);
  EXPECT_DOUBLE_EQ(parameters_of(split, 2), parameters_of(whole, 2) + part);
  EXPECT_DOUBLE_EQ(parameters_of(split, 3), parameters_of(whole, 3) - table + part);
}

TEST(SplitVocabulary, StagesPassEachOtherWhatTheTableOfItsCallsSays) {
  const Step step = llama(true).lowered();
  std::vector<Call> calls;
  for (const Block& block : step.blocks) {
    for (const Call& call : only<Call>(block.items)) {
      if (call.group == Group::pp) calls.push_back(call);
    }
  }
  const Bytes activation(kTokens * kHidden * 2 / kTp), number(kTokens * 4);
  const auto count = [&](CollectiveOp op, Phase phase, Bytes bytes) {
    return count_of(calls, [&](const Call& call) {
      return call.op == op && call.phase == phase && call.bytes == bytes;
    });
  };
  EXPECT_EQ(count(CollectiveOp::all_reduce, Phase::forward, activation), 1);
  EXPECT_EQ(count(CollectiveOp::broadcast, Phase::forward, activation), 1);
  EXPECT_EQ(count(CollectiveOp::all_reduce, Phase::forward, number), 3);
  EXPECT_EQ(count(CollectiveOp::all_reduce, Phase::backward, activation), 1);
  EXPECT_EQ(count(CollectiveOp::broadcast, Phase::backward, activation), 1);
  EXPECT_EQ(count_of(calls, [](const Call&) { return true; }), 7);
}

// Two FLOPs forward for each token and element of the rank's part, and twice that backward.
TEST(SplitVocabulary, EveryStageMultipliesWithItsPartOfTheHead) {
  const Step step = llama(true).lowered();
  double found = 0;
  for (const Block& block : step.blocks) {
    if (block.kind != BlockKind::vocabulary) continue;
    for (const Op& op : only<Op>(block.items)) found += work(op).value();
  }
  EXPECT_DOUBLE_EQ(found, 3 * 2 * kTokens * kHidden * kPadded / (kTp * kPp));
  for (const StageClass& stage : step.stages) {
    EXPECT_EQ(stage.counts[step.blocks.size() - 1], 1);
    EXPECT_EQ(step.blocks.back().kind, BlockKind::vocabulary);
  }
  EXPECT_EQ(step.model_flops_full, llama(false).lowered().model_flops_full);
}

TEST(SplitVocabulary, TiedTablesLieOnceAndNeedNoSumBetweenTheEnds) {
  Case c = case_of("gemma-2b", "dgx-h100");
  c.job.global_batch = 8;
  c.layout.pp = 2;
  c.layout.split_vocabulary = true;
  expect_legal(c);
  const Step step = c.lowered();
  for (const StageClass& stage : step.stages) {
    EXPECT_EQ(count_of(calls_in(stage.items),
                       [](const Call& call) { return call.group == Group::embedding; }),
              0);
  }
  // 256,000 words by 2,048, over two stages.
  EXPECT_DOUBLE_EQ(step.blocks.back().held.dense, 256000.0 * 2048 / 2);
}

// What is wrong, with where: one problem, or "".
std::string refused(const Case& c) {
  std::string out;
  for (const Problem& problem : check(c)) {
    out += (out.empty() ? "" : "\n") + where_text(problem) + ": " + problem.message;
  }
  return out;
}

TEST(SplitVocabulary, IsRefusedWhereNoStageOrSlotIsLeftForIt) {
  EXPECT_EQ(refused(llama(true)), "");
  Case alone = llama(true);
  alone.layout.pp = 1;
  EXPECT_EQ(refused(alone), "--split-vocabulary: needs a pipeline: --pp must be at least 2");
  Case placed = llama(true);
  placed.layout.schedule = Schedule::zero_bubble;
  EXPECT_EQ(refused(placed),
            "--split-vocabulary: has passes that zero-bubble has no place for here; legal: "
            "--schedule 1f1b or gpipe");
  Case slots = llama(true);
  slots.layout.head_slots = 1;
  EXPECT_EQ(refused(slots),
            "--embedding-slots, --head-slots, --split-vocabulary: exclude each other: what is "
            "split over all stages counts as no layers of one");
  Case balanced = llama(true);
  balanced.job.framework = framework_from("nanotron").value();
  EXPECT_EQ(refused(balanced),
            "--split-vocabulary: nanotron places the head by its own balance of weights; legal: "
            "off, or stages that are stated");
  Case narrow = case_of("opt-350m", "dgx-h100");  // embeddings of 512, layers of 1,024
  narrow.job.global_batch = 16;
  narrow.layout.pp = kPp;
  narrow.layout.split_vocabulary = true;
  EXPECT_EQ(refused(narrow),
            "--split-vocabulary: embeddings of another width than the layers' are not split over "
            "stages here; legal: off");
}

TEST(SplitVocabulary, WeightsMoveFromTheEndsToTheStagesBetween) {
  const Case whole = llama(false), split = llama(true);
  const auto states = [](const Case& c, std::int64_t rank) {
    const Step step = c.lowered();
    const Share share(c.model, c.job, c.layout);
    const LoweredBlocks blocks = lower_blocks(share, c.layout);
    for (const StageClass& stage : step.stages) {
      if (rank >= stage.first && rank < stage.first + stage.stages) {
        return held_states(blocks.blocks, stage, c.job, c.layout).parameters;
      }
    }
    return Bytes(0);
  };
  for (const std::int64_t end : {0, 3}) EXPECT_LT(states(split, end), states(whole, end));
  for (const std::int64_t inner : {1, 2}) EXPECT_GT(states(split, inner), states(whole, inner));
}

}  // namespace
}  // namespace headway::testing
