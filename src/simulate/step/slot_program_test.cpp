// What a slot runs, kernel by kernel, against sums and cases worked by hand.
#include "simulate/step/slot_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "forecast/random_run_for_test.hpp"

namespace headway {
namespace {

Op product(double weight) {
  Op out{Matmul{4096, 4096, 4096}};
  out.phase = weight > 0 ? Phase::backward : Phase::forward;
  out.weight_gradient = weight > 0;
  return out;
}
Call call_of(CollectiveOp op, Group group, HiddenBy hidden_by, double bytes) {
  return {.op = op,
          .group = group,
          .phase = Phase::forward,
          .hidden_by = hidden_by,
          .dtype = Precision::bf16,
          .bytes = Bytes(bytes)};
}

// A step of one kind of block with these items, of which a slot runs `count`.
struct Made {
  double slot, product, call;
};
Made made(std::vector<Item> items, std::size_t count, SlotWork work = SlotWork::forward) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.layout.dp = 8;
  c.job.sequence = 4096;
  c.job.global_batch = 8;
  c.calibration.shared.interference = 0;
  Step step = lower(c);
  step.blocks.resize(1);
  step.blocks[0] = Block();
  step.blocks[0].items = std::move(items);
  const Prices prices{c.job, c.layout, c.cluster, c.calibration, step.spans};
  PricedStep priced{step, prices, {PricedBlock()}};
  Made out{slot_program(priced, ChunkBlocks(count, 0), work).time.value(), 0, 0};
  for (const Item& item : step.blocks[0].items) {
    if (const auto* call = std::get_if<Call>(&item.what)) {
      out.call = call_time(*call, prices).value();
    } else {
      out.product = op_time(std::get<Op>(item.what), prices).value();
    }
  }
  return out;
}

TEST(SlotProgram, RunsACallThatNothingHidesBetweenItsKernels) {  // [SIM-7]
  const Made of =
      made({{.what = product(0)},
            {.what = call_of(CollectiveOp::all_reduce, Group::dp, HiddenBy::nothing, 1e8)}},
           3);
  EXPECT_NEAR(of.slot, 3 * (of.product + of.call), 1e-12);
}

// Weights of the next block travel under this one, the first ones of the next slot under the last:
// each block takes the longer of the two.
TEST(SlotProgram, GathersTheWeightsOfTheNextBlockUnderThisOne) {  // [SIM-7]
  for (const double bytes : {1e6, 1e9}) {
    const Made of =
        made({{.what = call_of(CollectiveOp::all_gather, Group::dp, HiddenBy::next_block, bytes)},
              {.what = product(0)}},
             4);
    EXPECT_NEAR(of.slot, 4 * std::max(of.product, of.call), 1e-9 * of.slot) << bytes;
  }
}

// Gradients of a block are scattered under the next one; those of the slot before at its beginning.
TEST(SlotProgram, ScattersTheGradientsOfABlockUnderTheNext) {  // [SIM-7]
  const Made of =
      made({{.what = product(0)},
            {.what = call_of(CollectiveOp::reduce_scatter, Group::dp, HiddenBy::next_block, 1e6)}},
           4);
  EXPECT_LT(of.call, of.product);
  EXPECT_NEAR(of.slot, 4 * of.product, 1e-12);
}

// What other micro-batches fill is over when both are.
TEST(SlotProgram, LetsOtherMicroBatchesFillACall) {  // [SIM-7]
  for (const double bytes : {1e6, 1e9}) {
    const Made of =
        made({{.what = call_of(CollectiveOp::all_to_all, Group::dp, HiddenBy::other_batch, bytes)},
              {.what = product(0)}},
             2);
    EXPECT_NEAR(of.slot, std::max(2 * of.product, 2 * of.call), 1e-9 * of.slot) << bytes;
  }
}

// [FORECAST-8] A ring in 7 turns under a core of 8 pieces: as long as the core where a turn is
// shorter than a piece, else 7 turns and a piece.
TEST(SlotProgram, PassesARingOnUnderThePiecesOfTheCore) {  // [SIM-7]
  for (const double bytes : {1e3, 1e9}) {
    Call ring = call_of(CollectiveOp::all_gather, Group::dp, HiddenBy::same_block, bytes);
    ring.count = 7;
    const Op core{AttentionShape{1, 32, 32, 4096, 4096, 128, 128}};
    const Made of = made({{.what = ring, .flow = Flow::in_pieces}, {.what = core}}, 1);
    const double piece = of.product / 8;
    EXPECT_NEAR(of.slot, piece + 7 * std::max(piece, of.call), 1e-9 * of.slot) << bytes;
  }
}

// Gradients of weights stand in a slot of their own where a schedule parts them.
TEST(SlotProgram, PartsTheGradientsOfWeights) {  // [SIM-7]
  Op input = product(1);
  input.weight_gradient = false;
  const std::vector<Item> items = {{.what = input}, {.what = product(1)}};
  const Made both = made(items, 2, SlotWork::backward);
  const Made weights = made(items, 2, SlotWork::weight_gradient);
  const Made inputs = made(items, 2, SlotWork::input_gradient);
  EXPECT_NEAR(both.slot, 4 * both.product, 1e-12);
  EXPECT_NEAR(weights.slot, 2 * both.product, 1e-12);
  EXPECT_NEAR(inputs.slot, 2 * both.product, 1e-12);
}

}  // namespace
}  // namespace headway
