// What linear attention and indexers hold and compute.
#include <gtest/gtest.h>

#include "model/count.hpp"
#include "model/linear.hpp"
#include "model/model_for_test.hpp"

namespace headway {
namespace {

using testing::built_in;

Model linear_model(LinearForm form, std::int64_t convolution) {
  Attention attention;
  attention.heads = 8;
  attention.kv_heads = 4;
  attention.head_dim = 16;
  attention.value_dim = 24;
  attention.linear = LinearAttention{.form = form, .convolution = convolution};
  Layer layer;
  layer.attention = attention;
  Model model;
  model.hidden = 64;
  layer.feed_forward = FeedForward{.width = 100};
  model.kinds = {layer};
  model.pattern = {0};
  return model;
}

// [MODEL-6] Written out for 8 heads of values of 24 and 4 of queries and keys of 16: the state of a
// head, 16·24, is written and read (2·2·16·24), by the delta rule read once more; the convolution
// of 4 taps on 2·4·16 + 8·24 = 320 channels.
TEST(ForwardFlops, OfLinearAttentionDoNotGrowWithTheSequence) {
  const auto flops = [](const Model& model, std::int64_t sequence) {
    double matrices = 0;
    for (const Linear& linear : linears(model.kinds[0], model.hidden)) {
      matrices += linear.flops_per_token();
    }
    return layer_forward_flops(model, model.kinds[0], sequence, AttentionFlops::full).value() /
               static_cast<double>(sequence) -
           matrices;
  };
  for (const std::int64_t sequence : {100, 1'000'000}) {
    EXPECT_DOUBLE_EQ(flops(linear_model(LinearForm::decay, 0), sequence), 8 * 4.0 * 16 * 24);
    EXPECT_NEAR(flops(linear_model(LinearForm::delta_rule, 4), sequence),
                8 * 6.0 * 16 * 24 + 2 * 4 * 320, 1e-6);
  }
}

// Gates: queries and keys of 4·16 each, values and the gate of 8·24 each, by the delta rule two
// scalars a head; result 8·24. Beside them norms (of one head, of all), taps, two vectors of 8.
TEST(LayerParameters, OfLinearAttentionAreItsProductsAndVectors) {
  const std::int64_t rest = 2 * 64 + 2 * 64 * 100;  // two norms, the feed-forward part
  const Model decay = linear_model(LinearForm::decay, 0);
  EXPECT_EQ(layer_parameters(decay, decay.kinds[0]).total(),
            64 * (2 * 64 + 2 * 192) + 192 * 64 + 192 + rest);
  const Model delta = linear_model(LinearForm::delta_rule, 4);
  EXPECT_EQ(layer_parameters(delta, delta.kinds[0]).total(),
            64 * (2 * 64 + 2 * 192 + 16) + 192 * 64 + 24 + 4 * 320 + 16 + rest);
}

// [MODEL-1] [MODEL-2] [MODEL-7] Of each of 61 layers: queries 1536→64·128, key 7168→128 with a
// layer norm, weights 7168→64.
TEST(Parameters, OfAnIndexerAreThoseOfItsThreeMatricesAndANorm) {
  const std::int64_t each = 1536LL * 64 * 128 + 7168 * 128 + 7168 * 64 + 2 * 128;
  EXPECT_EQ(parameters(built_in("deepseek-v3.2")).total - parameters(built_in("deepseek-v3")).total,
            61 * each);
  // z.ai's own count (github.com/zai-org/GLM-5): 744 B, 40 B active.
  const Parameters glm = parameters(built_in("glm-5"));
  EXPECT_NEAR(static_cast<double>(glm.total), 744e9, 1e9);
  EXPECT_NEAR(static_cast<double>(glm.active), 40e9, 2e9);
}

// [MODEL-7] A token of a sequence of 8,192 is scored against all its keys by 64 heads of 128, and
// 128 heads of 192 and 128 see 2,048 of them.
TEST(ForwardFlops, OfAnIndexerAreScoresOfAllKeysAndAttentionOverThoseThatAreKept) {
  const Model sparse = built_in("deepseek-v3.2");
  Model dense = sparse;
  for (Layer& layer : dense.kinds) layer.attention->indexer->keep = 1'000'000;
  const auto flops = [](const Model& model, std::int64_t sequence) {
    return layer_forward_flops(model, model.kinds.back(), sequence, AttentionFlops::full).value();
  };
  EXPECT_NEAR(flops(dense, 8192) - flops(sparse, 8192),
              8192 * 2.0 * (192 + 128) * 128 * (8192 - 2048), 1e6);
  EXPECT_EQ(flops(dense, 2048), flops(sparse, 2048));
  for (Layer& layer : dense.kinds) layer.attention->indexer.reset();
  const double products = 2.0 * (1536 * 8192 + 7168 * 192);
  EXPECT_NEAR(flops(sparse, 1024) - flops(dense, 1024), 1024 * (products + 2.0 * 64 * 128 * 1024),
              1e3);
}

}  // namespace
}  // namespace headway
