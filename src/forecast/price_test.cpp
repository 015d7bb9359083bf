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

// Kernels and calls of one block in an order, all calls far longer than what may hide them.
struct Ordered {
  Case c = case_of("llama-2-7b", "dgx-h100");
  Block block;

  Op add(std::variant<Matmul, AttentionShape, Pass> shape, Phase phase, bool of_weight = false) {
    const Op op{.shape = shape, .phase = phase, .weight_gradient = of_weight};
    block.items.push_back({.what = op});
    return op;
  }
  void add(CollectiveOp op, Group group, Phase phase, HiddenBy hidden_by, Flow flow,
           double count = 1) {
    const Call call{.op = op,
                    .group = group,
                    .phase = phase,
                    .hidden_by = hidden_by,
                    .dtype = Precision::bf16,
                    .bytes = Bytes(1e12),
                    .count = count};
    block.items.push_back({.what = call, .flow = flow});
  }
  // Of each call what is hidden, in its order; `ops`: the seconds of some ops.
  std::vector<double> hidden(std::vector<Op> ops, std::vector<double>& seconds) {
    c.layout.tp = c.layout.cp = 2;
    c.calibration.shared = {};
    c.calibration.frameworks.assign(framework_names().size(), {});
    const Spans of = spans(c.layout, c.cluster);
    const Prices prices{c.job, c.layout, c.cluster, c.calibration, of};
    for (const Op& op : ops) seconds.push_back(op_time(op, prices).value());
    std::vector<PricedCall> calls;
    price_block(block, prices, calls);
    std::vector<double> out;
    for (const PricedCall& call : calls) {
      out.push_back((call.each * call.call.count - call.exposed).value());
    }
    return out;
  }
};

// [FORECAST-8] Megatron's order: the input is gathered while its gradient is computed, and that is
// scattered while the weight's is.
TEST(PriceBlock, HidesAGatherUnderTheInputsGradientAndAScatterUnderTheWeights) {
  Ordered one;
  const Matmul input{4096, 8192, 4096}, weight{8192, 4096, 4096};
  one.add(Pass{Bytes(1e9)}, Phase::backward);
  one.add(CollectiveOp::all_gather, Group::tp, Phase::backward, HiddenBy::same_block,
          Flow::into_weights);
  const Op of_input = one.add(input, Phase::backward);
  const Op of_weight = one.add(weight, Phase::backward, true);
  const Op added = one.add(Pass{Bytes(1e9)}, Phase::backward, true);
  one.add(CollectiveOp::reduce_scatter, Group::tp, Phase::backward, HiddenBy::same_block,
          Flow::of_input);
  one.add(Pass{Bytes(1e9)}, Phase::backward);
  std::vector<double> seconds;
  const std::vector<double> hidden = one.hidden({of_input, of_weight, added}, seconds);
  EXPECT_NEAR(hidden.at(0), seconds[0], 1e-9 * seconds[0]);
  EXPECT_NEAR(hidden.at(1), seconds[1] + seconds[2], 1e-9 * seconds[1]);
}

// [FORECAST-8] Sums of embeddings travel under the products of the bottom MLP in their block, which
// stand before the call forward and behind it backward, and not under what looks them up.
TEST(PriceBlock, HidesSumsOfEmbeddingsUnderTheProductsOfTheBlock) {
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    Ordered one;
    const Matmul mlp{4096, 512, 512};
    std::vector<Op> products;
    const auto look_up = [&] { one.add(Pass{Bytes(1e9)}, phase); };
    const auto call = [&] {
      one.add(CollectiveOp::all_to_all, Group::tp, phase, HiddenBy::same_block, Flow::of_tables);
    };
    if (phase == Phase::forward) {
      products = {one.add(mlp, phase)};
      look_up();
      call();
    } else {
      call();
      look_up();
      products = {one.add(mlp, phase), one.add(mlp, phase, true)};
    }
    std::vector<double> seconds;
    const std::vector<double> hidden = one.hidden(products, seconds);
    double all = 0;
    for (const double each : seconds) all += each;
    EXPECT_NEAR(hidden.at(0), all, 1e-9 * all);
  }
}

// [FORECAST-8] A ring of n ranks passes on n - 1 times, each under one of n pieces of attention;
// backward it stands behind the core, whose input's gradients go round.
TEST(PriceBlock, HidesARingUnderAllPiecesOfAttentionButOne) {
  Ordered one;
  const AttentionShape core{1, 32, 32, 4096, 4096, 128, 128};
  const double turns = 3;
  one.add(Pass{Bytes(1e9)}, Phase::forward);
  one.add(CollectiveOp::send_receive, Group::cp, Phase::forward, HiddenBy::same_block,
          Flow::in_pieces, turns);
  const Op forward = one.add(core, Phase::forward);
  const Op backward = one.add(core, Phase::backward);
  one.add(CollectiveOp::send_receive, Group::cp, Phase::backward, HiddenBy::same_block,
          Flow::in_pieces, turns);
  std::vector<double> seconds;
  const std::vector<double> hidden = one.hidden({forward, backward}, seconds);
  EXPECT_NEAR(hidden.at(0), 0.75 * seconds[0], 1e-9 * seconds[0]);
  EXPECT_NEAR(hidden.at(1), 0.75 * seconds[1], 1e-9 * seconds[1]);
}

// [FORECAST-8] Split products: what feeds one runs under it, and so does what one feeds.
TEST(PriceBlock, HidesPiecesUnderTheProductBesideThemAlone) {
  Ordered one;
  one.add(CollectiveOp::all_gather, Group::tp, Phase::forward, HiddenBy::pieces, Flow::chain);
  const Op up = one.add(Matmul{4096, 8192, 4096}, Phase::forward);
  one.add(Pass{Bytes(1e9)}, Phase::forward);
  const Op down = one.add(Matmul{4096, 4096, 8192}, Phase::forward);
  one.add(CollectiveOp::reduce_scatter, Group::tp, Phase::forward, HiddenBy::pieces, Flow::chain);
  std::vector<double> seconds;
  const std::vector<double> hidden = one.hidden({up, down}, seconds);
  EXPECT_NEAR(hidden.at(0), seconds[0], 1e-9 * seconds[0]);
  EXPECT_NEAR(hidden.at(1), seconds[1], 1e-9 * seconds[1]);
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
  const OneCall one(Phase::forward, HiddenBy::next_block);
  EXPECT_NEAR(one.priced.forward.compute / one.pass, 1.25, 1e-9);
  EXPECT_NEAR(one.priced.backward.compute / one.pass, 1, 1e-9);
  const OneCall bare(Phase::forward, HiddenBy::nothing);
  EXPECT_EQ(bare.exposed, bare.call);
  EXPECT_NEAR(bare.priced.forward.compute / bare.pass, 1, 1e-9);
}

}  // namespace
}  // namespace headway::testing
