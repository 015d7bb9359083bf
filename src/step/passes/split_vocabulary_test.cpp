// [STEP-26] The vocabulary split over stages, against closed forms. Llama 3.1 8B: hidden width
// 4,096, 128,256 words, which Megatron pads to multiples of 128 times the ranks that share them.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

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

std::vector<std::string> refused(const Case& c) {
  std::vector<std::string> out;
  for (const Problem& problem : check(c)) {
    if (problem.message.size() > 0) out.push_back(where_text(problem));
  }
  return out;
}

TEST(SplitVocabulary, IsRefusedWhereNoStageOrSlotIsLeftForIt) {
  EXPECT_TRUE(refused(llama(true)).empty());
  Case alone = llama(true);
  alone.layout.pp = 1;
  EXPECT_EQ(refused(alone), std::vector<std::string>{"--split-vocabulary"});
  Case placed = llama(true);
  placed.layout.schedule = Schedule::zero_bubble;
  EXPECT_EQ(refused(placed), std::vector<std::string>{"--split-vocabulary"});
  Case slots = llama(true);
  slots.layout.head_slots = 1;
  EXPECT_FALSE(refused(slots).empty());
}

}  // namespace
}  // namespace headway::testing
