// Lists of steps and recordings: what they call, that they run to their end, and their file.
#include <gtest/gtest.h>

#include <map>

#include "forecast/random_run_for_test.hpp"
#include "simulate/live/check.hpp"
#include "simulate/live/file.hpp"
#include "simulate/live/of_step.hpp"
#include "simulate/live/single.hpp"
#include "simulate/step/simulated.hpp"
#include "step/program/group_ranks.hpp"

namespace headway {
namespace {

LiveList list_of(const testing::Case& c) {
  return list_of_step(workload_of(simulate_step(c, c.calibration)), c, "test");
}

testing::Case small_case(std::int64_t dp, std::int64_t tp, std::int64_t pp, std::int64_t vpp,
                         int zero) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = dp * 8;
  c.layout.dp = dp;
  c.layout.tp = tp;
  c.layout.pp = pp;
  c.layout.vpp = vpp;
  c.layout.zero = zero;
  EXPECT_TRUE(c.legal());
  return c;
}

// Operation, ranks -> calls, bytes.
using Sums = std::map<std::pair<Operation, std::vector<std::int64_t>>, std::pair<double, double>>;

// As the lowered step counts them: those of blocks for every micro-batch, those of the stage once.
Sums expected_sums(const testing::Case& c, std::int64_t rank) {
  Sums out;
  const Step step = lower(c);
  const auto expect = [&](const Call& call, double times) {
    auto ranks = group_ranks(c.layout, call.group, rank, step.spans.node.ranks);
    if (ranks.size() < 2 || call.op == CollectiveOp::send_receive || !(call.bytes.value() > 0)) {
      return;
    }
    if (!(call.count * times > 0)) return;
    auto& sum = out[{traced_as(call.op), ranks}];
    sum.first += call.count * times;
    sum.second += call.bytes.value() * call.count * times;
  };
  const std::int64_t at = stage_of(c.layout, rank);
  const StageClass* stage = &step.stages.front();
  for (const StageClass& each : step.stages) {
    if (each.first <= at) stage = &each;
  }
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Call& call : only<Call>(step.blocks[i].items)) {
      expect(call, static_cast<double>(step.micro_batches * stage->counts[i]));
    }
  }
  for (const Call& call : only<Call>(stage->items)) expect(call, 1);
  return out;
}
Sums sums_of(const LiveList& list, std::size_t rank) {
  Sums out;
  for (const LiveItem& item : list.ranks[rank]) {
    if (item.kind != LiveItem::Kind::call || is_between_two(item.op)) continue;
    auto& sum = out[{item.op, list.groups[item.group].ranks}];
    sum.first += 1;
    sum.second += static_cast<double>(item.bytes);
  }
  return out;
}

// [LIVE-1]
TEST(LiveList, OfAStepCallsWhatTheStepCalls) {
  for (const testing::Case& c : {small_case(2, 2, 4, 1, 1), small_case(2, 2, 4, 2, 1),
                                 small_case(8, 1, 1, 1, 3), small_case(2, 4, 1, 1, 2)}) {
    const LiveList list = list_of(c);
    ASSERT_EQ(static_cast<std::int64_t>(list.ranks.size()), c.layout.ranks());
    EXPECT_TRUE(list_problems(list).empty()) << list_problems(list).front().message;
    for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
      const Sums expected = expected_sums(c, static_cast<std::int64_t>(rank));
      const Sums found = sums_of(list, rank);
      ASSERT_EQ(found.size(), expected.size()) << testing::flags_of(c);
      for (const auto& [key, sum] : expected) {
        ASSERT_TRUE(found.contains(key));
        EXPECT_EQ(found.at(key).first, sum.first)
            << to_name(key.first) << " " << key.second.size() << " " << testing::flags_of(c);
        EXPECT_NEAR(found.at(key).second / sum.second, 1, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace headway
