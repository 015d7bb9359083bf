// Models whose attention reads keys that an indexer chooses [INFER-26].
#include <gtest/gtest.h>

#include "study/infer/items.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving sparse_on(const std::string& cluster, const std::string& weights = "fp8-block") {
  return testing::serving_of("deepseek-v3.2", cluster, 8, weights);
}

Seconds attention(const Serving& serving, const PassWork& work) {
  return time_of(serving, *serving_constants(serving.cluster), work)[ServingPart::attention];
}

// Of each of 61 layers 576 values in 16 bits, and a key of 128 bytes with a scale of 4, whatever
// the cache's format and the ranks.
TEST(ChosenKeys, KeepAnIndexersKeyOfEachTokenBesideTheCache) {
  Serving serving = sparse_on("dgx-h200");
  EXPECT_NEAR(memory_of(serving, 4096).cache_of_token.value(), 61 * (576 * 2 + 132), 1e-6);
  serving.cache = cache_format("fp8");
  EXPECT_NEAR(memory_of(serving, 4096).cache_of_token.value(), 61 * (576 + 132), 1e-6);
}

// Beyond 2,048 tokens a sequence adds what its keys of the indexer and their scores are: 140 bytes
// a token in place of the 1,152 of attention over all.
TEST(ChosenKeys, GrowWithTheIndexersKeysAloneBeyondThoseThatAreKept) {
  const Serving serving = sparse_on("dgx-h200");
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto decoding = [&](std::int64_t cached) {
    return attention(serving, {.sequences = 64, .tokens = 1, .cached = cached}).value();
  };
  const double bandwidth =
      serving.cluster.accelerator.memory_bandwidth.value() * constants.kernels.latent.memory;
  const double more = 61 * 64 * 16'384 * 140.0 / bandwidth;
  EXPECT_NEAR((decoding(32'768) - decoding(16'384)) / more, 1, 1e-6);
}

// A prompt of no more tokens than are kept is passed as by the model without the indexer.
TEST(ChosenKeys, OfAShortPromptAreAllOfThem) {
  Serving serving = sparse_on("dgx-h200");
  Serving dense = serving;
  for (Layer& layer : dense.model.kinds) layer.attention->indexer.reset();
  const PassWork brief{.tokens = 2048, .replayed = false};
  EXPECT_EQ(attention(serving, brief), attention(dense, brief));
  // A long one takes less than attention over all does; not where heads are split over ranks, each
  // of which scores all keys.
  const PassWork tall{.tokens = 131'072, .replayed = false};
  EXPECT_GT(attention(serving, tall), attention(dense, tall));
  serving.tp = dense.tp = 1;
  EXPECT_LT(attention(serving, tall), 0.5 * attention(dense, tall));
}

TEST(ChosenKeys, OfSplitPromptsAreRefused) {
  Serving serving = sparse_on("dgx-h200");
  EXPECT_TRUE(check(serving).empty());
  serving.tp = 4;
  serving.cp = 2;
  ASSERT_EQ(check(serving).size(), 1U);
  EXPECT_EQ(check(serving).front().fields.front().name, "cp");
}

// Both down projections of DeepSeek-V3, 1,536 and 512 + 64 columns, are one product of a pass.
TEST(DownProjections, AreOneProduct) {
  const Serving serving = testing::serving_of("deepseek-v3", "dgx-h200", 8, "fp8-block");
  std::vector<PassItem> items;
  time_of(serving, *serving_constants(serving.cluster), {.sequences = 4, .tokens = 1, .cached = 1},
          items);
  double joint = 0, apart = 0;
  for (const PassItem& item : items) {
    const auto* op = std::get_if<Op>(&item.what);
    const auto* product = op != nullptr ? std::get_if<Matmul>(&op->shape) : nullptr;
    if (product == nullptr || product->k != 7168) continue;
    if (product->n == 1536 + 576) joint += item.count;
    if (product->n == 1536 || product->n == 576) apart += item.count;
  }
  EXPECT_EQ(joint, 61);
  EXPECT_EQ(apart, 0);
}

// [INFER-20] Checkpoints of 4 bits whose attention stays in 16.
TEST(ExpertsInFourBits, LeaveAttentionInSixteen) {
  const Serving serving = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp4-experts");
  EXPECT_TRUE(check(serving).empty());
  std::vector<PassItem> items;
  const PassWork work{.sequences = 4, .tokens = 1, .cached = 1};
  time_of(serving, *serving_constants(serving.cluster), work, items);
  for (const PassItem& item : items) {
    const auto* op = std::get_if<Op>(&item.what);
    if (op != nullptr && std::holds_alternative<Matmul>(op->shape)) {
      EXPECT_EQ(op->precision, Precision::bf16);
    }
  }
  const Serving all = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp4");
  EXPECT_GT(memory_of(serving, 4096).weights, memory_of(all, 4096).weights);
  // There is no such arithmetic on Hopper.
  const Serving hopper = testing::serving_of("deepseek-v3", "dgx-h200", 8, "fp4-experts");
  ASSERT_EQ(check(hopper).size(), 1U);
  EXPECT_EQ(check(hopper).front().fields.front().name, "weights");
}

// [INFER-27] Products of few rows in 4 bits take the shorter of one sum over k and of two halves
// beside each other with a pass that adds them up; those of more rows one.
TEST(ProductsOfFewRows, AreSplitWhereThatIsShorter) {
  const Serving serving = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp4");
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Accelerator& accelerator = serving.cluster.accelerator;
  const KernelParameters& kernels = constants.alone.kernels;
  for (const std::int64_t rows : {8, 512}) {
    std::vector<PassItem> items;
    time_of(serving, constants, {.sequences = rows, .tokens = 1, .cached = 1000}, items);
    int products = 0, shorter = 0;
    for (const PassItem& item : items) {
      const Op* op = std::get_if<Op>(&item.what);
      const Matmul* product = op == nullptr ? nullptr : std::get_if<Matmul>(&op->shape);
      if (product == nullptr || product->batch > 1 || op->routed ||
          op->precision != Precision::fp4) {
        continue;
      }
      ++products;
      const Seconds whole =
          matmul_time(*product, op->precision, accelerator, kernels, 0, Scaling::whole);
      EXPECT_LE(item.each, whole * (1 + 1e-9));
      shorter += item.each < whole * (1 - 1e-9) ? 1 : 0;
    }
    EXPECT_GT(products, 0) << rows;
    EXPECT_EQ(shorter > 0, rows == 8) << rows;
  }
}

// One row times 7,168 x 2,048 in 16 bits takes a B200 8.9 us (aiconfigurator@095f58a, cuBLAS by
// TensorRT-LLM), which a sum of 7,168 in one place would take 11; 8,192 x 1,024 has tiles for most
// units, and is not split: 4.2 us. DeepSeek's have 2,112 columns and 1,536 x 3,072.
TEST(ProductsOfFewRows, OfFewColumnsTakeWhatWasMeasured) {
  const Serving serving = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp4-experts");
  const ServingConstants constants = *serving_constants(serving.cluster);
  std::vector<PassItem> items;
  time_of(serving, constants, {.sequences = 1, .tokens = 1, .cached = 1000}, items);
  int down = 0, up = 0;
  for (const PassItem& item : items) {
    const Op* op = std::get_if<Op>(&item.what);
    const Matmul* product = op == nullptr ? nullptr : std::get_if<Matmul>(&op->shape);
    if (product == nullptr || product->batch > 1) continue;
    const Seconds whole = matmul_time(*product, op->precision, serving.cluster.accelerator,
                                      constants.alone.kernels, 0, Scaling::whole);
    if (product->n == 2112 && product->k == 7168) {
      EXPECT_NEAR(item.each.value() / (8.9e-6 * 2112 / 2048), 1, 0.1);
      EXPECT_LT(item.each, 0.9 * whole);
      ++down;
    }
    if (product->n == 3072 && product->k == 1536) {
      EXPECT_NEAR(item.each / whole, 1, 1e-9);
      ++up;
    }
  }
  EXPECT_GE(down, 1);
  EXPECT_GE(up, 1);
}

}  // namespace
}  // namespace headway
