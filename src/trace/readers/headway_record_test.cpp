// The recorders' own file: whole, cut, of a program that was killed, with clocks that drift.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/align.hpp"
#include "trace/recording/record_file.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

using record_file::Record;

std::string bytes_of(const Record& record) {
  std::string out(sizeof record, '\0');
  std::memcpy(out.data(), &record, sizeof record);
  return out;
}

std::string header(int rank = 1, int world = 4) {
  return "{\"headway_record\":1,\"rank\":" + std::to_string(rank) +
         ",\"world\":" + std::to_string(world) + ",\"host\":\"node7\"}\n";
}

std::string state(std::uint64_t lost, std::uint32_t flags) {
  return bytes_of({.bytes = lost, .asked = record_file::kState, .flags = flags});
}

std::string text(const std::string& json) {
  std::string padded = json;
  padded.resize(record_file::slots(json.size()) * record_file::kRecordBytes, ' ');
  return bytes_of({.bytes = json.size(), .asked = record_file::kText}) + padded;
}

std::string call(Record record) {
  return bytes_of(record);
}

const Record kReduceScatter = {.start_ns = 1000,
                               .duration_ns = 500,
                               .bytes = 4096,
                               .asked = record_file::kReduceScatter,
                               .done = record_file::kAllReduce,
                               .type = 10,  // 1 + fp32
                               .time = record_file::kHost,
                               .group = 77,
                               .sequence = 5,
                               .flags = record_file::kSequence};

TEST(HeadwayRecord, ACallHasWhatTheRecordSays) {
  const Recording recording =
      read_text(header() + state(0, record_file::kWhole) +
                text("{\"group\":77,\"name\":\"row\",\"ranks\":[1,3]}") + call(kReduceScatter));
  EXPECT_EQ(recording.format, "headway record");
  ASSERT_EQ(recording.ranks.size(), 1u);
  EXPECT_EQ(recording.ranks[0].number, 1);
  EXPECT_EQ(recording.ranks[0].world_size, 4);
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(recording.groups[0].size, 2);
  EXPECT_EQ(recording.groups[0].description, "row");
  ASSERT_EQ(recording.calls.size(), 1u);
  const RecordedCall& read = recording.calls[0];
  EXPECT_EQ(read.op, Operation::reduce_scatter);
  EXPECT_EQ(read.done_as, Operation::all_reduce);
  EXPECT_EQ(read.bytes, Bytes(4096));
  EXPECT_EQ(read.type, ElementType::fp32);
  EXPECT_EQ(read.time, TimeKind::host);
  EXPECT_DOUBLE_EQ(read.duration->value(), 500e-9);
  EXPECT_EQ(read.start_ns, 1000);
  EXPECT_EQ(read.sequence, 5);
  EXPECT_TRUE(recording.omissions.empty());
}

// [RECORD-8] A mark each 1,000 ns; a call in each step, which the device begins 10 ns later than so
// many steps on. The first call came before any mark.
TEST(HeadwayRecord, ACallIsOfTheStepInWhichItWasAskedForUpToSixtyTwoStepsLater) {
  constexpr int kSteps = 200;
  for (const int late : {0, 1, 7, 62}) {
    std::string file = header() + state(0, record_file::kWhole);
    const auto add = [&](int asked_in) {
      Record record = kReduceScatter;
      record.start_ns = static_cast<std::uint64_t>(1000 * (asked_in + late) + 10 + 1'000'000);
      record.time = record_file::kDevice;
      record.sequence = static_cast<std::uint32_t>(asked_in + 1);
      record.flags |= record_file::asked_after(asked_in + 1);
      file += call(record);
    };
    add(-1);
    for (int step = 0; step < kSteps; ++step) {
      file += bytes_of({.start_ns = static_cast<std::uint64_t>(1000 * step + 1'000'000),
                        .bytes = static_cast<std::uint64_t>(step),
                        .asked = record_file::kStep});
      add(step);
    }
    const Recording recording = read_text(file);
    ASSERT_EQ(recording.calls.size(), kSteps + 1u);
    for (const RecordedCall& read : recording.calls) {
      const auto step = static_cast<std::int32_t>(*read.sequence) - 1;
      EXPECT_EQ(read.step, step >= 0 ? step : RecordedCall::kBeforeSteps) << late;
    }
    for (const RecordedStep& step : recording.steps) {
      EXPECT_EQ(step.start_ns, 1'000'000 + 1000 * (step.number + late) + 10);
    }
  }
}

TEST(HeadwayRecord, FilesThatWereReadAndWrittenAreNoCalls) {
  Record record = kReduceScatter;
  record.asked = record.done = record_file::kFile;
  const Recording recording = read_text(header() + state(0, record_file::kWhole) + call(record) +
                                        call(record) + call(kReduceScatter));
  EXPECT_EQ(recording.calls.size(), 1u);
  ASSERT_EQ(recording.omissions.size(), 1u);
  EXPECT_EQ(recording.omissions[0].count, 2);
  EXPECT_FALSE(recording.omissions[0].lost);
}

// [RECORD-7] 10 came, 3 of them are elsewhere: of 7 two are here. Of a file that was ended, or does
// not say how many came, nothing more is missing than it says.
TEST(HeadwayRecord, OfAProgramThatWasKilledTheRecordsOnTheirWayAreCounted) {
  const auto read_with = [](std::uint64_t came, std::uint32_t flags) {
    return read_text(
        header() +
        bytes_of(
            {.start_ns = came, .duration_ns = 3, .asked = record_file::kState, .flags = flags}) +
        call(kReduceScatter) + text("{\"group\":7,\"ranks\":[0]}") +
        call({.duration_ns = 9, .asked = record_file::kWait}));
  };
  EXPECT_EQ(omitted(read_with(10, 0), kLastMoments), 5);
  EXPECT_EQ(omitted(read_with(5, 0), kLastMoments), 0);
  EXPECT_EQ(omitted(read_with(0, 0), kLastMoments), 0);
  EXPECT_EQ(omitted(read_with(10, record_file::kWhole), kLastMoments), 0);
  EXPECT_EQ(omitted(read_with(0, 0),
                    "files that were not ended: the program was killed, or runs on, and its last "
                    "moments are not in them"),
            1);
}

// One file follows another where the program is killed: both tell of what was on its way, and it
// is counted once, in whichever order they are read; that of another process is counted, too.
TEST(HeadwayRecord, WhatWasOnItsWayIsCountedOnceOfTwoFilesThatWereNotEnded) {
  const auto file = [](int began_ns, std::uint64_t came, std::uint64_t elsewhere, int here) {
    std::string out =
        "{\"headway_record\":1,\"rank\":1,\"world\":4,\"began_ns\":" + std::to_string(began_ns) +
        "}\n" +
        bytes_of({.start_ns = came, .duration_ns = elsewhere, .asked = record_file::kState});
    for (int i = 0; i < here; ++i) out += call(kReduceScatter);
    return read_text(out);
  };
  const Recording before = file(7, 10, 3, 2), after = file(7, 11, 5, 0), other = file(8, 4, 0, 1);
  EXPECT_EQ(omitted(before, kLastMoments), 5);
  EXPECT_EQ(omitted(after, kLastMoments), 6);
  for (const bool turned : {false, true}) {
    Recording all = turned ? after : before;
    append(all, turned ? before : after);
    EXPECT_EQ(omitted(all, kLastMoments), 11 - 5);
    append(all, other);
    EXPECT_EQ(omitted(all, kLastMoments), 11 - 5 + 3);
  }
}

// A backend of the host has its own thread: the time is the call's, and the program did more in it.
TEST(HeadwayRecord, ACallBesideTheProgramHasItsTimeAndDoesNotBlock) {
  for (const std::uint32_t flags : {0u, std::uint32_t{record_file::kBeside}}) {
    Record record = kReduceScatter;
    record.flags |= flags;
    const Recording recording = read_text(header() + state(0, record_file::kWhole) + call(record));
    ASSERT_EQ(recording.calls.size(), 1u);
    EXPECT_EQ(recording.calls[0].blocks, flags == 0);
    EXPECT_EQ(recording.calls[0].own_time, flags == 0);
    EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 500e-9);
    EXPECT_TRUE(recording.omissions.empty());
  }
}

// What a replay runs one after the other on a stream: it holds what a kernel's time holds.
TEST(HeadwayRecord, ACallOnAStreamOfTheHostHasATimeOfItsOwnAndDoesNotBlock) {
  Record record = kReduceScatter;
  record.time = record_file::kStream;
  const Recording recording = read_text(header() + state(0, record_file::kWhole) + call(record));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].time, TimeKind::host);
  EXPECT_TRUE(recording.calls[0].own_time);
  EXPECT_FALSE(recording.calls[0].blocks);
  EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 500e-9);
  EXPECT_TRUE(recording.omissions.empty());
}

TEST(HeadwayRecord, MessagesHaveTheirOtherEndAndTag) {
  const Recording recording = read_text(header() + state(0, record_file::kWhole) +
                                        call({.duration_ns = 9,
                                              .bytes = 8,
                                              .asked = record_file::kReceive,
                                              .done = record_file::kReceive,
                                              .time = record_file::kHost,
                                              .peer = 3,
                                              .stream = 42,
                                              .flags = record_file::kPeer | record_file::kTag}));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].op, Operation::receive);
  EXPECT_EQ(recording.calls[0].peer, 3);
  EXPECT_EQ(recording.calls[0].tag, 42);
  EXPECT_FALSE(recording.calls[0].stream);
}

// [TRACE-2] wants ends as ranks of the run; MPI and the file count those of the communicator.
TEST(HeadwayRecord, TheOtherEndOfAGroupsMessageIsARankOfTheRun) {
  const Recording recording =
      read_text(header() + state(0, record_file::kWhole) + text("{\"group\":77,\"ranks\":[1,3]}") +
                call({.duration_ns = 9,
                      .bytes = 8,
                      .asked = record_file::kSend,
                      .done = record_file::kSend,
                      .time = record_file::kHost,
                      .group = 77,
                      .peer = 1,
                      .flags = record_file::kPeer}));
  ASSERT_EQ(recording.calls.size(), 1u);
  EXPECT_EQ(recording.calls[0].peer, 3);
}

TEST(HeadwayRecord, WaitsAddUpAndStepsAreCounted) {
  const auto wait = [](std::uint64_t ns) {
    return call({.duration_ns = ns, .asked = record_file::kWait, .done = record_file::kWait});
  };
  const std::string step = call({.asked = record_file::kStep, .done = record_file::kStep});
  const Recording recording = read_text(header() + state(0, record_file::kWhole) + step +
                                        wait(1'000'000) + step + wait(2'000'000));
  EXPECT_TRUE(recording.calls.empty());
  EXPECT_EQ(recording.marked_steps, 2);
  EXPECT_EQ(recording.ranks[0].waits, 2);
  EXPECT_DOUBLE_EQ(recording.ranks[0].waited.value(), 3e-3);
}

TEST(HeadwayRecord, AGroupOfManyRanksIsWrittenByItsStep) {
  const Recording recording =
      read_text(header() + state(0, record_file::kWhole) +
                text("{\"group\":5,\"first\":3,\"step\":8,\"size\":4}") + call(kReduceScatter));
  ASSERT_EQ(recording.groups.size(), 2u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{3, 11, 19, 27}));
  EXPECT_EQ(recording.groups[0].size, 4);
}

TEST(HeadwayRecord, WhereverAFileIsCutWhatIsWholeIsReadAndTheLossIsSaid) {
  const std::string whole = header() + state(0, 0) + text("{\"group\":77,\"ranks\":[1,3]}") +
                            call(kReduceScatter) + call(kReduceScatter) + call(kReduceScatter);
  const std::size_t calls_at = whole.size() - 3 * record_file::kRecordBytes;
  for (std::size_t size = header().size(); size < whole.size(); ++size) {
    const Recording recording = read_text(std::string_view(whole).substr(0, size));
    const std::size_t expected =
        size < calls_at ? 0 : (size - calls_at) / record_file::kRecordBytes;
    EXPECT_EQ(recording.calls.size(), expected) << size;
    const std::int64_t losses = omitted(recording, "records cut off at the end of a file") +
                                omitted(recording, "the end of a file, cut off within a text");
    const std::size_t behind = size - header().size();
    // Behind a whole state, text or call nothing is missing that one could see.
    const bool at_seam = behind == 0 || behind == record_file::kRecordBytes || size >= calls_at
                             ? behind % record_file::kRecordBytes == 0
                             : false;
    EXPECT_EQ(losses, at_seam ? 0 : 1) << size;
    EXPECT_EQ(recording.omissions.back().lost, false);  // says that it was not ended
  }
}

TEST(HeadwayRecord, WhatTheRecorderLostIsCounted) {
  const Recording recording =
      read_text(header() + state(12, record_file::kWhole) + call(kReduceScatter));
  EXPECT_EQ(omitted(recording, "calls that the recorder lost (buffer or disk full)"), 12);
}

// [RECORD-2] A clock that runs slow by 1 part in 1,000, and was 5,000 ns behind at its time 0: at
// its time t it is behind by 5,000 + t / 1,000, which the two measurements say exactly.
TEST(HeadwayRecord, ClocksThatDriftAreBroughtToThatOfRankZero) {
  const auto at = [](std::uint64_t ns) {
    Record record = kReduceScatter;
    record.start_ns = ns;
    return call(record);
  };
  const Recording recording = read_text(header() + state(0, record_file::kWhole) +
                                        text("{\"clock\":{\"at_ns\":1000000,\"offset_ns\":6000}}") +
                                        at(1'000'000) + at(2'000'000) + at(5'000'000) +
                                        text("{\"clock\":{\"at_ns\":3000000,\"offset_ns\":8000}}"));
  ASSERT_EQ(recording.calls.size(), 3u);
  EXPECT_EQ(recording.calls[0].start_ns, 1'006'000);
  EXPECT_EQ(recording.calls[1].start_ns, 2'007'000);
  EXPECT_EQ(recording.calls[2].start_ns, 5'010'000);
}

TEST(HeadwayRecord, AClockMeasuredOnceIsMovedByThat) {
  const Recording recording =
      read_text(header() + state(0, record_file::kWhole) +
                text("{\"clock\":{\"at_ns\":7,\"offset_ns\":-300}}") + call(kReduceScatter));
  EXPECT_EQ(recording.calls.at(0).start_ns, 700);
}

// Rank 1 comes 400 ns late: rank 0 waits for it, and both then transfer for 100 ns. Of calls that
// do not block, and of those that a rank may leave early, nothing of the kind can be said.
TEST(HeadwayRecord, TheWaitingInBlockingCallsIsToldFromTheTransfer) {
  const auto file = [](int rank, std::uint64_t start, std::uint64_t duration) {
    Record reduce = kReduceScatter, later = kReduceScatter, root = kReduceScatter;
    reduce.start_ns = later.start_ns = root.start_ns = start;
    reduce.duration_ns = later.duration_ns = root.duration_ns = duration;
    later.sequence = 6;
    later.flags |= record_file::kUntil;
    root.asked = root.done = record_file::kBroadcast;
    return header(rank, 2) + state(0, record_file::kWhole) +
           text("{\"group\":77,\"ranks\":[0,1]}") + call(reduce) + call(later) + call(root);
  };
  Recording recording = read_text(file(0, 1000, 500));
  append(recording, read_text(file(1, 1400, 100)));
  const Alignment alignment = align(recording);
  ASSERT_EQ(alignment.matched.size(), 1u);
  EXPECT_TRUE(alignment.matched[0].complete);
  EXPECT_DOUBLE_EQ(alignment.matched[0].transfer.value(), 100e-9);
  EXPECT_NEAR(alignment.ranks[0].waiting.value(), 400e-9, 1e-15);
  EXPECT_NEAR(alignment.ranks[1].waiting.value(), 0, 1e-15);
  EXPECT_EQ(alignment.matched[0].last_rank, 1u);
}

// Four processes that each know no more than their own place in a communicator: its ranks are those
// of all files together, and what lies alike has one name.
TEST(HeadwayRecord, AGroupOfWhichEveryMemberSaysItsPlaceIsComplete) {
  Recording recording;
  for (int rank = 0; rank < 4; ++rank) {
    const auto member = [&](int group, int size, int place) {
      return text("{\"group\":" + std::to_string(group) + ",\"size\":" + std::to_string(size) +
                  ",\"member\":" + std::to_string(place) + ",\"rank\":" + std::to_string(rank) +
                  "}");
    };
    std::string file = header(rank, 4) + state(0, record_file::kWhole) + member(5, 4, rank);
    file += member(6 + rank % 2, 2, rank / 2);
    file += member(8 + rank % 2, 2, rank / 2);       // the same ranks again
    if (rank < 2) file += member(10, 3, rank);       // of a third one there is no file
    file += member(11 + rank / 2, 2, 1 - rank % 2);  // the other way round
    const auto send = [](std::uint32_t group, int place) {
      return call({.bytes = 8,
                   .asked = record_file::kSend,
                   .done = record_file::kSend,
                   .group = group,
                   .peer = place,
                   .flags = record_file::kPeer});
    };
    if (rank == 1) file += send(7, 1) + send(9, 0) + send(11, 1) + send(10, 0) + send(10, 2);
    if (rank == 0) {
      recording = read_text(file);
    } else {
      append(recording, read_text(file));
    }
  }
  complete_groups(recording);
  complete_groups(recording);  // no more happens
  std::vector<std::optional<std::int64_t>> ends;
  for (const RecordedCall& one : recording.calls) ends.push_back(one.peer);
  EXPECT_EQ(ends, (std::vector<std::optional<std::int64_t>>{3, 1, 0, 0, std::nullopt}));
  std::map<std::string, std::pair<std::vector<std::int64_t>, std::string>> said;
  for (const RecordedGroup& group : recording.groups) {
    said[group.id] = {group.ranks, group.description};
  }
  using Ranks = std::vector<std::int64_t>;
  EXPECT_EQ(said["5"], std::pair(Ranks({0, 1, 2, 3}), std::string("world")));
  EXPECT_EQ(said["6"], std::pair(Ranks({0, 2}), std::string("by 2")));
  EXPECT_EQ(said["7"], std::pair(Ranks({1, 3}), std::string("by 2")));
  EXPECT_EQ(said["9"], std::pair(Ranks({1, 3}), std::string("by 2 #2")));
  EXPECT_EQ(said["10"], std::pair(Ranks(), std::string("comm of 3")));
  EXPECT_EQ(said["11"].first, Ranks({1, 0}));
}

// A part each of three ranks; the size of the group says another file, or nobody.
TEST(HeadwayRecord, EqualPartsBecomeTheWholeWhereTheSizeOfTheGroupIsKnown) {
  Record part = kReduceScatter;
  part.flags |= record_file::kEachPart;
  const std::string file = header() + state(0, record_file::kWhole) + call(part);
  Recording unknown = read_text(file);
  complete_sizes(unknown);
  EXPECT_FALSE(unknown.calls.at(0).bytes);
  Recording known = read_text(file + text("{\"group\":77,\"size\":3}"));
  complete_sizes(known);
  EXPECT_EQ(known.calls.at(0).bytes, Bytes(3 * 4096));
}

// [TRACE-9] Two calls of 1 and 3 KiB ran as one for 400 ns: 100 and 300, one after the other.
TEST(HeadwayRecord, CallsThatRanAsOneShareItsTime) {
  Record small = kReduceScatter, large = kReduceScatter;
  small.time = large.time = record_file::kDevice;
  small.duration_ns = large.duration_ns = 400;
  small.bytes = 1024;
  large.bytes = 3 * 1024;
  small.flags = large.flags = record_file::kTogether;
  const Recording recording =
      read_text(header() + state(0, record_file::kWhole) + call(small) + call(large));
  ASSERT_EQ(recording.calls.size(), 2u);
  EXPECT_DOUBLE_EQ(recording.calls[0].duration->value(), 100e-9);
  EXPECT_DOUBLE_EQ(recording.calls[1].duration->value(), 300e-9);
  EXPECT_EQ(recording.calls[0].start_ns, 1000);
  EXPECT_EQ(recording.calls[1].start_ns, 1100);
  EXPECT_EQ(recording.calls[0].time, TimeKind::kernel);
}

TEST(HeadwayRecord, CallsOfAGraphHaveNoTimeAndThatIsSaid) {
  Record captured = kReduceScatter;
  captured.flags |= record_file::kCaptured;
  captured.time = record_file::kDevice;
  captured.duration_ns = 9000;  // nobody says so: it would be of no run of the graph
  const Recording recording = read_text(header() + state(0, record_file::kWhole) + call(captured));
  EXPECT_EQ(recording.calls.at(0).time, TimeKind::none);
  ASSERT_EQ(recording.omissions.size(), 1u);
  EXPECT_FALSE(recording.omissions[0].lost);
  EXPECT_NE(recording.omissions[0].what.find("how often they run"), std::string::npos);
}

TEST(HeadwayRecord, AProcessOfSeveralDevicesIsSeveralRanks) {
  const auto of_local = [](std::uint32_t local) {
    Record record = kReduceScatter;
    record.flags |= local << record_file::kLocalShift;
    return call(record);
  };
  const Recording recording =
      read_text(header(4, 8) + state(0, record_file::kWhole) + text("{\"local\":1,\"rank\":5}") +
                text("{\"local\":2,\"device\":6}") + text("{\"local\":99,\"rank\":7}") +
                of_local(0) + of_local(1) + of_local(2) + of_local(3));
  ASSERT_EQ(recording.ranks.size(), 3u);
  EXPECT_EQ(recording.ranks[1].number, 5);
  EXPECT_EQ(recording.ranks[1].world_size, 8);
  EXPECT_EQ(recording.ranks[2].label, "rank 4, device 6");
  EXPECT_FALSE(recording.ranks[2].number);
  std::vector<std::uint32_t> ranks;
  for (const RecordedCall& one : recording.calls) ranks.push_back(one.rank);
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{0, 1, 2, 0}));  // the last was not made known
  EXPECT_EQ(omitted(recording, "texts that could not be read"), 1);
}

TEST(HeadwayRecord, AFileOfALaterVersionIsRefusedWithTheReason) {
  const auto recording = read_trace_bytes("{\"headway_record\":2,\"rank\":0}\n", "test");
  ASSERT_FALSE(recording.ok());
  EXPECT_NE(recording.problems().front().message.find("later version"), std::string::npos);
}

}  // namespace
}  // namespace headway
