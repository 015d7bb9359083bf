// The optimiser's traffic.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

// [STEP-8] Bytes that the update moves.
double optimizer_bytes(const Case& c) {
  double out = 0;
  const Step step = c.lowered();
  for (const Op& op : only<Op>(step.stages[0].items)) {
    if (const auto* pass = std::get_if<Pass>(&op.shape)) out += pass->moved.value();
  }
  return out;
}

TEST(OptimizerPass, ReadsAndWritesAtLeastGradientWeightAndStates) {  // [STEP-8]
  Case c = case_of("llama-2-7b");
  c.job.global_batch = 8;
  c.layout.dp = 8;
  const double p = c.lowered().stages[0].parameters;
  const double adam = optimizer_bytes(c) / p;
  EXPECT_GE(adam, 4 + 2 * 4 + 2 * 8);  // gradient read; fp32 weight and two moments both ways
  EXPECT_LE(adam, 100);
  c.job.optimizer = Optimizer::sgd;
  EXPECT_NEAR(adam - optimizer_bytes(c) / p, 2 * 4, 1e-9);  // one moment fewer, read and written
  c.job.optimizer = Optimizer::adamw;
  c.layout.zero = 1;
  EXPECT_NEAR(optimizer_bytes(c) / p, adam / 8, 1e-9);
  c.layout.shard = 4;
  EXPECT_NEAR(optimizer_bytes(c) / p, adam / 4, 1e-9);
}

TEST(OptimizerPass, MuonAddsProductsThatItsRanksShare) {  // [STEP-8]
  Case c = case_of("llama-2-7b");
  c.job.optimizer = Optimizer::muon;
  double flops = 0;
  const Step step = c.lowered();
  for (const Op& op : only<Op>(step.stages[0].items)) flops += work(op).value();
  // Five iterations on each matrix [small, large]: X·Xᵀ and (..)·X of 2·small²·large each, and a
  // square product of 2·small³.
  double expected = 0;
  const double pairs[4][2] = {{4096, 12288}, {4096, 4096}, {4096, 22016}, {4096, 11008}};
  for (const auto& [small, large] : pairs) {
    expected += 32 * 5 * (2 * 2 * small * small * large + 2 * small * small * small);
  }
  EXPECT_NEAR(flops / expected, 1, 1e-12);
}

}  // namespace
}  // namespace headway::testing
