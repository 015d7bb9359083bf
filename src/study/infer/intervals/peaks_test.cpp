// [INFER-29] What no kernel can beat.
#include "study/infer/intervals/peaks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

// DeepSeek-V3: FLOPs of a token in the eight experts of each of 58 layers, of three products of
// 7,168 by 2,048 each; and in all else of its layers, of which MLA has 187 M weights in each of 61,
// the shared expert 44 M in each of 58, and three layers 396 M; on one of eight ranks.
constexpr double kOfExperts = 2 * 58.0 * 8 * 3 * 7168 * 2048 / 8;
constexpr double kOfOthers = 2 * (61 * 187.1e6 + 58 * 44.04e6 + 3 * 396.4e6) / 8;

struct FourBits {
  Serving four = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp4-experts");
  Serving wide = testing::serving_of("deepseek-v3", "dgx-b200", 8, "bf16");
  ServingConstants constants = *serving_constants(four.cluster);
  double peak(Precision precision) const {
    return four.cluster.accelerator.peak_of(precision).value();
  }
};

// [INFER-20] [INFER-22] Experts of 4 bits multiply in 4 bits: that part of what is rated, and of
// the least time, is shorter by as much as the peaks differ.
TEST(LeastTime, OfExpertsInFourBitsIsOfTheirArithmetic) {
  const FourBits of;
  const PassWork work{.tokens = 16'384};
  const double narrow = 16'384 * kOfExperts / of.peak(Precision::fp4);
  const double wide = 16'384 * kOfExperts / of.peak(Precision::bf16);
  const double least = least_time(of.wide, of.constants, work).value() - wide + narrow;
  EXPECT_NEAR(least_time(of.four, of.constants, work).value() / least, 1, 0.01);
  const KernelParameters& kernels = of.constants.alone.kernels;
  const double rated = time_of(of.wide, of.constants, work).rated.value() -
                       wide / sustained_share(kernels, ProductFormat::bits_16) +
                       narrow / sustained_share(kernels, ProductFormat::bits_4);
  EXPECT_NEAR(time_of(of.four, of.constants, work).rated.value() / rated, 1, 0.01);
}

// [INFER-29] Of 4 bits a prompt is no shorter than peaks allow, and a pass no longer than of 16.
RC_GTEST_PROP(LeastTime, OfExpertsInFourBitsLiesBelowThePass, ()) {
  static const FourBits of;
  Serving four = of.four, wide = of.wide;
  four.ep = wide.ep = *rc::gen::element<std::int64_t>(1, 8);
  PassWork work;
  const bool prompt = *rc::gen::arbitrary<bool>();
  (prompt ? work.tokens : work.sequences) = *rc::gen::inRange(2, 8192);
  work.cached = prompt ? 0 : *rc::gen::inRange(1, 8000);
  const Seconds takes = time_of(four, of.constants, work).total();
  RC_ASSERT(takes <= time_of(wide, of.constants, work).total() * (1 + 1e-9));
  RC_ASSERT(takes >= least_time(four, of.constants, work));
  const double tokens = static_cast<double>(work.tokens * work.sequences);
  RC_ASSERT(takes.value() >=
            0.99 * tokens *
                (kOfExperts / of.peak(Precision::fp4) + kOfOthers / of.peak(Precision::bf16)));
}

// [INFER-26] Scores grow as the length squared, attention over what is kept as the length: of two
// lengths what is left is of scores alone, which are of 8 bits: 64 heads of 128 in 61 layers, on
// every rank, of half of all pairs.
TEST(LeastTime, OfAnIndexersScoresIsOfEightBits) {
  Serving serving = testing::serving_of("deepseek-v3.2", "dgx-h200", 8, "fp8-block");
  serving.ep = 8;
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto least = [&](std::int64_t tokens) {
    return least_time(serving, constants, {.tokens = tokens}).value();
  };
  const double pairs = 65'536.0 * 65'536.0;
  const double scores = 61 * 2.0 * 64 * 128 * pairs / 1979e12;
  EXPECT_NEAR((least(131'072) - 2 * least(65'536)) / scores, 1, 0.01);
}

// [INFER-12] Kernels of 2024 let each head of queries read its own keys on MI300X; a better one
// reads those of eight once: 64 sequences of 4,000 more tokens, 80 layers, 8 heads of 128, twice.
TEST(LeastTime, OfDecodingReadsTheCacheOnce) {
  Serving serving = testing::serving_of("llama-2-70b", "mi300x-8", 1);
  serving.engine = testing::engine_named("vllm-2024");
  ASSERT_GT(serving.engine.untuned.at("cdna3").attention, 0);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto least = [&](std::int64_t cached) {
    return least_time(serving, constants, {.sequences = 64, .cached = cached}).value();
  };
  const double bytes = 64 * 4000.0 * 80 * 2 * 8 * 128 * 2;
  EXPECT_NEAR((least(4100) - least(100)) / (bytes / 5.3e12), 1, 0.01);
}

}  // namespace
}  // namespace headway
