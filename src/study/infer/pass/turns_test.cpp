// [INFER-40] Halves in turn, against two streams that each take what is theirs as it comes.
#include "study/infer/pass/turns.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "study/infer/items.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

LayerParts layers_drawn(double count) {
  const auto seconds = [] { return Seconds(*rc::gen::inRange(1, 100)); };
  return {.count = count,
          .before = seconds(),
          .dispatch = seconds(),
          .experts = seconds(),
          .combine = seconds(),
          .after = seconds()};
}

Seconds one_after_the_other(const LayerParts& of) {
  return of.count * (of.before + of.dispatch + of.experts + of.combine + of.after);
}

// Work waits for the work before it, an exchange for the one before it, and both for the part of
// their own half that they follow.
class TwoStreams {
 public:
  double end_of(const LayerParts& a, const LayerParts& b) {
    work(0, a.before);
    for (int layer = 1; layer <= a.count; ++layer) {
      const bool ends = layer == a.count;
      send(0, a.dispatch);
      if (layer > 1) work(1, b.after);
      work(1, b.before);
      send(1, b.dispatch);
      work(0, a.experts);
      send(0, a.combine);
      work(1, b.experts);
      send(1, b.combine);
      work(0, a.after);
      if (!ends) work(0, a.before);
      if (ends) work(1, b.after);
    }
    return std::max(half_[0], half_[1]);
  }

 private:
  void work(int half, Seconds time) { run(work_, half, time); }
  void send(int half, Seconds time) { run(link_, half, time); }
  void run(double& stream, int half, Seconds time) {
    stream = half_[half] = std::max(stream, half_[half]) + time.value();
  }

  double work_ = 0, link_ = 0, half_[2] = {0, 0};
};

RC_GTEST_PROP(HalvesInTurn, AreNoFasterThanTwoStreamsAndNoSlowerThanOneAfterTheOther, ()) {
  const double count = *rc::gen::inRange(1, 8);
  const LayerParts a = layers_drawn(count), b = layers_drawn(count);
  const Seconds both = one_after_the_other(a) + one_after_the_other(b);
  const Seconds hidden = hidden_in_turns({a}, {b}, 1, 0);
  RC_ASSERT(hidden >= Seconds(0));
  RC_ASSERT((both - hidden).value() >= TwoStreams().end_of(a, b) - 1e-9);
  RC_ASSERT(hidden <= count * (a.dispatch + a.combine + b.dispatch + b.combine));
}

// Where each way is shorter than the work that it lies under, work never waits but at the ends.
RC_GTEST_PROP(HalvesInTurn, OfWaysShorterThanAllWorkAreTwoStreams, ()) {
  const double count = *rc::gen::inRange(1, 8);
  LayerParts a = layers_drawn(count), b = layers_drawn(count);
  for (LayerParts* half : {&a, &b}) {
    half->dispatch = half->dispatch * 0.01;
    half->combine = half->combine * 0.01;
  }
  const Seconds both = one_after_the_other(a) + one_after_the_other(b);
  const Seconds hidden = hidden_in_turns({a}, {b}, 1, 0);
  const double end = TwoStreams().end_of(a, b);
  RC_ASSERT(std::abs((both - hidden).value() - end) <= 1e-9 * end);
}

// Work that an exchange takes units from is done more slowly beside it: of one that holds a
// quarter, three quarters of its time are done; of all of them nothing.
TEST(HalvesInTurn, HideLessTheMoreUnitsAnExchangeHolds) {
  const LayerParts half{.count = 1,
                        .before = Seconds(100),
                        .dispatch = Seconds(8),
                        .experts = Seconds(100),
                        .combine = Seconds(4),
                        .after = Seconds(100)};
  EXPECT_EQ(hidden_in_turns({half}, {half}, 1, 0), Seconds(24));
  EXPECT_EQ(hidden_in_turns({half}, {half}, 1, 0.25), Seconds(18));
  EXPECT_EQ(hidden_in_turns({half}, {half}, 1, 1), Seconds(0));
}

// Four layers in four stages: between stages no half's way lies under the other's next layer.
TEST(HalvesInTurn, HaveNothingBehindTheLastLayerOfAStage) {
  const LayerParts half{.count = 4,
                        .dispatch = Seconds(8),
                        .experts = Seconds(1),
                        .combine = Seconds(8),
                        .after = Seconds(5)};
  const Seconds under_experts = 4 * Seconds(2);
  EXPECT_EQ(hidden_in_turns({half}, {half}, 4, 0), under_experts + 4 * Seconds(5));
  EXPECT_EQ(hidden_in_turns({half}, {half}, 1, 0), under_experts + 3 * Seconds(10) + Seconds(5));
}

TEST(HalvesInTurn, AreOfSequencesOrOfThePiecesOfAPrompt) {
  const auto decode = halves_of({.sequences = 7, .tokens = 1, .cached = 300});
  ASSERT_TRUE(decode);
  EXPECT_EQ(decode->first.sequences + decode->second.sequences, 7);
  EXPECT_EQ(decode->second.cached, 300);
  const auto prompt = halves_of({.sequences = 1, .tokens = 1001, .cached = 64});
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->first.tokens + prompt->second.tokens, 1001);
  EXPECT_EQ(prompt->second.cached, 64 + prompt->first.tokens);
  EXPECT_FALSE(halves_of({.sequences = 1, .tokens = 1, .cached = 64}));
  EXPECT_FALSE(halves_of({.sequences = 1, .tokens = 4, .cached = 64, .checks = true}));
}

Serving spread(std::int64_t ranks) {
  Serving out = testing::serving_of("deepseek-v3", "dgx-h100", 1, "fp8-block");
  out.dp = out.ep = ranks;
  out.own_exchange = true;
  return out;
}

// Never slower, as engines halve where it helps; never shorter than what one pass computes, which
// halves read weights twice for; and items tell all of it.
RC_GTEST_PROP(PassInTurns, LiesBetweenWhatItComputesAndThePassAsOne, ()) {
  Serving serving = spread(*rc::gen::element(8, 16, 32, 64));
  serving.own_exchange = *rc::gen::arbitrary<bool>();
  const ServingConstants constants = *serving_constants(serving.cluster);
  const bool decodes = *rc::gen::arbitrary<bool>();
  PassWork work{.sequences = *rc::gen::inRange(1, 300), .tokens = 1, .cached = 2000};
  if (!decodes) work = {.sequences = *rc::gen::inRange(1, 4), .tokens = *rc::gen::inRange(2, 9000)};
  work.replayed = *rc::gen::arbitrary<bool>();
  const PassTime whole = time_of(serving, constants, work);
  serving.two_batches = true;
  std::vector<PassItem> items;
  const PassTime turns = time_of(serving, constants, work, items);
  const Seconds computed = whole.total() - whole[ServingPart::ep] - whole[ServingPart::host];
  RC_ASSERT(turns.total() <= whole.total());
  RC_ASSERT(turns.total() >= computed * (1 - 1e-9));
  Seconds told(0);
  for (const PassItem& item : items) told += item.count * item.each;
  RC_ASSERT(std::abs(told / turns.total() - 1) < 1e-9);
}

// Four nodes of eight ranks: half of an exchange over the network is hidden and more, where work
// is as long. A serving without one has nothing to hide.
TEST(PassInTurns, HidesMostOfAPromptsExchange) {
  Serving serving = spread(32);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const PassWork prompt{.sequences = 4, .tokens = 4096};
  const PassTime whole = time_of(serving, constants, prompt);
  serving.two_batches = true;
  const PassTime turns = time_of(serving, constants, prompt);
  EXPECT_LT(turns[ServingPart::ep], 0.5 * whole[ServingPart::ep]);
  EXPECT_LT(turns.total(), 0.8 * whole.total());
  Serving alone = testing::serving_of("deepseek-v3", "dgx-h100", 8, "fp8-block");
  const Seconds before = time_of(alone, constants, prompt).total();
  alone.two_batches = true;
  EXPECT_EQ(time_of(alone, constants, prompt).total(), before);
}

// What a simulation and closed forms reckon by.
TEST(PassInTurns, HasStepsAsLongAsItsPasses) {
  Serving serving = spread(32);
  serving.two_batches = true;
  const ServingConstants constants = *serving_constants(serving.cluster);
  const StepTimes steps = step_times(serving, constants, 2000, 1000);
  for (const std::int64_t sequences : {16, 64, 128, 256}) {
    const PassTime pass =
        time_of(serving, constants, {.sequences = sequences, .tokens = 1, .cached = 2500});
    const double decoded = static_cast<double>(sequences);
    EXPECT_NEAR(steps.of({.decoding = decoded, .cached = 2500 * decoded}) / pass.total().value(), 1,
                0.1)
        << sequences;
  }
}

}  // namespace
}  // namespace headway
