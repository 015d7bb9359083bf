// [INFER-38] What is chosen, against every other split placed in time.
#include "study/infer/search/tuned.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "study/infer/search/splits.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving tuned_serving() {
  Serving out = testing::serving_of("llama-2-70b", "dgx-h200", 1, "fp8");
  out.engine = testing::engine_named("tensorrt-llm");
  out.cache = cache_format("fp8");
  out.engine.policy.reserve = out.engine.policy.whole_prompts = false;
  return out;
}

Load lengths() {
  return {.input = 300, .output = 300, .output_spread = {LengthSpread::Kind::log_normal, 0.5}};
}

TEST(Tuned, MakesAsMuchAsAnyOtherSplitOfAsManyAsMemoryHolds) {
  const Serving base = tuned_serving();
  const ServingConstants constants = *serving_constants(base.cluster);
  const auto best = tuned(base, constants, lengths(), 4, {8192}, 0);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->serving.ranks(), 4);
  const double made = served(best->serving, constants, best->load).output_per_second;
  for (const ServingSplit& split : legal_splits(base, 4)) {
    Serving other = base;
    static_cast<ServingSplit&>(other) = split;
    Load load = lengths();
    load.arrivals = Arrivals::clients;
    const double most = memory_of(other, load).sequences_that_fit(load.under_way());
    if (split.cp > 1 || most < 1) continue;
    load.batch = static_cast<std::int64_t>(most);
    EXPECT_GT(made, 0.95 * served(other, constants, load).output_per_second)
        << split.tp << " " << split.pp << " " << split.dp;
  }
}

// Tokens of 20 ms need more ranks for a copy than as many as memory holds.
TEST(Tuned, AtRandomKeepsToLimitsAtTheHighestRate) {
  const Serving base = tuned_serving();
  const ServingConstants constants = *serving_constants(base.cluster);
  Load load = lengths();
  load.first_limit = Seconds(1);
  load.each_limit = Seconds(0.02);
  const auto best = tuned(base, constants, load, 8, {2048, 8192}, 0.9);
  ASSERT_TRUE(best);
  EXPECT_GT(best->serving.tp * best->serving.pp, 1);
  EXPECT_GE(*served(best->serving, constants, best->load).good, 0.9);
  Load more = best->load;
  more.rate *= 1.1;
  const Served beyond = served(best->serving, constants, more);
  EXPECT_TRUE(!beyond.stable() || *beyond.good < 0.9);
}

TEST(Tuned, IsNothingWhereNoneFitsOrKeepsToLimits) {
  const Serving base = tuned_serving();
  const ServingConstants constants = *serving_constants(base.cluster);
  Serving large = base;
  large.model = *load_model("llama-3.1-405b");
  EXPECT_FALSE(tuned(large, constants, lengths(), 2, {8192}, 0));
  Load load = lengths();
  load.each_limit = Seconds(1e-6);
  EXPECT_FALSE(tuned(base, constants, load, 8, {8192}, 0.9));
}

}  // namespace
}  // namespace headway
