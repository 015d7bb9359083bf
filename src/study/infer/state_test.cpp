// Layers that keep a state in place of a cache [INFER-21].
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "study/infer/items.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving hybrid(std::int64_t tp) {
  return testing::serving_of("qwen3.5-397b-a17b", "dgx-h200", tp, "fp8");
}

// Three layers of four: 45 of 64 heads with 128 x 128 values of 4 bytes, 4.19 MB a layer, and three
// taps of 2 x 2,048 + 8,192 channels in 16 bit; over 8 ranks. 15 layers cache 2 x 256 values twice.
TEST(StateLayers, KeepSoMuchOfASequenceWhateverItsLength) {
  const ServingMemory memory = memory_of(hybrid(8), 4096);
  const double state = 64 * 128 * 128 * 4.0, taps = 3 * 2.0 * (2 * 16 * 128 + 64 * 128);
  EXPECT_NEAR(memory.state_of_sequence.value(), 45 * (state + taps) / 8, 1);
  EXPECT_EQ(memory_of(hybrid(8), 100'000).state_of_sequence, memory.state_of_sequence);
  EXPECT_NEAR(memory_of(hybrid(2), 4096).cache_of_token.value(), 15 * 2 * 256 * 2, 1);
}

// A sequence that fits takes its tokens and its state.
TEST(StateLayers, TakeRoomFromSequences) {
  // Whole blocks of 16 tokens.
  const ServingMemory memory = memory_of(hybrid(8), 1008);
  const double sequences = memory.sequences_that_fit(1008);
  const Bytes room = memory.capacity - memory.weights - memory.reserved;
  const Bytes each = 1008 * memory.cache_of_token + memory.state_of_sequence;
  EXPECT_NEAR(sequences / (room / each), 1, 1e-9);
  EXPECT_LT(sequences, memory.cached_tokens / 1008);
}

// Of a long context a token costs what the layers with a cache read: twice as much cached takes
// less than twice as long, by the state's part; and a state is read and written once a token.
TEST(StateLayers, TakeTheSameTimeForATokenAtAnyContext) {
  const Serving serving = hybrid(8);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto attention = [&](std::int64_t sequences, std::int64_t cached) {
    PassTime pass =
        time_of(serving, constants, {.sequences = sequences, .tokens = 1, .cached = cached});
    return pass[ServingPart::attention].value();
  };
  const double moved = 2 * 45 * 64 * 128 * 128 * 4.0 / 8;  // bytes a sequence, without taps
  const double bandwidth = 4.8e12 * constants.kernels.decode.memory;
  const double none = attention(512, 1) - attention(256, 1);
  EXPECT_NEAR(none / (256 * moved / bandwidth), 1, 0.1);
  EXPECT_LT(attention(256, 8000), 8 * attention(256, 1000));
}

// Of a model without any cache as many sequences fit whatever their length.
TEST(StateLayers, AloneLimitSequencesAndNotTokens) {
  const Serving serving = testing::serving_of("mamba-codestral-7b", "dgx-h100");
  EXPECT_TRUE(check(serving).empty());
  const ServingMemory memory = memory_of(serving, 1000);
  EXPECT_EQ(memory.cache_of_token, Bytes(0));
  // 64 layers, 128 heads of 128 x 64 numbers of 4 bytes; three taps of 8,192 + 2 x 8 x 128
  // channels.
  const double state = 64 * (128 * 128 * 64 * 4.0 + 3 * 2.0 * (8192 + 2 * 8 * 128));
  EXPECT_NEAR(memory.state_of_sequence.value() / state, 1, 1e-9);
  const double sequences = memory.free.value() / state;
  EXPECT_NEAR(memory.sequences_that_fit(1000) / sequences, 1, 1e-9);
  EXPECT_NEAR(memory_of(serving, 100'000).sequences_that_fit(100'000) / sequences, 1, 1e-9);
  EXPECT_NEAR(memory.cached_tokens / (1000 * sequences), 1, 1e-9);
}

// Falcon Mamba: in 64 layers of 8,192 channels a token of each sequence reads and writes 16 numbers
// of 4 bytes a channel and three taps of 2; a prompt leaves them on the chip.
TEST(SelectiveLayers, ReadAndWriteTheirStateForEachToken) {
  const Serving serving = testing::serving_of("falcon-mamba-7b", "dgx-h100");
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto attention = [&](const PassWork& work) {
    PassTime pass = time_of(serving, constants, work);
    return pass[ServingPart::attention].value();
  };
  const double moved = 2.0 * 64 * 8192 * (16 * 4 + 3 * 2);
  const double bandwidth = serving.cluster.accelerator.memory_bandwidth.value();
  const double more =
      attention({.sequences = 512, .tokens = 1}) - attention({.sequences = 256, .tokens = 1});
  EXPECT_NEAR(more / (256 * moved / (bandwidth * constants.kernels.decode.memory)), 1, 1e-6);
  EXPECT_EQ(attention({.sequences = 4, .tokens = 1000}), 0);
}

// Over ranks of tensor parallelism each makes a part of the sums that rates, keys and queries are:
// beside its output that is a second sum of a layer.
TEST(SelectiveLayers, AreSummedOverRanksTwice) {
  const Serving serving = testing::serving_of("falcon-mamba-7b", "dgx-h100", 4);
  EXPECT_TRUE(check(serving).empty());
  std::vector<PassItem> items;
  time_of(serving, *serving_constants(serving.cluster), {.sequences = 8, .tokens = 1}, items);
  double sums = 0;
  Bytes smaller(INFINITY);
  for (const PassItem& item : items) {
    const auto* call = std::get_if<Call>(&item.what);
    if (call == nullptr || item.block != BlockKind::layer) continue;
    sums += item.count;
    smaller = std::min(smaller, call->bytes);
  }
  EXPECT_EQ(sums, 2 * 64);
  EXPECT_EQ(smaller, Bytes(8 * (256 + 2 * 16) * 2));  // 8 tokens in 16 bits
  EXPECT_NEAR(memory_of(serving, 100).state_of_sequence.value(), 64 * 8192 / 4 * (16 * 4 + 3 * 2),
              1);
}

// Nemotron-H: of 52 layers 24 are of Mamba 2, 24 feed forward and 4 attend; these four alone cache
// 8 heads of 2 x 128 values in 16 bits.
TEST(LayersOfHalves, AreServedForWhatTheyAre) {
  const Serving serving = testing::serving_of("nemotron-h-8b", "dgx-h100");
  EXPECT_TRUE(check(serving).empty());
  const ServingMemory memory = memory_of(serving, 4096);
  EXPECT_EQ(memory.cache_of_token, Bytes(4 * 8 * 2 * 128 * 2));
  EXPECT_NEAR(memory.weights.value(), 2 * 8.1e9, 0.1e9);
  EXPECT_NEAR(memory.state_of_sequence.value(),
              24 * (128 * 64 * 128 * 4.0 + 3 * 2.0 * (128 * 64 + 2 * 8 * 128)), 1);
  EXPECT_EQ(gaps_of_layers(serving),
            26 * gap_of_layer(serving.engine, serving.cluster.accelerator));
}

}  // namespace
}  // namespace headway
