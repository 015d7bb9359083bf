// [PLAN-3] What stages add up to at least, beside the longest way through their slots.
#include "study/plan/inner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "forecast/longest_way.hpp"

namespace headway {
namespace {

Seconds some(int least, int most) {
  return Seconds(*rc::gen::inRange(least, most) / 16.0);
}

RC_GTEST_PROP(Rounds, AreNoMoreThanAnyWorkOnTheStagesTakes, ()) {
  std::vector<RankClass> ranks(static_cast<std::size_t>(*rc::gen::inRange(2, 6)));
  double stages = 0;
  Seconds whole(0);
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 5);
  for (RankClass& alike : ranks) {
    alike = {*rc::gen::inRange<std::int64_t>(1, 5), some(1, 32), some(1, 64), Seconds(0)};
    stages += static_cast<double>(alike.ranks);
    whole += static_cast<double>(alike.ranks * chunks) * (alike.forward + alike.backward);
  }
  const auto p = static_cast<std::int64_t>(stages);
  const std::int64_t micro_batches = chunks == 1 ? *rc::gen::inRange<std::int64_t>(1, 60)
                                                 : p * *rc::gen::inRange<std::int64_t>(1, 12);
  const Seconds time = one_f_one_b_time(ranks, chunks, micro_batches);
  RC_ASSERT(rounds(micro_batches, p, 1 / static_cast<double>(chunks)) * whole <=
            time * (1 + 1e-12));
}

// Of equal stages 1F1B takes just that: (m - 1)/p + 1.
TEST(Rounds, OfOneChunkAStageAreThoseOfEqualStages) {
  const std::vector<RankClass> ranks = {{8, Seconds(1), Seconds(2), Seconds(0)}};
  for (const std::int64_t m : {9, 10, 64, 1000}) {
    EXPECT_DOUBLE_EQ(rounds(m, 8, 1) * 24, one_f_one_b_time(ranks, 1, m).value()) << m;
  }
}

}  // namespace
}  // namespace headway
