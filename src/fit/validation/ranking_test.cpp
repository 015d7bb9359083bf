#include "fit/validation/ranking.hpp"

#include <gtest/gtest.h>

#include "fit/validation/validation.hpp"

namespace headway {
namespace {

std::vector<Contest> contests(const std::vector<ValidationRow>& rows) {
  std::vector<const ValidationRow*> pointers;
  for (const ValidationRow& row : rows) pointers.push_back(&row);
  return contests_of(pointers);
}

ValidationRow contender(double measured, double predicted, const std::string& contest = "c") {
  ValidationRow row;
  row.source_key = "a";
  row.outcome = "ok";
  row.measured_step_time = measured;
  row.predicted_step_time = predicted;
  row.contest = contest;
  return row;
}

TEST(Ranking, RegretIsWhatThePredictedBestCostsOverTheMeasuredBest) {
  // Predicted best: the second row, measured 12; best measured 10.
  const auto found = contests(
      {contender(10, 5), contender(12, 4), contender(14, 6), contender(16, 7), contender(18, 8)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].layouts, 5U);
  EXPECT_EQ(found[0].source_key, "a");
  EXPECT_NEAR(found[0].regret.value(), 0.2, 1e-12);
  EXPECT_NEAR(*found[0].spearman, 0.9, 1e-12);  // one swap of neighbours: 1 - 6·2/(5·24)
}

TEST(Ranking, FewLayoutsAreNoContestAndRunsOutOfMemoryNone) {
  EXPECT_TRUE(
      contests({contender(1, 1), contender(2, 2), contender(3, 3), contender(4, 4)}).empty());
  ValidationRow burst = contender(5, 5);
  burst.outcome = "oom";
  EXPECT_TRUE(contests({contender(1, 1), contender(2, 2), contender(3, 3), contender(4, 4), burst})
                  .empty());
}

TEST(Ranking, LayoutsThatAreAllPredictedAlikeAreUndecided) {
  const auto found = contests(
      {contender(2, 7), contender(1, 7), contender(3, 7), contender(4, 7), contender(5, 7)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].spearman);
  EXPECT_FALSE(found[0].regret);
  const RankingSummary summary = summarise(found);
  EXPECT_EQ(summary.contests, 1U);
  EXPECT_EQ(summary.undecided, 1U);
  EXPECT_FALSE(summary.spearman);
  EXPECT_FALSE(summary.regret);
}

TEST(Ranking, TheSummaryTakesMediansOverContests) {
  const Contest a{"a", "", 5, 0.5, 0.1}, b{"b", "", 5, 0.9, 0.0}, c{"c", "", 9, {}, 0.4};
  const RankingSummary summary = summarise({a, b, c});
  EXPECT_EQ(summary.contests, 3U);
  EXPECT_NEAR(*summary.spearman, 0.7, 1e-12);
  EXPECT_NEAR(*summary.regret, 0.1, 1e-12);
  EXPECT_FALSE(summarise(std::vector<Contest>{}).regret);
}

}  // namespace
}  // namespace headway
