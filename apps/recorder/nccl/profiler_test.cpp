// The profiler plugin in every version of NCCL's interface, loaded and called as NCCL does
// (stub/loader_for_test.cpp): what is in the recording is what NCCL told.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "../recordings_for_test.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

class NcclProfiler : public ::testing::TestWithParam<int> {
 protected:
  // Four ranks, one after another.
  Recording recorded(const std::string& flags) {
    const std::string version = std::to_string(GetParam());
    std::string command = "cd '" + folder_.string() + "' && '" HEADWAY_PROGRAM "' record ";
    command += "-o recording --nccl plugin " + flags + " -- sh -c 'for r in 0 1 2 3; do ";
    command += "RANK=$r WORLD_SIZE=4 \"" HEADWAY_NCCL_LOADER "\" " + version;
    command += " || code=$?; done; exit $code' >out 2>err";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3) << read(folder_ / "err");
    out_ = read(folder_ / "out");
    const RunRecording run = read_run_traces({(folder_ / "recording").string()});
    EXPECT_TRUE(run.unread.empty());
    EXPECT_TRUE(run.doubts.empty());
    EXPECT_EQ(run.recording.ranks.size(), 4u);
    return run.recording;
  }

  testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  std::string out_;
};

// 1,000 floats, of an all-gather and a reduce-scatter one rank's part; 500 numbers of bf16.
TEST_P(NcclProfiler, CallsHaveTheirGroupAndTheBytesOfTheWholeTensor) {
  const Recording recording = recorded("");
  Tally expected = {{{Operation::all_reduce, 4000}, 3}, {{Operation::all_gather, 16'000}, 3},
                    {{Operation::reduce, 4000}, 3},     {{Operation::send, 1000}, 3},
                    {{Operation::broadcast, 4000}, 1},  {{Operation::reduce_scatter, 16'000}, 1}};
  if (GetParam() >= 6)
    expected[{Operation::all_gather, 400}] = 3;  // by copy engines, 100 bytes a part
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), expected) << rank;
  EXPECT_EQ(recording.marked_steps, 3);
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  std::map<std::pair<Operation, std::int64_t>, int> together;
  for (const RecordedCall& call : recording.calls) {
    EXPECT_EQ(call.time, TimeKind::enqueue);
    if (call.op == Operation::reduce) {
      EXPECT_EQ(call.peer, 2);
    }
    if (call.op == Operation::send) {
      EXPECT_EQ(call.peer, (*recording.ranks[call.rank].number + 1) % 4);
      EXPECT_EQ(call.type, ElementType::bf16);
    } else {
      ++together[{call.op, call.sequence.value()}];
    }
  }
  // Calls of all ranks with one number are one collective; by copy engines NCCL counts on its own.
  for (const auto& [number, calls] : together) {
    EXPECT_EQ(calls % 4, 0) << to_name(number.first) << number.second;
  }
  const int collectives = 2 | 4, engines = GetParam() >= 6 ? 1 << 12 : 0;
  EXPECT_NE(out_.find("headway mask " + std::to_string(collectives | engines) + "\n"),
            std::string::npos)
      << out_;
}

// Before v4 NCCL tells one rank's part, 4,000 bytes, and no size of the group: the whole is not
// below.
TEST_P(NcclProfiler, APartIsNotTakenForTheWholeWhereSmallCallsAreLeftOut) {
  const Recording recording = recorded("--min-bytes '10 kB'");
  const Tally expected = {{{Operation::all_gather, 16'000}, 3},
                          {{Operation::reduce_scatter, 16'000}, 1}};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), expected) << rank;
}

// [RECORD-6] All calls of the test begin at one time of the device's clock, of which the host heard
// soonest in the first: there they lie, however much later it heard of the others.
//
// From the first channel's begin to the last one's stop: 6,000 - 1,000 ns of two, 4,000 of one. Of
// the broadcast one channel of three spoke, of the reduce-scatter one of two said that it stopped.
TEST_P(NcclProfiler, TheTimeOnTheDeviceIsFromTheFirstChannelToTheLast) {
  const Recording recording = recorded("--device-times on");
  const bool has_clock = GetParam() >= 4;
  int timed = 0;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> starts;  // of a rank: first, last
  for (const RecordedCall& call : recording.calls) {
    const bool engines = call.op == Operation::all_gather && call.bytes == Bytes(400);
    const bool unfinished = call.op == Operation::reduce_scatter || call.op == Operation::broadcast;
    if (!has_clock || engines || unfinished) {
      EXPECT_EQ(call.time, TimeKind::enqueue) << to_name(call.op);
      continue;
    }
    ++timed;
    const auto [at, added] = starts.try_emplace(call.rank, *call.start_ns, *call.start_ns);
    at->second = {std::min(at->second.first, *call.start_ns),
                  std::max(at->second.second, *call.start_ns)};
    EXPECT_EQ(call.time, TimeKind::kernel) << to_name(call.op);
    const bool two = call.op == Operation::all_reduce || call.op == Operation::all_gather;
    EXPECT_NEAR(call.duration->value(), two ? 5e-6 : 4e-6, 1e-7) << to_name(call.op);
  }
  for (const auto& [rank, range] : starts) EXPECT_LT(range.second - range.first, 2000) << rank;
  EXPECT_EQ(timed, has_clock ? 4 * 4 * 3 : 0);
}

INSTANTIATE_TEST_SUITE_P(Version, NcclProfiler, ::testing::Range(1, 7),
                         [](const auto& of) { return "v" + std::to_string(of.param); });

}  // namespace
}  // namespace headway
