// What follows from the recording of a replay.
#include "study/live/replayed.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

// Two ranks, one repeat: an all-reduce of 8 B, a message of 64 B from 0 to 1.
LiveList small_list() {
  LiveList out;
  out.groups.push_back({"tp", {0, 1}});
  out.ranks.resize(2);
  for (const std::size_t rank : {0, 1}) {
    LiveItem reduce{.kind = LiveItem::Kind::call};
    reduce.bytes = 8;
    reduce.type = ElementType::fp32;
    LiveItem message = reduce;
    message.op = rank == 0 ? Operation::send : Operation::receive;
    message.bytes = 64;
    message.stream = kBesideStreams;
    message.peer = rank == 0 ? 1 : 0;
    out.ranks[rank] = {reduce, message};
  }
  return out;
}

RecordedCall recorded(const LiveItem& item, std::uint32_t rank, std::int64_t start,
                      double seconds) {
  RecordedCall out;
  out.op = item.op;
  out.rank = rank;
  out.group = 0;
  out.bytes = Bytes(static_cast<double>(item.bytes));
  out.start_ns = start;
  out.duration = Seconds(seconds);
  out.time = TimeKind::host;
  if (is_between_two(item.op)) out.peer = rank == 0 ? 1 : 0;
  return out;
}

Recording small_recording(const LiveList& list) {
  Recording out;
  out.groups.push_back({"7", "", 2, {0, 1}});
  for (const std::uint32_t rank : {0U, 1U}) {
    out.ranks.push_back({rank, "rank " + std::to_string(rank), 2});
  }
  // Rank 1 comes to the all-reduce 3 us late; the message is there 2 us before its receive.
  out.calls = {
      recorded(list.ranks[0][0], 0, 1'000, 8e-6), recorded(list.ranks[1][0], 1, 4'000, 5e-6),
      recorded(list.ranks[0][1], 0, 20'000, 4e-6), recorded(list.ranks[1][1], 1, 22'000, 2e-6)};
  return out;
}

// [LIVE-5] By hand.
TEST(Replayed, PartsTransferFromWaiting) {
  const LiveList list = small_list();
  ReplayForecast forecast;
  forecast.step = Seconds(1e-3);
  forecast.calls = {{"tp", CollectiveOp::all_reduce, Bytes(8), Seconds(4e-6)}};
  ReplayTimes times;
  times.steps = {2e-3};
  const Replayed made = replayed(list, small_recording(list), times, forecast);
  EXPECT_EQ(made.expected, 4);
  EXPECT_EQ(made.recorded, 4);
  ASSERT_TRUE(made.forecast);
  EXPECT_EQ(*made.forecast, Seconds(1e-3));
  EXPECT_EQ(made.step_at(0.5), Seconds(2e-3));
  ASSERT_EQ(made.calls.size(), 2u);
  const ReplayedCall &reduce = made.calls[0], &message = made.calls[1];
  EXPECT_EQ(reduce.op, Operation::all_reduce);
  EXPECT_EQ(reduce.count, 1);
  EXPECT_DOUBLE_EQ(reduce.median.value().value(), 5e-6);
  EXPECT_DOUBLE_EQ(reduce.waiting.value().value(), 1.5e-6);  // 3 us of one of two ranks
  ASSERT_TRUE(reduce.forecast);
  EXPECT_EQ(*reduce.forecast, Seconds(4e-6));
  EXPECT_EQ(message.op, Operation::send);
  EXPECT_DOUBLE_EQ(message.median.value().value(), 2e-6);
  EXPECT_FALSE(message.forecast);
}

TEST(Replayed, CountsWhatWasNotRecorded) {
  const LiveList list = small_list();
  Recording recording = small_recording(list);
  recording.calls.pop_back();
  ReplayTimes times;
  times.steps = {1e-3};
  const Replayed made = replayed(list, recording, times, std::nullopt);
  EXPECT_EQ(made.expected, 4);
  EXPECT_EQ(made.recorded, 2);
  EXPECT_FALSE(made.forecast);
  EXPECT_EQ(made.calls[1].samples, 0);
  EXPECT_FALSE(made.calls[1].median);  // not 0 s
}

// [LIVE-5] A send of 1 us that began with a receive of 10 us: its bytes were copied, not sent.
TEST(Replayed, AMessageTakesUntilItIsReceived) {
  const LiveList list = small_list();
  Recording recording = small_recording(list);
  recording.calls[2].duration = Seconds(1e-6);
  recording.calls[3].start_ns = 20'000;
  recording.calls[3].duration = Seconds(10e-6);
  EXPECT_DOUBLE_EQ(replayed(list, recording, {}, std::nullopt).calls[1].median.value().value(),
                   10e-6);
  // The receive 6 us before its send: 4 us of it are the transfer.
  recording.calls[3].start_ns = 14'000;
  EXPECT_DOUBLE_EQ(replayed(list, recording, {}, std::nullopt).calls[1].median.value().value(),
                   4e-6);
}

// The root of a broadcast leaves before the others have it.
TEST(Replayed, WhatMayLeaveEarlyTakesAsLongAsItsLongestRank) {
  LiveList list = small_list();
  for (auto& items : list.ranks) items[0].op = Operation::broadcast;
  EXPECT_DOUBLE_EQ(
      replayed(list, small_recording(list), {}, std::nullopt).calls[0].median.value().value(),
      8e-6);
}

// So does a leaf of a gather or scatter on a device, where a broadcast is one kernel of all.
TEST(Replayed, OnADeviceALeafLeavesEarly) {
  for (const auto& [op, seconds] : {std::pair{Operation::gather, 8e-6},
                                    {Operation::scatter, 8e-6},
                                    {Operation::broadcast, 5e-6}}) {
    LiveList list = small_list();
    for (auto& items : list.ranks) items[0].op = op;
    Recording recording = small_recording(list);
    for (auto& items : list.ranks) items.pop_back();
    recording.calls.resize(2);
    for (RecordedCall& call : recording.calls) call.time = TimeKind::kernel;
    EXPECT_DOUBLE_EQ(replayed(list, recording, {}, std::nullopt).calls[0].median.value().value(),
                     seconds)
        << to_name(op);
  }
}

// Rank 1 lacks its first of two all-reduces: by their numbers the second is the second, without
// numbers nothing is said of either.
TEST(Replayed, ALostCallShiftsNoOther) {
  LiveList list = small_list();
  for (auto& items : list.ranks) items[1] = items[0];
  Recording recording = small_recording(list);
  recording.calls.clear();
  recording.calls = {recorded(list.ranks[0][0], 0, 1'000, 8e-6),
                     recorded(list.ranks[0][0], 0, 20'000, 3e-6),
                     recorded(list.ranks[1][0], 1, 21'000, 2e-6)};
  EXPECT_EQ(replayed(list, recording, {}, std::nullopt).calls[0].samples, 0);
  recording.calls[0].sequence = 0;
  recording.calls[1].sequence = recording.calls[2].sequence = 1;
  const Replayed made = replayed(list, recording, {}, std::nullopt);
  EXPECT_EQ(made.calls[0].samples, 1);
  EXPECT_DOUBLE_EQ(made.calls[0].median.value().value(), 2e-6);
}

TEST(Replayed, TimesOfAProgramAreReadOrRefused) {
  const auto read = [](const char* text) {
    return read_replay_times(parse_json(text, "times.json").value());
  };
  const auto times = read(
      R"({"headway_replay": 1, "mode": "single", "compute": "spin", "ranks": 2, "library": "x",
          "warm": 3, "step_s": [1, 0.5]})");
  ASSERT_TRUE(times.ok());
  EXPECT_TRUE(times->single);
  EXPECT_EQ(times->steps, (std::vector<double>{1, 0.5}));
  EXPECT_FALSE(read(R"({"headway_replay": 1, "mode": "step", "compute": "spin", "ranks": 2,
                        "library": "x", "warm": 3, "step_s": []})")
                   .ok());
  EXPECT_FALSE(read(R"({"headway_replay": 2, "step_s": [1]})").ok());
}

}  // namespace
}  // namespace headway
