// [INFER-3]
#include "study/infer/routing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/random/random.hpp"
#include "study/infer/items.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

// Of 64 tokens that choose 8 of 256 experts at random each, the mean of many draws.
TEST(ServedExperts, AreThoseThatSomeTokenChooses) {
  SplitMix numbers{7};
  double chosen = 0;
  constexpr int kDraws = 400;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::set<std::uint64_t> all;
    for (int token = 0; token < 64; ++token) {
      std::set<std::uint64_t> own;
      while (own.size() < 8) own.insert(numbers.next() % 256);
      all.insert(own.begin(), own.end());
    }
    chosen += static_cast<double>(all.size()) / kDraws;
  }
  EXPECT_NEAR(chosen_experts({}, 256, 8, 64), chosen, 1);
}

RC_GTEST_PROP(Routing, ChoosesAsManyExpertsAsAreActive, ()) {
  const std::int64_t experts = *rc::gen::inRange(1, 300);
  const std::int64_t active = *rc::gen::inRange<std::int64_t>(1, experts + 1);
  const Routing routing{*rc::gen::inRange(0, 30) / 10.0};
  const std::vector<double> chances = chances_of(routing, experts, active);
  const double sum = std::accumulate(chances.begin(), chances.end(), 0.0);
  RC_ASSERT(std::abs(sum - static_cast<double>(active)) < 1e-9 * static_cast<double>(active));
  for (std::size_t i = 0; i < chances.size(); ++i) {
    RC_ASSERT(chances[i] <= 1 + 1e-12);
    RC_ASSERT(i == 0 || chances[i] <= chances[i - 1] + 1e-12);
  }
  // Uneven routers hit fewer.
  RC_ASSERT(chosen_experts(routing, experts, active, 50) <=
            chosen_experts({}, experts, active, 50) + 1e-9);
}

// However far the first outweigh the rest, and where the rest is nothing to the last digit: all
// tokens choose the same.
TEST(Routing, OfTokensAlikeIsOfAsManyExpertsAsEachChooses) {
  for (const double power : {100.0, 1000.0}) {
    EXPECT_NEAR(chosen_experts({power}, 8, 2, 64), 2, 1e-6) << power;
    EXPECT_NEAR(chosen_experts({power}, 256, 8, 1000), 8, 0.01) << power;
  }
}

// Of many draws of which tokens go where, the fullest rank's share, all experts by chance on ranks.
TEST(Routing, FullestRankIsThatOfExpertsByChance) {
  const std::vector<double> chances = chances_of({0.8}, 64, 4);
  SplitMix numbers{3};
  double sum = 0;
  constexpr int kDraws = 4000;
  for (int draw = 0; draw < kDraws; ++draw) {
    // Places by chance: each expert has a number, and ranks hold eight of them in their order.
    std::vector<std::pair<std::uint64_t, double>> order;
    for (const double chance : chances) order.emplace_back(numbers.next(), chance);
    std::sort(order.begin(), order.end());
    double most = 0;
    for (std::size_t rank = 0; rank < 8; ++rank) {
      double of_rank = 0;
      for (std::size_t i = 0; i < 8; ++i) of_rank += order[rank * 8 + i].second;
      most = std::max(most, of_rank);
    }
    sum += most / (4.0 / 8) / kDraws;
  }
  EXPECT_NEAR(fullest_over_mean({0.8}, 64, 4, 8), sum, 0.06);
}

// Each copy takes of the busiest; even routers have nothing to even out.
TEST(Routing, CopiesOfTheBusiestMakeRanksEven) {
  const double none = fullest_over_mean({1}, 256, 8, 32);
  const double some = fullest_over_mean({1, 32}, 256, 8, 32);
  const double many = fullest_over_mean({1, 128}, 256, 8, 32);
  EXPECT_GT(none, 2);
  EXPECT_LT(some, 0.6 * none);
  EXPECT_LE(many, some);
  EXPECT_GE(many, 1);
  EXPECT_EQ(fullest_over_mean({}, 256, 8, 32), 1);
  EXPECT_EQ(fullest_over_mean({1}, 256, 8, 1), 1);
}

// DeepSeek-V3 on 32 ranks of one copy of attention each, a prompt: uneven ones take longer, less so
// with copies, whose weights are held.
TEST(Routing, OfUnevenRanksTakesLonger) {
  Serving serving = testing::serving_of("deepseek-v3", "gb200-nvl72", 1, "fp8-block");
  serving.cache = cache_format("fp8");
  serving.dp = serving.ep = 32;
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto prompt = [&] { return time_of(serving, constants, {.tokens = 4096}).total(); };
  const Seconds even = prompt();
  const Bytes held = memory_of(serving, 4096).weights;
  serving.routing = {1, 0};
  const Seconds uneven = prompt();
  serving.routing = {1, 32};
  EXPECT_TRUE(check(serving).empty());
  EXPECT_GT(uneven, 1.2 * even);
  EXPECT_LT(prompt(), uneven);
  EXPECT_GT(prompt(), even);
  EXPECT_GT(memory_of(serving, 4096).weights, held);
  serving.routing = {1, 33};
  const Problems problems = check(serving);  // 289 copies on 32 ranks: either may change
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].fields.front().name, "ep");
  EXPECT_EQ(problems[1].fields.front().name, "redundant-experts");
}

// What a pass of DeepSeek-V3 on eight ranks consists of.
std::vector<PassItem> items_of(const PassWork& work) {
  const Serving serving = testing::serving_of("deepseek-v3", "dgx-h200", 8, "fp8-block");
  std::vector<PassItem> items;
  time_of(serving, *serving_constants(serving.cluster), work, items);
  return items;
}

// DeepSeek-V3 on eight ranks: one sum of each of 61 layers' attention, one of each feed-forward
// part, routed and shared experts' together, one of the embedding.
TEST(ServedExperts, AreSummedOverRanksTogetherWithSharedOnes) {
  double sums = 0;
  for (const PassItem& item : items_of({.sequences = 4, .tokens = 1})) {
    const auto* call = std::get_if<Call>(&item.what);
    const bool of_tokens = call != nullptr && item.bytes > Bytes(1000);
    if (of_tokens && call->op == CollectiveOp::all_reduce) sums += item.count;
  }
  EXPECT_EQ(sums, 61 + 61 + 1);
}

// [INFER-36] By hand: 1,000 tokens' eight copies of 7,168 values, read and written before and
// behind the products in 16 bits, quantised by blocks of 128 (3 bytes and a scale of 32 bits); of
// 256 values of an expert's part two read and one written, and quantised.
TEST(ServedExperts, HaveTheirTokensGatheredQuantisedActivatedAndPutBack) {
  double moved = 0;
  for (const PassItem& item : items_of({.sequences = 1, .tokens = 1000})) {
    const auto* op = std::get_if<Op>(&item.what);
    const auto* pass = op != nullptr && op->routed ? std::get_if<Pass>(&op->shape) : nullptr;
    if (pass != nullptr) moved += item.count * pass->moved.value();
  }
  const double scaled = 3 + 4.0 / 128;
  EXPECT_NEAR(moved / (58.0 * 8000 * (7168 * (4 + 4 + scaled) + 256 * (6 + scaled))), 1, 1e-9);
}

}  // namespace
}  // namespace headway
