// Steps of models whose layers share blocks.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway {
namespace {

using namespace testing;

Case zamba(std::int64_t ranks) {
  Case c = case_of("zamba2-2.7b");
  c.job.sequence = 4096;
  c.layout.dp = ranks;
  c.layout.micro_batch = 1;
  c.job.global_batch = ranks;
  return c;
}

// Weights, gradients and what is reduced of a block that several layers use stand once: all
// parameters of the model, and no more.
TEST(Shared, BlocksAreHeldAndReducedOnce) {  // [MODEL-10]
  Case c = zamba(8);
  expect_legal(c);
  const double all = static_cast<double>(parameters(c.model).total);
  const Step step = c.lowered();
  EXPECT_NEAR(step.stages[0].parameters, all, 1e-6 * all);
  const auto calls = calls_in(step.stages[0].items);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::all_reduce, Group::dp), 4 * all, 1e-3 * 4 * all);
}

// The products of each use are run.
TEST(Shared, BlocksRunEachTime) {  // [MODEL-10]
  const Step step = zamba(1).lowered();
  double ran = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Op& op : only<Op>(step.blocks[i].items)) {
      if (op.phase != Phase::forward || !std::holds_alternative<Matmul>(op.shape)) continue;
      ran += static_cast<double>(step.stages[0].counts[i]) * work(op).value();
    }
  }
  const Model model = zamba(1).model;
  double products = 0;
  for (const std::uint8_t kind : model.pattern) {
    const Layer& layer = model.kinds[kind];
    for (const NetworkModule& module : layer.modules)
      products += module_forward_flops(module).value();
    for (const Linear& linear : linears(layer, model.hidden)) products += linear.flops_per_token();
  }
  products += 2.0 * static_cast<double>(model.hidden * model.vocabulary);
  EXPECT_NEAR(ran, 4096 * products, 1e-3 * 4096 * products);
}

TEST(Shared, WeightsLieOnOneStageWhole) {
  Case c = zamba(1);
  c.layout.pp = 2;
  ASSERT_FALSE(check(c).empty());
  EXPECT_EQ(where_text(check(c)[0]), "--pp");
  c = zamba(8);
  c.layout.zero = 3;
  ASSERT_FALSE(check(c).empty());
  EXPECT_EQ(where_text(check(c)[0]), "--zero");
}

}  // namespace
}  // namespace headway
