// Layers that keep a state in place of a cache [INFER-21].
#include <gtest/gtest.h>

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
  const ServingMemory memory = memory_of(hybrid(8), 1000);
  const double sequences = memory.sequences_that_fit(1000);
  const Bytes room = memory.capacity - memory.weights - memory.reserved;
  const Bytes each = 1000 * memory.cache_of_token + memory.state_of_sequence;
  EXPECT_NEAR(sequences / (room / each), 1, 1e-9);
  EXPECT_LT(sequences, memory.cached_tokens / 1000);
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

TEST(StateLayers, AreServedBesideOthersAndNotAlone) {
  Serving serving = hybrid(8);
  EXPECT_TRUE(check(serving).empty());
  for (Layer& layer : serving.model.kinds) {
    if (layer.attention && !layer.attention->linear) {
      layer.attention->linear = LinearAttention{};
    }
  }
  EXPECT_FALSE(check(serving).empty());
}

}  // namespace
}  // namespace headway
