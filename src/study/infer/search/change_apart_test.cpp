// What makes prefill and decode apart fit.
#include <gtest/gtest.h>

#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/smallest.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;

std::vector<Flags> flags_of(const std::vector<ServingChange>& changes) {
  std::vector<Flags> out;
  for (const ServingChange& change : changes) out.push_back(change.flags);
  return out;
}

bool has(const std::vector<ServingChange>& changes, const Flags& flags) {
  const std::vector<Flags> all = flags_of(changes);
  return std::find(all.begin(), all.end(), flags) != all.end();
}

bool names(const std::vector<ServingChange>& changes, std::string_view flag) {
  return std::any_of(changes.begin(), changes.end(), [&](const ServingChange& change) {
    return std::any_of(change.flags.begin(), change.flags.end(),
                       [&](const auto& each) { return each.first == flag; });
  });
}

Load one_client(std::int64_t input, std::int64_t output) {
  return {.input = input, .output = output, .arrivals = Arrivals::clients, .batch = 1};
}

// [INFER-23] 70.6 G weights of two bytes are 131 GiB, of which two ranks hold 66 each, beside the
// engine's 4 of 72 GiB; decode on four has room.
TEST(SmallestChangesApart, AreOfThePoolThatIsTooSmall) {
  ServingApart apart{testing::serving_of("llama-3-70b", "dgx-h100", 1),
                     testing::serving_of("llama-3-70b", "dgx-h100", 4), 2, 1};
  const ServingConstants constants = testing::constants_of(apart.decode);
  const Load load = one_client(1000, 500);
  const ServedApart by = served(apart, constants, load);
  EXPECT_FALSE(by.prefill_fits);
  EXPECT_TRUE(by.decode_fits);
  const auto changes = smallest_changes(apart, constants, load);
  EXPECT_TRUE(has(changes, {{"prefill", "tp=2,copies=2"}}));
  EXPECT_TRUE(has(changes, {{"prefill", "tp=1,pp=2,copies=2"}}));
  EXPECT_TRUE(names(changes, "weights"));
  EXPECT_FALSE(names(changes, "decode"));
  EXPECT_FALSE(names(changes, "cache"));
  std::swap(apart.prefill, apart.decode);
  std::swap(apart.prefill_copies, apart.decode_copies);
  const auto swapped = smallest_changes(apart, constants, load);
  EXPECT_TRUE(has(swapped, {{"decode", "tp=2,copies=2"}}));
  EXPECT_FALSE(names(swapped, "prefill"));
}

// 18.4 GiB for all, of which 8 G weights of two bytes and the engine leave some: prompts of 4,000
// tokens of 128 KiB (0.5 GiB) have room, sequences of 40,000 (4.9 GiB) none; in 8 bits 2.4.
TEST(SmallestChangesApart, OfAPoolWithoutRoomForAnswersAreItsCacheToo) {
  Serving small = testing::serving_of("llama-3.1-8b", "dgx-h100");
  const ServingMemory whole = memory_of(small, 40'000);
  const double room = 3 * 1073741824.0;  // bytes that are to be free
  small.engine.memory =
      (whole.weights + whole.reserved + Bytes(room)) / small.cluster.accelerator.memory;
  const ServingApart apart{small, small};
  const ServingConstants constants = testing::constants_of(small);
  const Load load = one_client(4000, 36'000);
  const ServedApart by = served(apart, constants, load);
  EXPECT_TRUE(by.prefill_fits);
  EXPECT_FALSE(by.decode_fits);
  const auto changes = smallest_changes(apart, constants, load);
  EXPECT_TRUE(has(changes, {{"cache", "fp8"}}));
  EXPECT_TRUE(has(changes, {{"decode", "tp=2"}}));
  EXPECT_FALSE(names(changes, "prefill"));
}

// A thousand times 10^9 weights are too many for one accelerator in any format, and neither pool
// helps the other: both change at once.
TEST(SmallestChangesApart, AreOfBothPoolsWhereBothAreTooSmall) {
  const Serving one = testing::serving_of("megatron-1t", "dgx-h100");
  const ServingConstants constants = testing::constants_of(one);
  const auto changes = smallest_changes(ServingApart{one, one}, constants, one_client(100, 10));
  ASSERT_FALSE(changes.empty());
  for (const ServingChange& change : changes) {
    ASSERT_EQ(change.flags.size(), 2U);
    EXPECT_EQ(change.flags[0].first, "prefill");
    EXPECT_EQ(change.flags[1].first, "decode");
  }
}

TEST(SmallestChangesApart, AreNoneWhereNothingHelps) {
  Serving one = testing::serving_of("megatron-1t", "dgx-h100");
  one.cluster.accelerators = 3;
  const ServingConstants constants = testing::constants_of(one);
  EXPECT_TRUE(smallest_changes(ServingApart{one, one}, constants, one_client(100, 10)).empty());
}

// Of a rate far beyond what it could answer, too: whether it fits does not hang on it.
TEST(SmallestChangesApart, DoNotHangOnTheRate) {
  const ServingApart apart{testing::serving_of("llama-3-70b", "dgx-h100", 1),
                           testing::serving_of("llama-3-70b", "dgx-h100", 4)};
  const ServingConstants constants = testing::constants_of(apart.decode);
  Load load{.input = 1000, .output = 500, .arrivals = Arrivals::random, .count = 50};
  load.rate = 1e6;
  EXPECT_TRUE(has(smallest_changes(apart, constants, load), {{"prefill", "tp=2"}}));
}

struct TwoNumbers {
  int a = 0, b = 0;
};

// Both numbers are one flag, of which each alone is too little: 2 and 3 of at least five.
TEST(SmallestOf, TellsAFlagOnceThatChangesTwice) {
  using Flag = ChangedFlag<TwoNumbers>;
  const auto value = [](const TwoNumbers& of) { return std::to_string(10 * of.a + of.b); };
  const std::vector<Flag> flags = {{"both", value, {[](TwoNumbers& of) { of.a = 2; }}},
                                   {"both", value, {[](TwoNumbers& of) { of.b = 3; }}}};
  const auto tried = [](const TwoNumbers& of) {
    return of.a + of.b >= 5 ? std::optional(ServingChange{}) : std::nullopt;
  };
  EXPECT_EQ(flags_of(smallest_of(TwoNumbers{}, flags, tried)),
            (std::vector<Flags>{{{"both", "23"}}}));
}

TEST(PoolAsGiven, SaysWhatIsNotUsual) {
  Serving part = testing::serving_of("llama-3-70b", "dgx-h100", 4);
  EXPECT_EQ(pool_as_given(part, 1), "tp=4");
  part.pp = 2;
  part.engine.policy.most_tokens = 512;
  EXPECT_EQ(pool_as_given(part, 3), "tp=4,pp=2,copies=3,step-tokens=512");
}

// 405 G weights of two bytes take 756 GiB, and sixteen H100 have 1,147 for all, eight 574: of both
// pools each needs sixteen.
TEST(BestApart, SaysOfHowManyAcceleratorsSomeWayFits) {
  const Serving base = testing::serving_of("llama-3.1-405b", "dgx-h100");
  const Load asked{.input = 1000, .output = 100};
  const auto best =
      best_apart(base, *serving_constants(base.cluster), asked, {}, 8, false, {}, 1, {});
  ASSERT_TRUE(best);
  EXPECT_TRUE(best->front.empty());
  EXPECT_EQ(best->tried, 0U);
  EXPECT_EQ(best->would_fit, 32);
}

// Eight billion weights fit one accelerator, and prompts beside them; one accelerator has no two
// pools.
TEST(BestApart, NeedsTwoAcceleratorsAtLeast) {
  const Serving base = testing::serving_of("llama-3-8b", "dgx-h100");
  const Load asked{.input = 1000, .output = 100};
  EXPECT_EQ(enough_accelerators_apart(base, asked, {}, 1), 2);
}

// One accelerator holds prompts and no answers: pools of one do not do, though prompts fit.
TEST(BestApart, HoldsWholeSequencesWhereItDecodes) {
  Serving small = testing::serving_of("llama-3.1-8b", "dgx-h100");
  const ServingMemory whole = memory_of(small, 40'000);
  small.engine.memory =
      (whole.weights + whole.reserved + Bytes(3 * 1073741824.0)) / small.cluster.accelerator.memory;
  const Load asked{.input = 4000, .output = 36'000};
  const auto best =
      best_apart(small, *serving_constants(small.cluster), asked, {{}, false}, 2, false, {}, 1, {});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->tried, 0U);
  EXPECT_EQ(best->would_fit, 4);
}

}  // namespace
}  // namespace headway
