#include "cost/serving/serving.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

Accelerator h100() {
  return *load_accelerator("h100-sxm");
}

// [INFER-1] 64 sequences of 8,192 tokens, 8 heads of 128 twice in 16 bit: 2.1 GB at 3.35 TB/s take
// 0.64 ms; their products, 8 query heads for each, 69 GFLOP, a ninth of that at the peak.
TEST(CachedAttention, OfManyTokensTakesWhatItsCacheTakesToRead) {
  const auto kernels = serving_kernels_for(h100());
  ASSERT_TRUE(kernels);
  CachedAttention shape{.sequences = 64, .keys = 8192, .heads = 64, .width = 256};
  shape.cached_of_token = Bytes(8 * 256 * 2);
  const Seconds read = Bytes(64 * 8192 * 8 * 256 * 2.0) / h100().memory_bandwidth;
  EXPECT_NEAR(read.value(), 0.64e-3, 0.01e-3);
  const Seconds time = cached_attention_time(shape, h100(), *kernels);
  EXPECT_NEAR((time - kernels->decode.start).value(), read.value() / kernels->decode.memory, 1e-9);
}

// [INFER-1] DeepSeek-V3's 128 heads on one rank, 2·128·1,088 FLOPs for 1,152 B: 242 a byte, near
// H100's 295 of products and bandwidth, so that both sides count.
TEST(CachedAttention, OfLatentHeadsIsNearTheRidge) {
  const auto kernels = serving_kernels_for(h100());
  ASSERT_TRUE(kernels);
  CachedAttention shape{.sequences = 128, .keys = 4096, .heads = 128, .width = 2 * 512 + 64};
  shape.cached_of_token = Bytes(576 * 2);
  shape.latent = true;
  const double flops = 128.0 * 4096 * 128 * 2 * 1088;
  const double peak = h100().peak_of(Precision::bf16).value();
  const double time =
      (cached_attention_time(shape, h100(), *kernels) - kernels->latent.start).value();
  EXPECT_NEAR(time, flops / (peak * kernels->latent.rate), 1e-9);
  shape.heads = 16;  // of 8 ranks, which read the same cache
  const double bytes = 128.0 * 4096 * 1152 / h100().memory_bandwidth.value();
  EXPECT_NEAR((cached_attention_time(shape, h100(), *kernels) - kernels->latent.start).value(),
              bytes / kernels->latent.memory, 1e-9);
}

// [INFER-32] Twice the tokens at 1,024 of them: the start once, passes twice, scores of the
// triangle fourfold, what each row takes twice.
TEST(PromptAttention, IsAStartPassesAndScores) {
  const auto kernels = serving_kernels_for(h100());
  const auto flash = kernel_parameters_for(h100());
  ASSERT_TRUE(kernels && flash);
  const auto time = [&](std::int64_t tokens, std::int64_t heads, Precision precision) {
    const PromptAttention prompt{{1, heads, heads, tokens, tokens, 128, 128}, precision};
    return prompt_attention_time(prompt, h100(), *flash, *kernels).value();
  };
  EXPECT_NEAR(time(1, 1, Precision::bf16), kernels->prompt.start.value(), 4e-6);
  // 64 heads of 32,768 tokens: 17.6 TFLOP of the triangle at the rate that wide heads keep, within
  // a tenth for all else.
  const double scores = 64 * (32768.0 * 32768 / 2);
  const double rate = h100().peak_of(Precision::bf16).value() * kernels->prompt.rate * 128 /
                      (128 + flash->softmax_width);
  const double least = scores * 512 / rate;
  EXPECT_GT(time(32768, 64, Precision::bf16), least);
  EXPECT_LT(time(32768, 64, Precision::bf16), 1.1 * least);
  // 8 bits are faster, and by less than products are.
  EXPECT_LT(time(32768, 64, Precision::fp8), time(32768, 64, Precision::bf16));
  EXPECT_GT(time(32768, 64, Precision::fp8), 0.5 * time(32768, 64, Precision::bf16));
}

// [INFER-2] Between 8 H100 on NVLink, measured (microseconds; data/serving/kernels.toml says on
// what): 16 KiB 3.6 and 5.3, 512 KiB 12.0 and 17.6, 1 MiB 15.0 and 26.0 by two engines.
TEST(OwnAllReduce, IsAsEnginesMeasureIt) {
  const auto kernels = serving_kernels_for(h100());
  ASSERT_TRUE(kernels);
  const auto time = [&](double bytes) {
    return own_all_reduce_time(Bytes(bytes), 8, BytesPerSecond(450e9), *kernels).value() * 1e6;
  };
  EXPECT_GT(time(16384), 3.2);
  EXPECT_LT(time(16384), 5.3);
  EXPECT_GT(time(524288), 9);
  EXPECT_LT(time(524288), 17.6);
  EXPECT_GT(time(1048576), 12);
  EXPECT_LT(time(1048576), 26);
}

// [INFER-2] No rank is done before what it must receive has crossed its link.
RC_GTEST_PROP(OwnAllReduce, IsNeverShorterThanItsBytesOverTheLink, ()) {
  const auto kernels = serving_kernels_for(h100());
  const auto ranks = *rc::gen::inRange<std::int64_t>(2, 9);
  const double bytes = static_cast<double>(*rc::gen::inRange(1, 1 << 26));
  const BytesPerSecond bandwidth(450e9);
  const Seconds time = own_all_reduce_time(Bytes(bytes), ranks, bandwidth, *kernels);
  const double p = static_cast<double>(ranks);
  RC_ASSERT(time >= Bytes(bytes * 2 * (p - 1) / p) / bandwidth);
}

TEST(OwnAllReduce, OfOneRankTakesNothing) {
  const auto kernels = serving_kernels_for(h100());
  ASSERT_TRUE(kernels);
  EXPECT_EQ(own_all_reduce_time(Bytes(1e6), 1, BytesPerSecond(450e9), *kernels), Seconds(0));
}

TEST(ServingKernels, OfAnArchitectureWithoutMeasurementsAreTheDefault) {
  const auto of = [](const char* accelerator) {
    return *serving_kernels_for(*load_accelerator(accelerator));
  };
  EXPECT_TRUE(of("h100-sxm").measured);
  const ServingKernels tpu = of("tpu-v5p"), gaudi = of("gaudi-2");
  EXPECT_FALSE(tpu.measured);
  EXPECT_EQ(tpu.decode.start, gaudi.decode.start);
  EXPECT_EQ(tpu.twice_share, gaudi.twice_share);
  EXPECT_NE(tpu.decode.start, of("a100-80gb").decode.start);
}

}  // namespace
}  // namespace headway
