// Sums over ranks that each pair of accelerators has a link of its own for.
#include <gtest/gtest.h>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

// Of Llama 3 70B: the embedding and two sums in each of 80 layers; microseconds of one.
double sum_of_ranks(const char* cluster, std::int64_t ranks, std::int64_t sequences) {
  const Serving serving = testing::serving_of("llama-3-70b", cluster, ranks);
  const auto constants = serving_constants(serving.cluster);
  PassTime pass = time_of(serving, *constants, {.sequences = sequences, .cached = 1000});
  return pass[ServingPart::tp].value() * 1e6 / 161;
}

// [INFER-2] vLLM's kernels between four MI300X, three of whose seven links then lie between them
// (github.com/vllm-project/vllm/pull/19744): 256 KiB 14.4 us, 2 MiB 36.6, 8 MiB 118; between eight
// MI355X (pull/39080): 192 KiB 10.0, 768 KiB 16.0, 1.5 MiB 24.2. Tokens of 16 KiB each. No constant
// is fitted on them.
TEST(Mesh, OfFewerRanksHasFewerLinks) {
  for (const auto& [tokens, measured] : {std::pair(16, 14.4), {128, 36.6}, {512, 118.0}}) {
    EXPECT_NEAR(sum_of_ranks("mi300x-8", 4, tokens) / measured, 1, 0.25) << tokens;
  }
  for (const auto& [tokens, measured] : {std::pair(12, 10.0), {48, 16.0}, {96, 24.2}}) {
    EXPECT_NEAR(sum_of_ranks("mi355x-8", 8, tokens) / measured, 1, 0.25) << tokens;
  }
}

}  // namespace
}  // namespace headway
