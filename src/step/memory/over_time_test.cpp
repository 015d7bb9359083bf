// [STEP-9] What a block keeps over time.
#include "step/memory/over_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "step/case_for_test.hpp"
#include "step/passes/passes.hpp"

namespace headway::testing {
namespace {

Program differentiated(const Case& c) {
  const Share share(c.model, c.job, c.layout);
  Program out = forward_layer(share, c.model.kinds.back());
  split_tensors(out, share);
  route_experts(out, share);
  differentiate(out, share);
  return out;
}

Case some_case(const char* model, Recompute recompute) {
  Case c = case_of(model, "dgx-h100");
  c.layout.tp = 8;
  c.layout.recompute = recompute;
  return c;
}

// It rises to what is saved through the forward pass, begins the backward pass with all that the
// layer makes, and ends with nothing.
TEST(KeptOverTime, RisesToWhatIsSavedAndFallsToNothing) {
  for (const char* model : {"llama-2-70b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3"}) {
    for (const Recompute recompute :
         {Recompute::none, Recompute::selective, Recompute::full, Recompute::every_second}) {
      const Case c = some_case(model, recompute);
      const Program program = differentiated(c);
      const std::vector<Bytes> kept =
          kept_over_time(program, Share(c.model, c.job, c.layout), c.layout);
      const auto back = kept.begin() + static_cast<std::ptrdiff_t>(program.forward);
      EXPECT_TRUE(std::is_sorted(kept.begin(), back - 1)) << model;
      EXPECT_TRUE(std::is_sorted(back, kept.end(), std::greater<>())) << model;
      const Block block = headway::recompute(program, Share(c.model, c.job, c.layout), c.layout);
      EXPECT_DOUBLE_EQ((back - 1)->value(), block.saved.value()) << model;
      EXPECT_DOUBLE_EQ(back->value(), block.saved_if_kept.value()) << model;
      Bytes read_last(0);
      for (const Kept& one : program.kept) {
        EXPECT_LT(one.item, program.forward);
        EXPECT_GE(one.freed, program.forward);
        if (one.freed + 1 == program.items.size()) read_last += one.bytes;
      }
      EXPECT_NEAR(kept.back().value(), read_last.value(), 1e-9 * block.saved_if_kept.value());
    }
  }
}

// Of a layer without dropout in 16 bit, fused attention, nothing split: after the first product's
// gradients of the backward pass (the second of feed-forward) what entered it is gone, 2 s·b·f.
TEST(KeptOverTime, LetsGoOfAProductsInputWithItsWeightsGradient) {
  Case c = case_of("gpt3-175b", "dgx-h100");
  c.layout.tp = 1;
  const Program program = differentiated(c);
  const std::vector<Bytes> kept =
      kept_over_time(program, Share(c.model, c.job, c.layout), c.layout);
  std::size_t weight = program.forward;
  const auto is_of_weight = [&](const Item& item) {
    const auto* op = std::get_if<Op>(&item.what);
    return op != nullptr && op->weight_gradient && is_product(*op);
  };
  while (!is_of_weight(program.items[weight])) ++weight;
  const Bytes input = Bytes(2.0 * 2048 * 4 * 12288);
  EXPECT_DOUBLE_EQ((kept[weight] - kept[weight + 1]).value(), input.value());
}

}  // namespace
}  // namespace headway::testing
