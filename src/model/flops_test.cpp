// What is computed: [MODEL-1], [MODEL-3] to [MODEL-5].
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/count.hpp"
#include "model/linear.hpp"
#include "model/model_for_test.hpp"

namespace headway {
namespace {

using testing::built_in;
using testing::random_model;

// [MODEL-1] [MODEL-3] Narayanan et al., arXiv 2104.04473 appendix: forward FLOPs of a GPT with
// full attention are 24·B·s·l·h² + 4·B·s²·l·h + 2·B·s·h·V.
TEST(ForwardFlops, OfAGptEqualTheClosedFormOfMegatron) {
  const Model model = built_in("megatron-22b");
  const double s = 2048, l = 48, h = 6144, v = 51200;
  const double expected = 24 * s * l * h * h + 4 * s * s * l * h + 2 * s * h * v;
  EXPECT_DOUBLE_EQ(forward_flops(model, 2048, AttentionFlops::full).value(), expected);
}

TEST(ForwardFlops, CountTheMatricesOfEachActiveExpertAndTheRouter) {
  // Mixtral 8x7B at s tokens: attention 4096·(4096+2·1024) and 4096², two experts of 3·4096·14336,
  // router 4096·8; scores 4·4096 a token and key; head 4096·32000.
  const double s = 1024;
  const double layer =
      2.0 * (4096.0 * 6144 + 4096.0 * 4096 + 2 * 3 * 4096.0 * 14336 + 4096 * 8) + 4.0 * 4096 * s;
  const double expected = s * (32 * layer + 2 * 4096.0 * 32000);
  EXPECT_DOUBLE_EQ(forward_flops(built_in("mixtral-8x7b"), 1024, AttentionFlops::full).value(),
                   expected);
}

TEST(ForwardFlops, OfLatentAttentionUseItsOwnWidths) {
  // DeepSeek-V2-Lite, a dense first layer: queries 2048→16·192, down 2048→576, up 512→16·256,
  // output 16·128→2048, gated 3·2048·10944; scores 2·(192+128)·16 a token and key.
  const Model model = built_in("deepseek-v2-lite");
  const double matrices =
      2048.0 * 3072 + 2048.0 * 576 + 512.0 * 4096 + 2048.0 * 2048 + 3 * 2048.0 * 10944;
  const double expected = 100 * (2 * matrices + 2.0 * 320 * 16 * 100);
  EXPECT_DOUBLE_EQ(
      layer_forward_flops(model, model.kinds[model.pattern[0]], 100, AttentionFlops::full).value(),
      expected);
}

TEST(ForwardFlops, OfAPredictionModuleAddALayerAProjectionAndAHead) {
  const Model with = built_in("deepseek-v3");
  Model without = with;
  without.prediction_layers = 0;
  const double s = 4096;
  const double extra =
      layer_forward_flops(with, with.kinds[with.pattern.back()], 4096, AttentionFlops::causal)
          .value() +
      s * (2 * 2.0 * 7168 * 7168 + 2.0 * 7168 * 129280);
  EXPECT_NEAR(forward_flops(with, 4096, AttentionFlops::causal).value() -
                  forward_flops(without, 4096, AttentionFlops::causal).value(),
              extra, extra * 1e-9);
}

TEST(ForwardFlops, OfANarrowEmbeddingPassItsProjections) {
  // OPT-350M: 512→1024 before and 1024→512 after the layers, head 512·50272.
  const Model model = built_in("opt-350m");
  Model no_layers = model;
  no_layers.pattern.clear();
  EXPECT_DOUBLE_EQ(forward_flops(no_layers, 10, AttentionFlops::full).value(),
                   10 * (2 * 2.0 * 512 * 1024 + 2.0 * 512 * 50272));
}

// [MODEL-5]
TEST(SixN, CountsActiveParameters) {
  EXPECT_DOUBLE_EQ(six_n_flops(built_in("gpt2"), 1000).value(), 6.0 * 124'439'808 * 1000);
  EXPECT_DOUBLE_EQ(six_n_flops(built_in("mixtral-8x7b"), 10).value(), 6.0 * 12'879'925'248 * 10);
}

// [MODEL-4]
TEST(MeanKeys, AreTheSequenceTheWindowOrTheCausalHalf) {
  EXPECT_DOUBLE_EQ(mean_keys(2048, 0, AttentionFlops::full), 2048);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 0, AttentionFlops::causal), 1024);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 512, AttentionFlops::full), 512);
  EXPECT_DOUBLE_EQ(mean_keys(2048, 8192, AttentionFlops::causal), 1024);
  // A band of 512 below the diagonal of 2048: (512·2048 − 512²/2) / 2048.
  EXPECT_DOUBLE_EQ(mean_keys(2048, 512, AttentionFlops::causal), 448);
}

RC_GTEST_PROP(MeanKeys, CausalLiesBetweenHalfAndAllOfFull, ()) {
  const auto sequence = *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  const auto window = *rc::gen::inRange<std::int64_t>(0, 2'000'000);
  const double full = mean_keys(sequence, window, AttentionFlops::full);
  const double causal = mean_keys(sequence, window, AttentionFlops::causal);
  RC_ASSERT(causal >= full / 2 - 1e-9);
  RC_ASSERT(causal <= full);
}

// Each weight of a matrix is used once a token: without scores, FLOPs are 2·(active matrices), so
// between one sequence length and the next only scores grow faster than the tokens.
RC_GTEST_PROP(ForwardFlops, AreTwoForEachActiveMatrixValueAndTokenPlusScores, ()) {
  const Model model = random_model();
  const auto s = *rc::gen::inRange<std::int64_t>(1, 100'000);
  double matrices = static_cast<double>(model.hidden * model.vocabulary);
  for (const Linear& linear : linears(model.kinds[0], model.hidden)) {
    const double copies =
        is_expert(linear.role) ? static_cast<double>(model.kinds[0].experts->active) : 1;
    matrices += static_cast<double>(model.layers()) * copies *
                static_cast<double>(linear.weights() - (linear.bias ? linear.out : 0));
  }
  const Attention& attention = *model.kinds[0].attention;
  const auto tokens = static_cast<double>(s);
  const double scores = 4.0 * static_cast<double>(attention.heads * attention.head_dim) * tokens *
                        tokens * static_cast<double>(model.layers());
  const double expected = 2 * matrices * tokens + scores;
  RC_ASSERT(std::abs(forward_flops(model, s, AttentionFlops::full).value() - expected) <=
            1e-9 * expected);
}

}  // namespace
}  // namespace headway
