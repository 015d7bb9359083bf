#include "simulate/ranks/options.hpp"

#include <gtest/gtest.h>

#include "simulate/ranks/drawn_run_for_test.hpp"

namespace headway {
namespace {

// 16 ranks on two nodes.
Result<RanksQuestion> asked(const RunRequest& request, std::int64_t dp = 16) {
  return read_ranks(request, testing::plain_run(dp, 2));
}

std::vector<std::string> wrong(const RunRequest& request, std::int64_t dp = 16) {
  std::vector<std::string> out;
  const auto read = asked(request, dp);
  if (read) return out;
  for (const Problem& each : read.problems()) out.push_back(each.message);
  return out;
}

TEST(RanksOptions, AskForNothingWhereNoneIsGiven) {
  const auto read = asked({});
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->every_rank);
  EXPECT_FALSE(read->differ.any());
}

TEST(RanksOptions, AreReadWithTheirUnits) {
  const auto read = asked({{"slow-ranks", "5, 3,5"},
                           {"slow-factor", "1.5"},
                           {"slow-link-nodes", "1"},
                           {"pause", "200 ms"},
                           {"pause-every", "8"},
                           {"pause-together", ""},
                           {"seeds", "20"},
                           {"seed", "4"}});
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->every_rank);
  EXPECT_EQ(read->differ.slow_ranks, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(read->differ.slow_factor, 1.5);
  EXPECT_EQ(read->differ.slow_links, (std::vector<std::int64_t>{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(read->differ.link_share, 0.5);
  EXPECT_EQ(read->differ.pause, Seconds(0.2));
  EXPECT_TRUE(read->differ.pause_together);
  EXPECT_EQ(read->seeds, 20);
  EXPECT_EQ(read->seed, 4U);
}

// Each with what is wrong, all at once.
TEST(RanksOptions, ThatAreWrongAreAllRefused) {
  EXPECT_EQ(wrong({{"slow-ranks", "16,-1,x"}}).size(), 3U);
  EXPECT_EQ(wrong({{"slow-link-nodes", "2"}}).size(), 1U);
  EXPECT_EQ(wrong({{"slot-noise", "0.6"}, {"step-noise", "-1"}, {"seeds", "0"}}).size(), 3U);
  EXPECT_EQ(wrong({{"pause", "-1 s"}, {"flapping-period", "2"}, {"detection", "x"}}).size(), 6U);
  EXPECT_EQ(wrong({{"nois", "1"}}).size(), 1U);
}

// What changes nothing alone is not dropped.
TEST(RanksOptions, ThatNeedAnotherSayWhich) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"slow-factor", "2"},
                                                        {"slow-link-share", "0.5"},
                                                        {"flapping-ranks", "1"},
                                                        {"flapping-period", "1 s"},
                                                        {"flapping-down", "0.5"},
                                                        {"pause", "1 s"},
                                                        {"pause-every", "2"},
                                                        {"pause-together", ""},
                                                        {"neighbour-placement", "packed"},
                                                        {"mtbf", "3 h"},
                                                        {"restart", "3 s"}}) {
    EXPECT_EQ(wrong({{name, value}}).size(), 1U) << name;
  }
}

TEST(RanksOptions, OfANetworkThatARunDoesNotReachAreRefused) {
  EXPECT_EQ(wrong({{"slow-link-ranks", "1"}}, 8).size(), 1U);
  EXPECT_EQ(wrong({{"neighbour-share", "0.5"}}, 8).size(), 1U);
  EXPECT_TRUE(wrong({{"neighbour-share", "0.5"}}, 16).empty());
}

TEST(RanksOptions, OfOneForwardOneBackwardAloneAreWhatIfs) {
  testing::Case c = testing::plain_run(2, 16, 1, 4);
  EXPECT_TRUE(read_ranks({{"what-if", ""}}, c));
  c.layout.schedule = Schedule::gpipe;
  EXPECT_FALSE(read_ranks({{"what-if", ""}}, c));
}

}  // namespace
}  // namespace headway
