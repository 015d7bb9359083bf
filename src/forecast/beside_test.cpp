// Kernels and calls of random blocks placed in time one by one, against what pricing adds up.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "forecast/price.hpp"
#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

// Backward passes of layers: some products whose inputs are gathered again for the weights'
// gradients, and whose own gradients are summed, in Megatron's order.
Block random_layers() {
  Block out;
  const auto op = [&](bool of_weight) {
    const auto rows = static_cast<std::int64_t>(*rc::gen::inRange(64, 4096));
    out.items.push_back({.what = Op{.shape = Matmul{rows, 1024, 1024},
                                    .phase = Phase::backward,
                                    .weight_gradient = of_weight}});
  };
  const auto call = [&](CollectiveOp kind, Flow flow) {
    const double bytes = *rc::gen::inRange(1, 40000) * 1e3;
    out.items.push_back(
        {.what = Call{.op = kind,
                      .group = Group::tp,
                      .phase = Phase::backward,
                      .hidden_by = flow == Flow::chain ? HiddenBy::nothing : HiddenBy::same_block,
                      .dtype = Precision::bf16,
                      .bytes = Bytes(bytes)},
         .flow = flow});
  };
  const int layers = *rc::gen::inRange(1, 5);
  for (int i = 0; i < layers; ++i) {
    if (*rc::gen::arbitrary<bool>()) call(CollectiveOp::all_gather, Flow::chain);
    if (*rc::gen::arbitrary<bool>()) call(CollectiveOp::all_gather, Flow::into_weights);
    const int products = *rc::gen::inRange(1, 3);
    for (int product = 0; product < products; ++product) {
      op(false);
      const int of_weights = *rc::gen::inRange(1, 3);
      for (int weight = 0; weight < of_weights; ++weight) op(true);
    }
    if (*rc::gen::arbitrary<bool>()) call(CollectiveOp::reduce_scatter, Flow::of_input);
    op(false);
  }
  return out;
}

// [FORECAST-8] Two streams, kernels and a wire, each in the order of the items.
double placed(const Block& block, const Prices& prices) {
  double kernels = 0, wire = 0;         // until when each is busy
  double inputs = 0;                    // when the last kernel ended that is no weight's gradient
  double for_weights = 0, for_all = 0;  // when what weights' gradients, and all, wait for is there
  for (const Item& item : block.items) {
    if (const auto* call = std::get_if<Call>(&item.what)) {
      const double begin = std::max(wire, item.flow == Flow::of_input ? inputs : kernels);
      wire = begin + call_time(*call, prices).value();
      (item.flow == Flow::into_weights ? for_weights : for_all) = wire;
      continue;
    }
    const Op& op = std::get<Op>(item.what);
    const double begin = std::max({kernels, for_all, op.weight_gradient ? for_weights : 0.0});
    kernels = begin + op_time(op, prices).value();
    if (!op.weight_gradient) inputs = kernels;
  }
  return std::max(kernels, wire);
}

RC_GTEST_PROP(PriceBlock, IsAsLongAsItsItemsPlacedOnTwoStreams, ()) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.layout.tp = 8;
  c.calibration.shared = {};
  c.calibration.frameworks.assign(framework_names().size(), {});
  const Spans of = spans(c.layout, c.cluster);
  const Prices prices{c.job, c.layout, c.cluster, c.calibration, of};
  const Block block = random_layers();
  std::vector<PricedCall> calls;
  const double priced = price_block(block, prices, calls).backward.total().value();
  RC_ASSERT(std::abs(priced - placed(block, prices)) <= 1e-9 * priced);
}

}  // namespace
}  // namespace headway::testing
