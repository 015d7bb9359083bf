// Steps, who is late in them, and unequal exchanges, by recordings of known truth.
#include "trace/analysis/steps.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "trace/analysis/exchange.hpp"

namespace headway {
namespace {

// Ranks that compute `work_us` each and then sum 4 KiB and 8 KiB in 10 us each, all together. Step
// n lasts until the slowest has computed, and 20 us.
Recording lockstep(const std::vector<double>& work_us, int steps, bool marks) {
  Recording out;
  const auto ranks = static_cast<std::int64_t>(work_us.size());
  out.groups.push_back({"0", "all", ranks, {}});
  for (std::int64_t rank = 0; rank < ranks; ++rank) out.groups[0].ranks.push_back(rank);
  const double longest = *std::max_element(work_us.begin(), work_us.end());
  const auto ns = [](double us) { return std::llround(us * 1e3); };
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto index = rank_index(out, "rank " + std::to_string(rank), rank);
    const double work = work_us[static_cast<std::size_t>(rank)];
    for (int step = 0; step < steps; ++step) {
      const double begin = step * (longest + 20);
      if (marks) out.steps.push_back({index, 7 + step, ns(begin), ns(longest + 20)});
      out.compute.push_back({index, 7, ns(begin), ns(work)});
      for (int call = 0; call < 2; ++call) {
        RecordedCall made;
        made.op = Operation::all_reduce;
        made.rank = index;
        made.group = 0;
        made.bytes = Bytes(4096.0 * (call + 1));
        made.start_ns = ns(begin + (call == 0 ? work : longest + 10));
        made.duration = Seconds((call == 0 ? longest - work + 10 : 10) * 1e-6);
        made.time = TimeKind::kernel;
        made.sequence = 2 * step + call;
        out.calls.push_back(made);
      }
    }
  }
  out.marked_steps = marks ? steps : 0;
  return out;
}

// [TRACE-11] Of 30 and 50 us of work every step takes 70 us; rank 0 waits 20 us for rank 1.
TEST(Steps, MarkedOnesHoldWhatStartsInThem) {
  const Recording recording = lockstep({30, 50}, 3, true);
  const RecordedSteps steps = steps_of(recording);
  EXPECT_EQ(steps.by, StepsBy::marks);
  const auto rows = step_table(recording, steps, align(recording));
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].number, 7 + static_cast<std::int64_t>(i));
    EXPECT_NEAR(rows[i].longest.value(), 70e-6, 1e-9);
    EXPECT_EQ(rows[i].last, 1U);
    ASSERT_EQ(rows[i].ranks.size(), 2U);
    EXPECT_NEAR(rows[i].ranks[0].compute->value(), 30e-6, 1e-12);
    EXPECT_NEAR(rows[i].ranks[0].exposed->value(), 40e-6, 1e-12);
    EXPECT_NEAR(rows[i].ranks[0].idle->value(), 0, 1e-12);
    EXPECT_NEAR(rows[i].ranks[0].waits.value(), 20e-6, 1e-12);
    EXPECT_NEAR(rows[i].ranks[1].causes.value(), 20e-6, 1e-12);
  }
}

TEST(Steps, WithoutMarksTheRepeatedSequenceOfCallsTellsThem) {
  const Recording recording = lockstep({30, 50}, 4, false);
  const RecordedSteps steps = steps_of(recording);
  EXPECT_EQ(steps.by, StepsBy::repetition);
  EXPECT_EQ(steps.ranges.size(), 8U);  // of two ranks
  // What stands before and behind does not matter.
  Recording odd = recording;
  RecordedCall first = odd.calls.front();
  first.bytes = Bytes(8);
  first.start_ns = -1000;
  odd.calls.insert(odd.calls.begin(), first);
  EXPECT_EQ(steps_of(odd).by, StepsBy::repetition);
  EXPECT_EQ(steps_of(odd).ranges.front().begin_ns, steps.ranges.front().begin_ns);
  EXPECT_EQ(steps_of(odd).ranges.back().end_ns, steps.ranges.back().end_ns);
  EXPECT_EQ(steps_of(lockstep({30, 50}, 1, false)).by, StepsBy::none);
}

TEST(Steps, AWindowIsARecordingOfItsStepsAlone) {
  const Recording recording = lockstep({30, 50}, 5, true);
  Recording window = recording;
  ASSERT_TRUE(keep_steps(window, steps_of(recording), 8, 10));
  EXPECT_EQ(window.marked_steps, 3);
  EXPECT_EQ(window.calls.size(), 3U * 2 * 2);
  EXPECT_EQ(window.compute.size(), 3U * 2);
  const auto rows = step_table(window, steps_of(window), align(window));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.front().number, 8);
  EXPECT_FALSE(keep_steps(window, steps_of(window), 100, 200));
}

// Nothing marks them, neither before the others were left out nor after; also of one alone.
TEST(Steps, AWindowOfRepeatedStepsIsNoneOfMarks) {
  const Recording recording = lockstep({30, 50}, 5, false);
  for (const std::int64_t last : {1, 3}) {
    Recording window = recording;
    ASSERT_TRUE(keep_steps(window, steps_of(recording), 1, last));
    EXPECT_EQ(window.marked_steps, 0);
    EXPECT_EQ(window.repeated_steps, last);
    EXPECT_EQ(window.calls.size(), static_cast<std::size_t>(last) * 2 * 2);
    EXPECT_EQ(steps_of(window).by, StepsBy::repetition);
    EXPECT_EQ(step_table(window, steps_of(window), align(window)).size(),
              static_cast<std::size_t>(last));
  }
}

// [TRACE-12] The slowest of five causes all the waiting and works as much longer as was made.
RC_GTEST_PROP(Steps, TheSlowRankStandsFirstWithTheWorkThatItHas, ()) {
  std::vector<double> work(5, 40);
  const auto slow = *rc::gen::inRange<std::size_t>(0, work.size());
  work[slow] = *rc::gen::inRange(41, 200);
  const int count = *rc::gen::inRange(2, 5);
  const bool marks = *rc::gen::arbitrary<bool>();
  const Recording recording = lockstep(work, count, marks);
  const auto ranking = stragglers(step_table(recording, steps_of(recording), align(recording)));
  RC_ASSERT(ranking.size() == work.size());
  RC_ASSERT(ranking.front().rank == slow);
  RC_ASSERT(ranking.front().last_in == count);
  // Without marks a step begins with its first call, and the first work of all lies before.
  const double counted = marks ? 1 : (count - 1.0) / count;
  RC_ASSERT(std::abs(ranking.front().causes.value() - 4 * (work[slow] - 40) * 1e-6) < 1e-9);
  RC_ASSERT(ranking.front().work > 1 + counted * 0.9 * (work[slow] / 40 - 1));
  for (std::size_t i = 1; i < ranking.size(); ++i) RC_ASSERT(ranking[i].causes.value() < 1e-9);
}

// [TRACE-15] Tokens go out alike, 100 of each of three ranks, and come to 60, 90 and 150 of them:
// most over mean is 1.5; they go back the same way.
TEST(Exchanges, LoadIsWhatDiffersBetweenRanksGottenOrSent) {
  Recording recording;
  recording.groups.push_back({"0", "experts", 3, {0, 1, 2}});
  const double got[] = {60, 90, 150};
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    rank_index(recording, "rank " + std::to_string(rank), rank);
    for (int back = 0; back < 2; ++back) {
      RecordedCall call;
      call.op = Operation::all_to_all;
      call.rank = rank;
      call.group = 0;
      call.bytes = Bytes(back == 1 ? got[rank] : 100);
      call.received = Bytes(back == 1 ? 100 : got[rank]);
      call.start_ns = 1000 * back;
      call.duration = Seconds(1e-7);
      call.time = TimeKind::kernel;
      call.sequence = back;
      recording.calls.push_back(call);
    }
  }
  const auto rows = exchange_table(recording, align(recording));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].exchanges, 2);
  EXPECT_NEAR(rows[0].imbalance, 1.5, 1e-12);
  EXPECT_EQ(rows[0].fullest, 2U);
  EXPECT_EQ(rows[0].times_fullest, 2);
}

TEST(Steps, RanksThatOnlyComputeAreBusyAndIdle) {
  Recording recording;
  rank_index(recording, "rank 0", 0);
  recording.compute = {{0, 7, 0, 10'000}, {0, 7, 30'000, 10'000}};
  const auto overlap = overlap_of(recording);
  ASSERT_EQ(overlap.size(), 1U);
  EXPECT_NEAR(overlap[0].compute.value(), 20e-6, 1e-12);
  EXPECT_NEAR(overlap[0].idle.value(), 20e-6, 1e-12);
  EXPECT_EQ(overlap[0].communication.value(), 0);
}

}  // namespace
}  // namespace headway
