#include "cost/serving/sparse.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"

namespace headway {
namespace {

constexpr KeyIndexer kLightning{.heads = 64, .head_dim = 128, .keep = 2048};  // DeepSeek-V3.2

// [INFER-26] Query by query: the i-th of a sequence sees i keys and keeps 2,048 of them at most.
RC_GTEST_PROP(SparseWork, CountsWhatEachQuerySeesAndKeeps, ()) {
  const SparseWork work{.sequences = *rc::gen::inRange<std::int64_t>(1, 5),
                        .queries = *rc::gen::inRange<std::int64_t>(1, 400),
                        .before = *rc::gen::inRange<std::int64_t>(0, 400)};
  const auto most = *rc::gen::inRange<std::int64_t>(1, 500);
  std::int64_t seen = 0, kept = 0;
  for (std::int64_t i = work.before + 1; i <= work.before + work.queries; ++i) {
    seen += i;
    kept += std::min(i, most);
  }
  RC_ASSERT(work.scored() == static_cast<double>(work.sequences * seen));
  RC_ASSERT(work.kept(most) == static_cast<double>(work.sequences * kept));
}

// 64 sequences of 32,768 tokens, one query each: keys of 132 bytes, 277 MB, scores of 8 bytes to
// and fro, 17 MB; 34 GFLOP in 8 bits, a hundredth of what reading takes.
TEST(IndexTime, OfDecodedTokensIsReadingTheKeysOfTheirSequences) {
  const Accelerator h200 = *load_accelerator("h200");
  const auto serving = serving_kernels_for(h200);
  const auto sparse = sparse_kernels_for(h200);
  ASSERT_TRUE(serving && sparse);
  const KernelParameters kernels;
  const SparseWork work{.sequences = 64, .queries = 1, .before = 32'767};
  const double bandwidth = h200.memory_bandwidth.value() * serving->latent.memory;
  const double read = 64 * 32'768 * 132.0 / bandwidth, scores = 64 * 32'768 * 8.0 / bandwidth;
  const Seconds time = index_time(work, kLightning, h200, kernels, *serving, *sparse);
  EXPECT_NEAR(time.value() - 2 * kernels.shortest_kernel.value(), read + scores, 1e-9);
}

// A prompt of 16,384: half a square of scores, 2.2 TFLOP.
TEST(IndexTime, OfALongPromptIsItsScoresInEightBits) {
  const Accelerator h200 = *load_accelerator("h200");
  const auto serving = serving_kernels_for(h200);
  const auto sparse = sparse_kernels_for(h200);
  ASSERT_TRUE(serving && sparse);
  const KernelParameters kernels;
  const SparseWork work{.queries = 16'384, .prompt = true};
  const double pairs = 16'384.0 * 16'385 / 2;
  const double flops = 2 * 64 * 128 * pairs;
  EXPECT_DOUBLE_EQ(headway::work(work, kLightning).value(), flops);
  const double bandwidth = h200.memory_bandwidth.value() * serving->latent.memory;
  const double expected =
      flops / (h200.peak_of(Precision::fp8).value() * sparse->prompt_rate) + 8 * pairs / bandwidth;
  EXPECT_NEAR(
      (index_time(work, kLightning, h200, kernels, *serving, *sparse) - 2 * kernels.shortest_kernel)
          .value(),
      expected, 1e-9);
}

// Eight heads of a rank take what 64 take on Hopper, 128 on Blackwell; beyond the keys that are
// kept a longer sequence takes no longer.
TEST(ChosenTime, PadsHeadsAndDoesNotGrowBeyondTheKeysThatAreKept) {
  for (const char* name : {"h200", "b200"}) {
    const Accelerator accelerator = *load_accelerator(name);
    const auto serving = serving_kernels_for(accelerator);
    const auto sparse = sparse_kernels_for(accelerator);
    ASSERT_TRUE(serving && sparse);
    EXPECT_TRUE(sparse->measured);
    const auto time = [&](std::int64_t heads, std::int64_t before) {
      const ChosenKeys chosen{.heads = heads, .width = 1088, .keep = 2048, .key_bytes = Bytes(576)};
      return chosen_time({.sequences = 64, .queries = 1, .before = before}, chosen, accelerator,
                         *serving, *sparse)
          .value();
    };
    EXPECT_DOUBLE_EQ(time(8, 8191), time(sparse->heads, 8191));
    EXPECT_GT(time(sparse->heads + 1, 8191), 1.5 * time(8, 8191));
    EXPECT_DOUBLE_EQ(time(8, 2047), time(8, 100'000));
    EXPECT_LT(time(8, 1023), time(8, 2047));
  }
}

TEST(SparseKernels, OfOtherArchitecturesAreEstimates) {
  EXPECT_FALSE(sparse_kernels_for(*load_accelerator("mi300x"))->measured);
}

}  // namespace
}  // namespace headway
