// What fits of caches, beside published counts; and what would make a serving fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "study/infer/search/change.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

using testing::serving_of;

Serving held(const char* model, const char* cluster, std::int64_t tp, double share) {
  Serving out = serving_of(model, cluster, tp);
  out.engine.memory = share;
  return out;
}

// Tokens that vLLM's logs say fit. RTX 4090: LLMServingSim's measurement; A100 40 GB: logs of a
// public benchmark of May 2026, 19.92 GiB of cache; two RTX 4090: vllm-project/vllm#13061, whose
// second rank has 1.2 GiB less than the first.
TEST(ServingMemory, LeavesRoomForAsManyTokensAsPublished) {
  const struct {
    const char *model, *cluster;
    std::int64_t tp;
    double share, tokens, within;
  } rows[] = {{"llama-3.1-8b", "rtx-4090-8", 1, 0.9, 41'408, 0.06},
              {"llama-3.1-8b", "dgx-a100-40gb", 1, 0.9, 163'168, 0.05},
              {"qwen2.5-14b", "rtx-4090-8", 2, 0.98, 81'536, 0.07}};
  for (const auto& row : rows) {
    const Serving serving = held(row.model, row.cluster, row.tp, row.share);
    EXPECT_NEAR(memory_of(serving, 4096).cached_tokens / row.tokens, 1, row.within)
        << row.model << " " << row.cluster;
  }
}

// [INFER-41] GiB that vLLM 0.19's graphs took of each H100 (github.com/jgchn/llm-d-planner,
// accuracy/results/v0.19.0), on which the two numbers of its form are fitted; and SGLang's of
// Qwen3-8B on B200, 52 of them.
TEST(ServingMemory, GraphsTakeAboutWhatWasLogged) {
  const struct {
    const char *engine, *model, *weights;
    std::int64_t tp, pp;
    double gib, count;
  } rows[] = {{"vllm", "llama-3.1-8b", "bf16", 1, 1, 0.91, 0},
              {"vllm", "llama-3.1-8b", "bf16", 1, 2, 0.65, 0},
              {"vllm", "llama-3.1-8b", "bf16", 1, 4, 0.51, 0},
              {"vllm", "llama-3.1-70b", "fp8", 4, 1, 1.66, 0},
              {"sglang", "qwen3-8b", "bf16", 1, 1, 0.60, 52}};
  for (const auto& row : rows) {
    Serving serving = serving_of(row.model, "dgx-h100", row.tp);
    serving.pp = row.pp;
    serving.engine = testing::engine_named(row.engine);
    if (row.count > 0) serving.engine.graphs.count = row.count;
    set_weights(serving, row.weights);
    const double gib = memory_of(serving, 1000).graphs.value() / (1 << 30);
    EXPECT_NEAR(gib / row.gib, 1, 0.25) << row.model << " pp " << row.pp << " tp " << row.tp;
    serving.eager = true;
    EXPECT_EQ(memory_of(serving, 1000).graphs, Bytes(0));
  }
}

// A sequence has whole blocks: one of 129 tokens three of 64, so that fewer fit; and what is told
// to fit is of whole blocks, as engines log it (the published counts above are of blocks of 16).
TEST(ServingMemory, IsInWholeBlocks) {
  Serving serving = held("llama-3.1-8b", "rtx-4090-8", 1, 0.9);
  serving.engine.policy.block = 1;
  const ServingMemory each = memory_of(serving, 129);
  serving.engine.policy.block = 64;
  const ServingMemory blocks = memory_of(serving, 129);
  EXPECT_DOUBLE_EQ(blocks.sequences_that_fit(129), each.cached_tokens / 192);
  EXPECT_DOUBLE_EQ(blocks.sequences_that_fit(128), each.cached_tokens / 128);
  EXPECT_EQ(std::fmod(blocks.cached_tokens, 64), 0);
  EXPECT_EQ(std::fmod(blocks.room(129), 64), 0);
  EXPECT_LT(each.cached_tokens - blocks.cached_tokens, 64);
  EXPECT_LE(blocks.cached_tokens, each.cached_tokens);
}

// The same in GiB of an engine that takes less: gpt-oss-20b on A100 80 GB at a share of 0.65,
// 13.72 GiB of weights and 36.56 of cache (vLLM 0.19).
TEST(ServingMemory, LeavesRoomForTheCacheOfMixturesAsPublished) {
  Serving serving = held("gpt-oss-20b", "dgx-a100-80gb", 1, 0.65);
  set_weights(serving, "mxfp4");
  const ServingMemory memory = memory_of(serving, 1000);
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(memory.weights.value() / gib / 13.72, 1, 0.1);
  EXPECT_NEAR((memory.capacity - memory.weights - memory.reserved).value() / gib / 36.56, 1, 0.03);
}

// [INFER-24] Qwen3-235B in 8 bits on four H100 by vLLM 0.9, which counted the trial of its sampler
// twice: 178,880 tokens. 1,024 sequences of 151,936 logits at 26 bytes, on each rank; a pass of
// 8,192 tokens needs less, and has given it back.
TEST(ServingMemory, VllmTriesItsSamplerWithTheWholeVocabulary) {
  Serving serving = held("qwen3-235b-a22b", "dgx-h100", 4, 0.9);
  set_weights(serving, "fp8");
  const ServingMemory memory = memory_of(serving, 1000);
  EXPECT_NEAR(memory.parts.head.value(), 1024.0 * 151936 * 26, 1);
  EXPECT_EQ(memory.parts.activations.value(), 0);
  const Bytes twice = memory.reserved + memory.parts.head;
  EXPECT_NEAR((memory.capacity - memory.weights - twice) / memory.cache_of_token / 178880, 1, 0.05);
}

// SGLang's share is of weights and cache: context and communicators are taken before it, passes
// have what is left.
TEST(ServingMemory, SglangsShareIsOfWeightsAndCacheAlone) {
  Serving serving = held("llama-3-8b", "dgx-h100", 2, 0.9);
  serving.engine = testing::engine_named("sglang");
  serving.engine.memory = 0.5;
  const ServingMemory memory = memory_of(serving, 1000);
  const Bytes before = memory.parts.context + memory.parts.communicators;
  const Bytes pool = 0.5 * (serving.cluster.accelerator.memory - before) - memory.weights;
  EXPECT_NEAR(memory.cached_tokens, pool / memory.cache_of_token, 1);
}

// TensorRT-LLM's is of what weights, context, communicators and a pass leave.
TEST(ServingMemory, TensorRtsShareIsOfWhatIsFreeBesideWeightsAndPasses) {
  Serving serving = held("llama-3-8b", "dgx-h100", 2, 0.9);
  serving.engine = testing::engine_named("tensorrt-llm");
  serving.engine.memory = 0.8;
  const ServingMemory memory = memory_of(serving, 1000);
  const Bytes free = serving.cluster.accelerator.memory - memory.weights - memory.reserved;
  EXPECT_NEAR(memory.cached_tokens, 0.8 * free / memory.cache_of_token, 32);  // a block
  EXPECT_NEAR((memory.capacity - memory.weights - memory.reserved) / free, 0.8, 1e-9);
  // 141 GB of weights: an engine takes no more than there is.
  serving.model = *load_model("llama-3-70b");
  serving.tp = 1;
  EXPECT_EQ(memory_of(serving, 1000).capacity, serving.cluster.accelerator.memory);
  EXPECT_LT(memory_of(serving, 1000).cached_tokens, 0);
}

// [INFER-24] By hand: 8,192 tokens of 2 x 4,096 and 3 x 14,336 values in 16 bit, 256 rows of
// 128,256 logits at 10 bytes, half of each by two ranks but the stream.
TEST(ServingMemory, ReservesWhatAPassNeedsAtItsWidest) {
  Serving serving = held("llama-3-8b", "dgx-h100", 1, 0.9);
  serving.engine.sampled = Bytes(0);
  const Reserved one = memory_of(serving, 1000).parts;
  EXPECT_NEAR(one.activations.value(), 8192.0 * 2 * (2 * 4096 + 3 * 14336), 1);
  EXPECT_NEAR(one.head.value(), 256.0 * 128256 * 10, 1);
  EXPECT_EQ(one.communicators.value(), 0);
  serving.tp = 2;
  const Reserved two = memory_of(serving, 1000).parts;
  EXPECT_NEAR(two.activations.value(), 8192.0 * 2 * (2 * 4096 + 3 * 7168), 1);
  EXPECT_GT(two.communicators.value(), 0);
  EXPECT_EQ(memory_of(serving, 1000).reserved.value(), two.total().value());
}

// [INFER-34] FasterTransformer's own table of GPT 6.7B on one A100, GiB: by hand a sequence is 544
// tokens of cache, 512 of 5 + 8 widths of 4,096 and one of 16,384 in 16 bits, logits twice in 32,
// and a fifth of all that. Its table has 25.88 GiB between 1 and 64 sequences, 4.98 between prompts
// of 128 and 512 tokens of 16 of them (with 24 tokens of output more).
TEST(ServingMemory, OfWholeBatchesGrowsByTheBuffersOfTheirPrompts) {
  Serving serving = held("gpt3-6.7b", "dgx-a100-80gb", 1, 1);
  serving.engine = testing::engine_named("fastertransformer");
  const double gib = 1024.0 * 1024 * 1024;
  const auto of_sequence = [&](std::int64_t input, std::int64_t output) {
    const ServingMemory memory = memory_of(serving, input + output, input);
    return (static_cast<double>(input + output) * memory.cache_of_token + memory.state_of_sequence)
        .value();
  };
  const double cache = 544.0 * 2 * 32 * 4096 * 2, buffers = 512.0 * 2 * (13 * 4096 + 16384);
  EXPECT_NEAR(of_sequence(512, 32), 1.2 * (cache + buffers + 8 * 51200), 1);
  EXPECT_NEAR(63 * of_sequence(512, 32) / gib / 25.88, 1, 0.05);
  EXPECT_NEAR(16 * (of_sequence(512, 32) - of_sequence(128, 8)) / gib / 4.98, 1, 0.05);
  const ServingMemory memory = memory_of(serving, 544, 512);
  EXPECT_EQ(memory.reserved.value(), serving.engine.reserved.value());
}

// [INFER-23]
TEST(SmallestChanges, EachMakeItFitAndNoSmallerOneOfTheirFlagDoes) {
  const Serving serving = held("llama-3-70b", "dgx-h100", 1, 0.9);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Load load{.input = 1000, .output = 500, .batch = 16};
  const auto changes = smallest_changes(serving, constants, load);
  ASSERT_FALSE(changes.empty());
  bool split = false;
  for (const ServingChange& change : changes) {
    ASSERT_EQ(change.flags.size(), 1U);
    Serving other = serving;
    const auto& [flag, value] = change.flags.front();
    if (flag == "weights") {
      EXPECT_TRUE(set_weights(other, value)) << value;
    }
    if (flag != "tp") continue;
    split = true;
    other.tp = std::stoll(value);
    EXPECT_TRUE(served(other, constants, load).fits);
    // 141 GB and 16 sequences of 0.49 GB over one rank fewer.
    while (--other.tp > 1) {
      EXPECT_FALSE(check(other).empty() && served(other, constants, load).fits) << other.tp;
    }
  }
  EXPECT_TRUE(split);
}

TEST(SmallestChanges, AreFewerSequencesWhereTheCacheIsTooLarge) {
  const Serving serving = held("llama-3-8b", "dgx-h100", 1, 0.9);
  const ServingConstants constants = *serving_constants(serving.cluster);
  Load load{.input = 4000, .output = 1000, .batch = 1000};
  const auto changes = smallest_changes(serving, constants, load);
  const auto batch = std::find_if(changes.begin(), changes.end(), [](const ServingChange& each) {
    return each.flags.front().first == "batch";
  });
  ASSERT_NE(batch, changes.end());
  load.batch = std::stoll(batch->flags.front().second);
  EXPECT_TRUE(served(serving, constants, load).fits);
  ++load.batch;
  EXPECT_FALSE(served(serving, constants, load).fits);
}

TEST(SmallestChanges, AreNoneWhereNothingHelps) {
  Serving serving = held("megatron-1t", "dgx-h100", 1, 0.9);
  serving.cluster.accelerators = 2;
  const ServingConstants constants = *serving_constants(serving.cluster);
  EXPECT_TRUE(smallest_changes(serving, constants, {.input = 100, .output = 10}).empty());
}

// [INFER-4] Known bytes of a token in the cache: 2·layers·heads·128·2 B, of DeepSeek-V3 61·576·2 B,
// which every rank holds whole.
TEST(ServingMemory, OfATokenIsItsKeysAndValues) {
  const auto of = [](const Serving& s) { return memory_of(s, 4096).cache_of_token; };
  EXPECT_EQ(of(serving_of("llama-2-7b", "dgx-h100")), Bytes(2 * 32 * 32 * 128 * 2));
  EXPECT_EQ(of(serving_of("llama-3-8b", "dgx-h100")), Bytes(2 * 32 * 8 * 128 * 2));
  EXPECT_EQ(of(serving_of("llama-3-70b", "dgx-h100", 8)), Bytes(2 * 80 * 128 * 2));
  EXPECT_EQ(of(serving_of("deepseek-v3", "dgx-h200")), Bytes(61 * 576 * 2));
  EXPECT_EQ(of(serving_of("deepseek-v3", "dgx-h200", 8)), Bytes(61 * 576 * 2));
  Serving small = serving_of("llama-3-8b", "dgx-h100");
  small.cache = cache_format("fp8");
  EXPECT_EQ(of(small), Bytes(2 * 32 * 8 * 128));
}

// [INFER-5] 8.03 G weights of two bytes, what the engine and the driver take beside them (26
// bytes of each logit of 1,024 sequences, more than the 839 MB of a pass of 8,192 tokens, and half
// a GiB), of 90 % of 80 GiB; 131,072 B a token.
TEST(ServingMemory, HoldsTheTokensThatWeightsAndEngineLeaveRoomFor) {
  const Serving serving = serving_of("llama-3-8b", "dgx-h100");
  const ServingMemory memory = memory_of(serving, 8192);
  EXPECT_NEAR(memory.weights.value(), 2 * 8.03e9, 0.01e9);
  const double beside = 1024.0 * 26 * 128256 + 536870912;
  const double left =
      0.9 * serving.cluster.accelerator.memory.value() - memory.weights.value() - beside;
  EXPECT_NEAR(memory.cached_tokens, left / 131072, 1);
}

// Embedding and head in the format of activations: 4 bytes of 32-bit training's recipe.
TEST(ServingMemory, OfTheEndsIsInTheFormatOfActivations) {
  Serving serving = serving_of("llama-2-7b", "dgx-h100");
  serving.weights = recipe_from("fp32");
  EXPECT_NEAR(memory_of(serving, 4096).weights.value(), 4 * 6.738e9, 0.01e9);
}

}  // namespace
}  // namespace headway
