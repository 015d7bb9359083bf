#include "trace/analysis/repetition.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace headway {
namespace {

using Words = std::vector<std::uint32_t>;

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Words times(std::size_t count, const Words& words) {
  Words out;
  for (std::size_t i = 0; i < count; ++i) out = std::move(out) + words;
  return out;
}

// [TRACE-13] by its words: every stretch and every period tried.
std::optional<Repetition> by_trying(const Words& words) {
  struct Found {
    std::size_t size, period, begin;
  };
  std::vector<Found> all;
  const std::size_t n = words.size();
  for (std::size_t period = 1; period <= n / 2; ++period) {
    for (std::size_t begin = 0; begin < n; ++begin) {
      std::size_t end = begin + period;
      while (end < n && words[end] == words[end - period]) ++end;
      if (end <= n && end - begin >= 2 * period && 2 * (end - begin) >= n) {
        all.push_back({end - begin, period, begin});
      }
    }
  }
  std::size_t longest = 0;
  for (const Found& found : all) longest = std::max(longest, found.size);
  std::optional<Repetition> best;
  for (const Found& found : all) {  // periods rise; the first of a period is its longest there
    if (10 * found.size < 9 * longest || (best && best->period <= found.period)) continue;
    best = Repetition{found.begin, found.period, found.size / found.period};
  }
  return best;
}

TEST(Repetition, AStepIsWhatRepeatsBehindAWarmUpAndBeforeATail) {
  // Eight messages on and a sum: the messages alone repeat, too, but are the lesser part.
  const Words step = times(8, {1}) + Words{2};
  EXPECT_EQ(repetition_in(Words{7, 7, 5, 6} + times(5, step) + Words{3, 4}), (Repetition{4, 9, 5}));
  EXPECT_EQ(repetition_in(times(3, step)), (Repetition{0, 9, 3}));
  EXPECT_EQ(repetition_in(times(4, {1})), (Repetition{0, 1, 4}));
}

TEST(Repetition, WhatDoesNotRepeatHasNoSteps) {
  EXPECT_EQ(repetition_in({}), std::nullopt);
  EXPECT_EQ(repetition_in({1}), std::nullopt);
  EXPECT_EQ(repetition_in({1, 2, 3, 4, 5, 6}), std::nullopt);
  // Twice in a little part: by chance.
  EXPECT_EQ(repetition_in({1, 1, 2, 3, 4, 5, 6, 7, 8}), std::nullopt);
}

RC_GTEST_PROP(Repetition, IsThatOfTryingEveryPeriodAndEveryBegin, ()) {
  const auto words = *rc::gen::container<Words>(rc::gen::inRange<std::uint32_t>(0, 3)).as("words");
  const auto found = repetition_in(words), expected = by_trying(words);
  RC_ASSERT(found.has_value() == expected.has_value());
  if (!found) return;
  RC_ASSERT(found->period == expected->period);
  RC_ASSERT(found->begin == expected->begin);
  RC_ASSERT(found->count == expected->count);
}

RC_GTEST_PROP(Repetition, StepsAreFoundWhateverStandsBeforeAndBehindThem, ()) {
  // A step ends with a word that is nowhere else in it, so that it has no shorter period.
  Words step = *rc::gen::container<Words>(rc::gen::inRange<std::uint32_t>(0, 4));
  step.push_back(100);
  const auto count = *rc::gen::inRange<std::size_t>(3, 12);
  const auto outside = *rc::gen::inRange<std::size_t>(0, step.size() * count / 3 + 1);
  // Words of their own, so that they neither repeat with the step nor continue it.
  Words before, behind;
  for (std::uint32_t i = 0; i < outside; ++i) (i % 3 == 0 ? before : behind).push_back(200 + i);
  const auto found = repetition_in(before + times(count, step) + behind);
  RC_ASSERT(found == (Repetition{before.size(), step.size(), count}));
}

RecordedCall call_of(std::uint32_t rank, Operation op, double bytes, std::int64_t start) {
  RecordedCall call;
  call.rank = rank;
  call.op = op;
  call.bytes = Bytes(bytes);
  call.start_ns = start;
  return call;
}

TEST(Repetition, RanksOfAPipelineRepeatTheirOwnCallsAsOften) {
  Recording recording;
  recording.ranks = {{0, "rank 0", 2}, {1, "rank 1", 2}};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    std::int64_t start = 0;
    recording.calls.push_back(call_of(rank, Operation::broadcast, 8, start++));
    for (int step = 0; step < 4; ++step) {
      for (int i = 0; i < (rank == 0 ? 2 : 3); ++i) {
        recording.calls.push_back(call_of(rank, Operation::send, 100 + i, start++));
      }
    }
  }
  // In the order in which they were done, which is not that of their starts.
  std::reverse(recording.calls.begin(), recording.calls.end());
  const auto found = repeated_steps(recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, 4);
  EXPECT_EQ(found->calls, 2.5);
  EXPECT_EQ(found->before, 1);
  EXPECT_EQ(found->behind, 0);
  for (int i = 0; i < 6; ++i) {  // two steps of rank 0 more
    recording.calls.push_back(call_of(0, Operation::send, 100 + i % 2, 100 + i));
  }
  EXPECT_FALSE(repeated_steps(recording));
}

}  // namespace
}  // namespace headway
