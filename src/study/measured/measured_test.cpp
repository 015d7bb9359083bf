#include "study/measured/measured.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"
#include "study/measured/rates.hpp"
#include "study/measured/timeline.hpp"

namespace headway {
namespace {

// One all-reduce of 4,096 B by two ranks, which ends on both at 40 us: rank 0 begins at 10 us and
// waits for rank 1, which begins at 30 us.
RunRecording two_ranks() {
  RunRecording out;
  Recording& recording = out.recording;
  recording.format = "by hand";
  recording.groups = {{"0", "default_pg", 2, {0, 1}}};
  for (const std::uint32_t rank : {0U, 1U}) {
    rank_index(recording, "rank " + std::to_string(rank), rank);
    RecordedCall call;
    call.op = Operation::all_reduce;
    call.rank = rank;
    call.group = 0;
    call.bytes = Bytes(4096);
    call.start_ns = rank == 0 ? 10'000 : 30'000;
    call.duration = Seconds(rank == 0 ? 30e-6 : 10e-6);
    call.time = TimeKind::kernel;
    recording.calls.push_back(call);
  }
  return out;
}

TEST(Measured, TheTimelineHasWaitingBeforeTheTransferOfTheLastRank) {
  const MeasuredTimeline timeline = timeline_of(measure(two_ranks()));
  ASSERT_EQ(timeline.ranks.size(), 2U);
  EXPECT_NEAR(timeline.span, 30e-6, 1e-12);
  EXPECT_EQ(timeline.unplaced, 0U);
  const MeasuredRank& early = timeline.ranks.at(0);
  const MeasuredRank& late = timeline.ranks.at(1);
  ASSERT_EQ(early.waiting.at(Operation::all_reduce).size(), 1U);
  EXPECT_NEAR(early.waiting.at(Operation::all_reduce)[0].begin, 0, 1e-12);
  EXPECT_NEAR(early.waiting.at(Operation::all_reduce)[0].end, 20e-6, 1e-12);
  EXPECT_NEAR(early.transfer.at(Operation::all_reduce)[0].begin, 20e-6, 1e-12);
  EXPECT_TRUE(late.waiting.empty());
  EXPECT_NEAR(late.transfer.at(Operation::all_reduce)[0].begin, 20e-6, 1e-12);
  EXPECT_NEAR(late.transfer.at(Operation::all_reduce)[0].end, 30e-6, 1e-12);
}

// Nothing is marked: three times what both ranks did is three steps, and that is said.
TEST(Measured, StepsThatNobodyMarksAreThoseThatAllRanksRepeat) {
  const auto said = [](const Measured& measured) {
    return std::any_of(measured.notes.begin(), measured.notes.end(), [](const std::string& note) {
      return note == "no step is marked; by what repeats there are 3, of 2 calls of a rank each";
    });
  };
  RunRecording run = two_ranks();
  EXPECT_FALSE(measure(run).steps.repeated);  // one call each
  const std::vector<RecordedCall> once = run.recording.calls;
  run.recording.calls.clear();
  for (int i = 0; i < 6; ++i) {
    for (RecordedCall call : once) {
      call.bytes = Bytes(i % 2 == 0 ? 4096 : 64);
      *call.start_ns += 100'000 * i;
      run.recording.calls.push_back(call);
    }
  }
  const Measured measured = measure(run);
  ASSERT_TRUE(measured.steps.repeated);
  EXPECT_EQ(measured.steps.repeated->steps, 3);
  EXPECT_TRUE(said(measured));
  run.recording.marked_steps = 6;
  EXPECT_FALSE(measure(run).steps.repeated);
  EXPECT_FALSE(said(measure(run)));
}

// Of two ranks an all-reduce sends 2 (n-1)/n = 1 times its bytes.
TEST(Measured, TheRateOfMatchedCallsIsThatOfTheTransferOnce) {
  const std::vector<MeasuredRate> rates = rates_of(measure(two_ranks()));
  ASSERT_EQ(rates.size(), 1U);
  EXPECT_EQ(rates[0].ranks, 2);
  EXPECT_EQ(rates[0].bytes, Bytes(4096));
  EXPECT_NEAR(rates[0].rate.value() / (4096 / 10e-6), 1, 1e-9);
}

TEST(Measured, TheCostModelHasRatesForItsOwnOperationsThatGrowWithTheSize) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  const Bytes sizes[] = {Bytes(1024), Bytes(1e6), Bytes(1e9)};
  const auto rates = modelled_rates(Operation::all_gather, 8, sizes, cluster);
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_LT(rates[0], rates[1]);
  EXPECT_LT(rates[1], rates[2]);
  EXPECT_LT(rates[2].value(), cluster.levels.front().bandwidth.value());
  EXPECT_TRUE(modelled_rates(Operation::gather, 8, sizes, cluster).empty());
}

TEST(Measured, WhatWasDoneOtherwiseThanAskedIsSaidAndCountsOnTheWire) {
  RunRecording run = two_ranks();
  for (RecordedCall& call : run.recording.calls) {
    call.op = Operation::reduce_scatter;
    call.done_as = Operation::all_reduce;
  }
  const Measured measured = measure(std::move(run));
  ASSERT_EQ(measured.calls.size(), 1U);
  EXPECT_EQ(measured.calls[0].done_as, Operation::all_reduce);
  EXPECT_EQ(measured.calls[0].wire_bytes, Bytes(2 * 4096));  // 2 (n-1)/n of two ranks, each
  EXPECT_NE(std::find(measured.notes.begin(), measured.notes.end(),
                      "calls of reduce_scatter that the backend did as all_reduce: 2; what goes "
                      "over the wire is counted as it was done"),
            measured.notes.end());
}

TEST(Measured, WhatTheWholeTraceLacksIsSaidOnceWithWhereItWouldComeFrom) {
  RunRecording run = two_ranks();
  run.recording.size_advice = "the profiler can write them";
  for (RecordedCall& call : run.recording.calls) {
    call.bytes.reset();
    call.duration.reset();
    call.time = TimeKind::none;
  }
  leave_unsaid(run.recording, kCallsWithoutSize, 2);
  leave_unsaid(run.recording, kLogWithoutDurations);
  leave_unsaid(run.recording, "something else", 3);
  EXPECT_EQ(measure(std::move(run)).notes,
            (std::vector<std::string>{
                "no sizes in this trace: the profiler can write them",
                "no durations in this trace: it says which calls were made, not how long",
                "something else: 3"}));
}

}  // namespace
}  // namespace headway
