// What of a call the computation of its own block, or of the next, hides.
#include "forecast/price.hpp"

#include <gtest/gtest.h>

#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

// A block of one pass of `work` forward, one of `work` backward, and one tensor-parallel call in
// `phase`, under constants where only that counts.
struct OneCall {
  Case c = case_of("llama-2-7b", "dgx-h100");
  Block block;
  Seconds pass, call;
  PricedBlock priced;
  Seconds exposed;

  OneCall(Phase phase, HiddenBy hidden_by, double recomputed = 0) {
    c.layout.tp = 8;
    c.layout.overlap_tensor = Choice::off;
    c.calibration.shared = {.interference = 0.25};
    c.calibration.frameworks.assign(framework_names().size(), {});
    const auto add = [&](Phase of, bool again) {
      block.items.push_back(
          {.what = Op{.shape = Pass{Bytes(1e9)}, .phase = of, .recomputed = again}});
    };
    add(Phase::forward, recomputed > 0);
    add(Phase::backward, false);
    const Call gather{.op = CollectiveOp::all_gather,
                      .group = Group::tp,
                      .phase = phase,
                      .hidden_by = hidden_by,
                      .dtype = Precision::bf16,
                      .bytes = Bytes(1e9),
                      .count = 100};
    block.items.push_back({.what = gather});
    const Spans of = spans(c.layout, c.cluster);
    const Prices prices{c.job, c.layout, c.cluster, c.calibration, of};
    pass = op_time(std::get<Op>(block.items[0].what), prices);
    call = 100 * call_time(gather, prices);
    std::vector<PricedCall> calls;
    priced = price_block(block, prices, calls);
    exposed = calls.at(0).exposed;
  }
};

// [FORECAST-8] The calls are far longer than the passes that hide them.
TEST(PriceBlock, HidesACallOfTheSameBlockUnderAllOfItForwardAndHalfOfItBackward) {
  const OneCall forward(Phase::forward, HiddenBy::same_block);
  ASSERT_GT(forward.call, 10 * forward.pass);
  EXPECT_NEAR((forward.call - forward.exposed) / forward.pass, 1, 1e-9);
  const OneCall backward(Phase::backward, HiddenBy::same_block);
  EXPECT_NEAR((backward.call - backward.exposed) / backward.pass, 0.5, 1e-9);
}

TEST(PriceBlock, HidesACallOfTheNextBlockUnderAllOfIt) {  // [FORECAST-8]
  const OneCall forward(Phase::forward, HiddenBy::next_block);
  EXPECT_NEAR((forward.call - forward.exposed) / forward.pass, 1, 1e-9);
  const OneCall backward(Phase::backward, HiddenBy::next_block);
  EXPECT_NEAR((backward.call - backward.exposed) / backward.pass, 1, 1e-9);
  const OneCall again(Phase::backward, HiddenBy::next_block, 1);  // with what runs again
  EXPECT_NEAR((again.call - again.exposed) / again.pass, 2, 1e-9);
}

TEST(PriceBlock, SlowsKernelsByAShareOfWhatTheyHide) {  // [FORECAST-8]
  const OneCall one(Phase::forward, HiddenBy::same_block);
  EXPECT_NEAR(one.priced.forward.compute / one.pass, 1.25, 1e-9);
  EXPECT_NEAR(one.priced.backward.compute / one.pass, 1, 1e-9);
  const OneCall bare(Phase::forward, HiddenBy::nothing);
  EXPECT_EQ(bare.exposed, bare.call);
  EXPECT_NEAR(bare.priced.forward.compute / bare.pass, 1, 1e-9);
}

}  // namespace
}  // namespace headway::testing
