#include "trace/analysis/align.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "trace/analysis/call_table.hpp"
#include "trace/analysis/overlap.hpp"
#include "trace/files.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

RecordedCall kernel_call(std::uint32_t rank, Operation op, std::int64_t start, std::int64_t ns) {
  RecordedCall call;
  call.op = op;
  call.rank = rank;
  call.start_ns = start;
  call.duration = Seconds(static_cast<double>(ns) * 1e-9);
  call.time = TimeKind::kernel;
  return call;
}

Recording of_ranks(int ranks) {
  Recording recording;
  for (int i = 0; i < ranks; ++i) rank_index(recording, "rank " + std::to_string(i), i);
  recording.groups.push_back({"0", "world", ranks, {}, true});
  return recording;
}

// ---- [TRACE-2] waiting and transfer ----

TEST(Align, TheShortestKernelIsTheTransferAndTheRestOfTheOthersIsWaiting) {
  Recording recording = of_ranks(3);
  const std::int64_t durations[] = {900, 400, 150};
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    recording.calls.push_back(
        kernel_call(rank, Operation::all_reduce, 1000 - durations[rank], durations[rank]));
    recording.calls.back().group = 0;
  }
  const Alignment alignment = align(recording);
  ASSERT_EQ(alignment.matched.size(), 1u);
  const MatchedCall& matched = alignment.matched[0];
  EXPECT_TRUE(matched.complete);
  EXPECT_DOUBLE_EQ(matched.transfer.value(), 150e-9);
  EXPECT_EQ(matched.last_rank, 2u);
  EXPECT_DOUBLE_EQ(matched.waiting[0].value(), 750e-9);
  EXPECT_DOUBLE_EQ(matched.waiting[1].value(), 250e-9);
  EXPECT_DOUBLE_EQ(matched.waiting[2].value(), 0);
  EXPECT_EQ(alignment.ranks[2].times_last, 1);
  EXPECT_DOUBLE_EQ(alignment.ranks[0].waiting.value(), 750e-9);
}

TEST(Align, SequenceNumbersMatchRecordingsThatBeganAtDifferentCalls) {
  Recording recording = of_ranks(2);
  for (const std::int64_t number : {4, 5, 6}) {
    recording.calls.push_back(kernel_call(0, Operation::all_reduce, number * 1000, 10));
    recording.calls.back().sequence = number;
  }
  for (const std::int64_t number : {5, 6, 7}) {
    recording.calls.push_back(kernel_call(1, Operation::all_reduce, number * 1000, 10));
    recording.calls.back().sequence = number;
  }
  for (RecordedCall& call : recording.calls) call.group = 0;
  const Alignment alignment = align(recording);
  ASSERT_EQ(alignment.matched.size(), 2u);
  for (const MatchedCall& matched : alignment.matched) {
    EXPECT_EQ(recording.calls[matched.calls[0]].sequence,
              recording.calls[matched.calls[1]].sequence);
  }
  EXPECT_EQ(alignment.unmatched, 2);
}

TEST(Align, WithoutNumbersUnequalCountsAreNotGuessed) {
  Recording recording = of_ranks(2);
  for (const int rank : {0, 0, 1}) {
    recording.calls.push_back(
        kernel_call(static_cast<std::uint32_t>(rank), Operation::all_gather, 10, 10));
  }
  EXPECT_TRUE(align(recording).matched.empty());
  EXPECT_EQ(align(recording).unmatched, 3);
}

TEST(Align, WhatOrderMatchesMustAgreeInSizeAndHaveRunTogether) {
  Recording recording = of_ranks(2);
  const auto add = [&](std::uint32_t rank, std::int64_t start, double bytes) {
    recording.calls.push_back(kernel_call(rank, Operation::all_reduce, start, 1'000'000));
    recording.calls.back().group = 0;
    recording.calls.back().bytes = Bytes(bytes);
  };
  for (int i = 0; i < 5; ++i) {
    add(0, i * 10'000'000, 8);
    add(1, i * 10'000'000 + 500, 8);
  }
  add(0, 60'000'000, 8);
  add(1, 60'000'000, 16);  // another call: the size differs
  add(0, 70'000'000, 8);
  add(1, 75'000'000, 8);  // another call: the first had ended 4 ms before
  const Alignment alignment = align(recording);
  EXPECT_EQ(alignment.matched.size(), 5u);
  EXPECT_EQ(alignment.unmatched, 4);
  EXPECT_EQ(alignment.clock_offset_ns[1], -500);
}

TEST(Align, GroupsOfOneSizeThatNothingNamesAreNotTakenForOne) {
  Recording recording = of_ranks(2);
  const std::uint32_t group = unnamed_group_index(recording, 4);
  for (const std::uint32_t rank : {0u, 1u}) {
    recording.calls.push_back(kernel_call(rank, Operation::all_reduce, 10, 10));
    recording.calls.back().group = group;
    recording.ranks[rank].world_size = 8;
  }
  EXPECT_EQ(align(recording).unmatched, 2);
  for (RecordedRank& rank : recording.ranks) rank.world_size = 4;
  EXPECT_EQ(align(recording).matched.size(), 1u);
}

TEST(Align, EnqueueTimesAreNotSplit) {
  Recording recording = of_ranks(2);
  for (const std::uint32_t rank : {0u, 1u}) {
    recording.calls.push_back(kernel_call(rank, Operation::all_reduce, 10, 10));
    recording.calls.back().time = TimeKind::enqueue;
  }
  EXPECT_TRUE(align(recording).matched.empty());
}

// ---- [TRACE-3] clocks ----

// Ranks whose kernels end together, each on a clock of its own: the shifts come back, whichever
// rank is late in which call, and also for a rank that shares no group with the first.
RC_GTEST_PROP(Clocks, TheShiftsOfClocksAreFound, ()) {
  const auto shifts = *rc::gen::container<std::vector<std::int64_t>>(
      3, rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000));
  Recording recording = of_ranks(3);
  recording.groups.push_back({"1", "", 2, {1, 2}, true});
  recording.groups[0].size = 2;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t end = 10'000'000'000 + i * 100'000'000;
    for (const std::uint32_t group : {0u, 1u}) {
      for (const std::uint32_t rank : {group, group + 1}) {
        const auto ns = *rc::gen::inRange<std::int64_t>(1000, 1'000'000);
        recording.calls.push_back(kernel_call(rank, Operation::all_reduce,
                                              end + group * 5'000'000 - ns - shifts[rank], ns));
        recording.calls.back().group = group;
      }
    }
  }
  const Alignment alignment = align(recording);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    RC_ASSERT(alignment.clock_offset_ns[rank].has_value());
    RC_ASSERT(std::abs(*alignment.clock_offset_ns[rank] - (shifts[rank] - shifts[0])) <= 1);
  }
  RC_ASSERT(alignment.clock_error->value() < 2e-9);
}

// ---- [TRACE-4] overlap ----

TEST(OverlapOf, ComputeHidesCommunicationOnOtherStreams) {
  Recording recording = of_ranks(1);
  recording.compute = {{0, 7, 0, 100}, {0, 7, 150, 50}, {0, 8, 160, 20}};  // union 0-100, 150-200
  recording.calls.push_back(kernel_call(0, Operation::all_reduce, 80, 100));  // 80-180
  recording.calls.push_back(kernel_call(0, Operation::all_gather, 220, 30));
  recording.calls[0].group = 0;
  const std::vector<Overlap> overlaps = overlap_of(recording);
  ASSERT_EQ(overlaps.size(), 1u);
  const Overlap& overlap = overlaps[0];
  EXPECT_DOUBLE_EQ(overlap.span.value(), 250e-9);
  EXPECT_DOUBLE_EQ(overlap.compute.value(), 150e-9);
  EXPECT_DOUBLE_EQ(overlap.communication.value(), 130e-9);
  EXPECT_DOUBLE_EQ(overlap.hidden.value(), 50e-9);   // 80-100 and 150-180
  EXPECT_DOUBLE_EQ(overlap.exposed.value(), 80e-9);  // 100-150 and 220-250
  EXPECT_NEAR(overlap.idle.value(), 20e-9, 1e-18);   // 200-220
  ASSERT_EQ(overlap.by_call.size(), 2u);
  EXPECT_DOUBLE_EQ(overlap.by_call[0].exposed.value(), 50e-9);
}

RC_GTEST_PROP(OverlapOf, ThePartsAddUp, ()) {
  Recording recording = of_ranks(1);
  const std::int64_t epoch = 1'700'000'000'000'000'000;  // where a double has steps of 256 ns
  const auto count = *rc::gen::inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    const auto start = *rc::gen::inRange<std::int64_t>(epoch, epoch + 1000);
    const auto length = *rc::gen::inRange<std::int64_t>(0, 200);
    if (i == 0 || *rc::gen::arbitrary<bool>()) {
      recording.calls.push_back(kernel_call(0, Operation::all_reduce, start, length));
    } else {
      recording.compute.push_back({0, 1, start, length});
    }
  }
  const std::vector<Overlap> overlaps = overlap_of(recording);
  const Overlap& overlap = overlaps.at(0);
  const double scale = 1e-15;
  RC_ASSERT(std::abs((overlap.compute + overlap.exposed + overlap.idle - overlap.span).value()) <
            scale);
  RC_ASSERT(std::abs((overlap.hidden + overlap.exposed - overlap.communication).value()) < scale);
  RC_ASSERT(overlap.exposed.value() > -scale && overlap.idle.value() > -scale);
}

// ---- [TRACE-1] bytes and busbw ----

TEST(CallTable, BusbwIsThatOfNcclTests) {
  Recording recording = of_ranks(8);
  RecordedCall call = kernel_call(0, Operation::all_reduce, 0, 2'000'000);
  call.group = 0;
  call.bytes = Bytes(1e9);
  recording.calls = {call, call};
  // 1 GB in 2 ms is 500 GB/s of the algorithm, times 2 * 7/8.
  EXPECT_DOUBLE_EQ(bus_bandwidth(recording, call)->value(), 875e9);
  const std::vector<CallTableRow> rows = call_table(recording);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].bytes, Bytes(2e9));
  EXPECT_EQ(rows[0].wire_bytes, Bytes(3.5e9));
  EXPECT_DOUBLE_EQ(rows[0].bus_bandwidth->value(), 875e9);
  EXPECT_EQ(group_name(recording, rows[0].group), "world");
  EXPECT_EQ(rows[0].callers, 1);
}

TEST(CallTable, WhatIsNotKnownIsAbsent) {
  Recording recording = of_ranks(1);
  recording.calls = {kernel_call(0, Operation::all_reduce, 0, 100)};
  const std::vector<CallTableRow> rows = call_table(recording);
  EXPECT_EQ(rows.at(0).sized, 0);
  EXPECT_FALSE(rows[0].bus_bandwidth);
  EXPECT_FALSE(rows[0].wire_bytes);
}

TEST(CallTable, EnqueueTimesGiveNoBandwidth) {
  Recording recording = of_ranks(8);
  RecordedCall call = kernel_call(0, Operation::all_reduce, 0, 30'000);
  call.group = 0;
  call.bytes = Bytes(1e8);
  call.time = TimeKind::enqueue;
  recording.calls = {call};
  EXPECT_FALSE(call_table(recording).at(0).bus_bandwidth);
}

// ---- public traces ----

Recording all_dlrm_ranks() {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 8; ++rank) {
    paths.push_back(trace_folder() + "/kineto/dlrm_v100x8_rank" + std::to_string(rank) +
                    ".json.gz");
  }
  RunRecording run = read_run_traces(paths);
  EXPECT_TRUE(run.unread.empty());
  return std::move(run.recording);
}

TEST(AlignPublic, TheDlrmAllToAllOf10To7635MicrosecondsIsATransferOf10AndWaiting) {
  HEADWAY_NEEDS_TRACE("kineto/dlrm_v100x8_rank7.json.gz");
  const Recording recording = all_dlrm_ranks();
  const Alignment alignment = align(recording);
  ASSERT_EQ(alignment.matched.size(), 8u);  // 5 all-to-alls, 3 all-reduces
  EXPECT_EQ(alignment.unmatched, 0);
  const auto longest = std::max_element(
      alignment.matched.begin(), alignment.matched.end(), [](const auto& a, const auto& b) {
        return *std::max_element(a.waiting.begin(), a.waiting.end()) <
               *std::max_element(b.waiting.begin(), b.waiting.end());
      });
  const double durations_us[] = {2146, 7635, 518, 6132, 4882, 4679, 514, 10};
  ASSERT_EQ(longest->calls.size(), 8u);
  EXPECT_TRUE(longest->complete);
  EXPECT_EQ(recording.calls[longest->calls[0]].op, Operation::all_to_all);
  EXPECT_NEAR(longest->transfer.value(), 10e-6, 1e-12);
  EXPECT_EQ(recording.ranks[longest->last_rank].number, 7);
  for (std::size_t rank = 0; rank < 8; ++rank) {
    EXPECT_NEAR(longest->waiting[rank].value(), (durations_us[rank] - 10) * 1e-6, 1e-12) << rank;
  }
  // The ranks ran on one machine: their clocks agree to the microseconds the trace is written in.
  for (const auto& offset : alignment.clock_offset_ns) {
    ASSERT_TRUE(offset);
    EXPECT_LT(std::abs(static_cast<double>(*offset)), 100e3);
  }
  EXPECT_LT(alignment.clock_error->value(), 50e-6);
}

// These two files hold a sample of the calls of their ranks: order alone would match strangers.
TEST(AlignPublic, CallsOfTwoOf128RanksThatDidNotRunTogetherAreNotMatched) {
  HEADWAY_NEEDS_TRACE("kineto/rank1_of_128.json.gz");
  const RunRecording run = read_run_traces({trace_folder() + "/kineto/rank0_of_128.json.gz",
                                            trace_folder() + "/kineto/rank1_of_128.json.gz"});
  ASSERT_EQ(run.files.size(), 2u);
  const Alignment alignment = align(run.recording);
  EXPECT_EQ(alignment.matched.size(), 2u);  // all-reduces that end at 307 and at 1,182 ms
  EXPECT_LT(alignment.clock_error->value(), 100e-6);
  for (const MatchedCall& matched : alignment.matched) EXPECT_FALSE(matched.complete);
}

TEST(OverlapPublic, A100DdpHides7Of47MillisecondsOfCommunication) {
  HEADWAY_NEEDS_TRACE("kineto/a100x2_ddp_rank0.json.gz");
  const Recording recording = read_public("kineto/a100x2_ddp_rank0.json.gz");
  const std::vector<Overlap> overlaps = overlap_of(recording);
  ASSERT_EQ(overlaps.size(), 1u);
  // Unions of intervals by another program, in doubles of microseconds (2^-10 us apart).
  EXPECT_NEAR(overlaps[0].communication.value(), 46876.49e-6, 0.1e-6);
  EXPECT_NEAR(overlaps[0].compute.value(), 115655.8e-6, 3e-6);
  EXPECT_NEAR(overlaps[0].hidden.value(), 7317.0e-6, 3e-6);
  EXPECT_NEAR(overlaps[0].span.value(), 660551.0e-6, 0.1e-6);
}

}  // namespace
}  // namespace headway
