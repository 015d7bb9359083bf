// The recorder of torch.distributed without torch: programs of a stand-in (tests/stand_in_torch.py)
// are recorded by `headway record`, and headway's own reader reads what they left.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "../recorder/file/group_number.hpp"
#include "../recorder/recordings_for_test.hpp"
#include "trace/files.hpp"
#include "trace/recording/recording.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int code = 0;
  std::string out, err;
};

class PythonRecorder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c pass >/dev/null 2>&1") != 0) GTEST_SKIP() << "no python3 is here";
    fs::create_directories(folder_ / "store");
  }

  Ended run(const std::string& command) const {
    const int status = std::system(
        ("cd '" + folder_.string() + "' && ( " + command + " ) >out 2>err </dev/null").c_str());
    return {WEXITSTATUS(status), read(folder_ / "out"), read(folder_ / "err")};
  }
  // As many processes as ranks; the code is that of the last.
  static std::string ranks(const std::string& what, int count) {
    const std::string program = "python3 -B \"" HEADWAY_PYTHON_TESTS "/recorder_for_test.py\" ";
    std::string out = "sh -c '";
    for (int rank = 0; rank < count; ++rank) {
      out += program + what;
      out += " " + std::to_string(rank);
      out += " " + std::to_string(count);
      out += rank + 1 < count ? " & " : "; code=$?; wait; exit $code'";
    }
    return out;
  }
  Ended record(const std::string& what, int count, const std::string& flags = "",
               const std::string& before = "") const {
    return run(before + " '" HEADWAY_PROGRAM "' record --quiet " + flags + " -o recording -- " +
               ranks(what, count));
  }
  // Without the recorder: the package is there, and told of no folder.
  Ended launch(const std::string& what, int count) const {
    return run("export PYTHONPATH='" HEADWAY_PYTHON_LIBRARY "'; " + ranks(what, count));
  }
  std::string path() const { return (folder_ / "recording").string(); }
  Recording recorded() const {
    const RunRecording run = read_run_traces({path()});
    EXPECT_TRUE(run.unread.empty());
    return run.recording;
  }

  testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

// The functions of the Python package have the flags that the commands have.
TEST_F(PythonRecorder, ThePackagesFunctionsAreAsTheyWouldBeWritten) {
  const Ended checked =
      run("'" HEADWAY_PROGRAM "' list schemas | python3 -B \"" HEADWAY_PYTHON_TESTS
          "/../generate.py\" --check");
  EXPECT_EQ(checked.code, 0) << checked.err << "scripts/update-golden renews it";
}

// The calls of calls() in tests/recorder_for_test.py, with four bytes a number unless it says so.
TEST_F(PythonRecorder, EveryCallHasTheBytesOfTheWholeTensorItsGroupAndItsOtherEnd) {
  const Ended bare = launch("calls", 4);
  const Ended with = record("calls", 4);
  EXPECT_EQ(with.code, 3) << with.err;
  EXPECT_EQ(bare.code, 3);
  EXPECT_EQ(std::multiset<char>(with.out.begin(), with.out.end()),
            std::multiset<char>(bare.out.begin(), bare.out.end()));
  EXPECT_EQ(bare.err, "");
  EXPECT_NE(with.err.find("calls are missing"), std::string::npos) << with.err;  // the broken one

  const Recording recording = recorded();
  ASSERT_EQ(recording.ranks.size(), 4u);
  EXPECT_EQ(recording.marked_steps, 2);
  EXPECT_EQ(lost(recording), 0);
  const Tally expected = {
      {{Operation::all_reduce, 1000}, 1}, {{Operation::reduce_scatter, 1600}, 1},
      {{Operation::all_gather, 800}, 1},  {{Operation::all_to_all, 80}, 1},
      {{Operation::gather, 4 * 20}, 1},   {{Operation::scatter, 4 * 20}, 1},
      {{Operation::broadcast, 6}, 1},     {{Operation::barrier, -1}, 1},
      {{Operation::send, 28}, 1},         {{Operation::receive, 28}, 1},
      {{Operation::send, 4}, 1},          {{Operation::all_reduce, 4}, 1},
      {{Operation::all_reduce, 8}, 1}};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), expected) << rank;
    EXPECT_EQ(recording.ranks[static_cast<std::size_t>(rank)].waits, 1);  // of the message alone
  }
  std::set<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  EXPECT_EQ(groups, (std::set<std::vector<std::int64_t>>{{0, 1, 2, 3}, {0, 1}, {2, 3}}));
}

TEST_F(PythonRecorder, WhatWasAskedAndWhatTheBackendDidAreBothThereWithTheirTimes) {
  record("calls", 4);
  const Recording recording = recorded();
  for (const RecordedCall& call : recording.calls) {
    const std::int64_t rank = *recording.ranks[call.rank].number;
    const double bytes = call.bytes ? call.bytes->value() : -1;
    EXPECT_EQ(call.done_as, call.op == Operation::reduce_scatter
                                ? std::optional(Operation::all_reduce)
                                : std::nullopt);
    const bool message = call.op == Operation::send || call.op == Operation::receive;
    EXPECT_EQ(call.sequence.has_value(), !message);
    if (message) {
      EXPECT_EQ(call.peer, (rank + (call.op == Operation::send ? 1 : 3)) % 4);
    }
    if (call.op == Operation::broadcast) {
      EXPECT_EQ(call.peer, 2);
      EXPECT_EQ(call.type, ElementType::bf16);
    }
    // Of a message that nobody waits for nobody knows the end; of a device only what was put there.
    const bool unseen = call.op == Operation::send && bytes == 4;
    const bool on_device = call.op == Operation::all_reduce && bytes == 8;
    EXPECT_EQ(call.time, unseen ? TimeKind::none : on_device ? TimeKind::enqueue : TimeKind::host);
    const bool goes_on = call.op == Operation::reduce_scatter || call.op == Operation::send;
    EXPECT_EQ(call.blocks, call.time == TimeKind::host && !goes_on) << to_name(call.op);
  }
}

// [RECORD-1] The numbers are those that the recorder of MPI gives, by its own function.
TEST_F(PythonRecorder, CallsOfNcclAreLeftToItsOwnRecorderWhereThatIsThere) {
  record("on_nccl", 2);
  EXPECT_EQ(tally(recorded(), 1), (Tally{{{Operation::all_reduce, 12}, 1}}));
  fs::remove_all(folder_ / "recording");
  fs::remove_all(folder_ / "store");
  fs::create_directories(folder_ / "store");
  record("on_nccl", 2, "--nccl off");
  EXPECT_EQ(tally(recorded(), 1),
            (Tally{{{Operation::all_reduce, 8}, 1}, {{Operation::all_reduce, 12}, 1}}));
}

TEST_F(PythonRecorder, GroupsHaveTheNumbersThatOtherRecordersGiveThem) {
  record("calls", 4);
  std::set<std::string> ids;
  for (const RecordedGroup& group : recorded().groups) ids.insert(group.id);
  const int world[] = {0, 1, 2, 3}, low[] = {0, 1}, high[] = {2, 3};
  EXPECT_EQ(ids, (std::set<std::string>{std::to_string(recorder::group_number(world, 4, 0)),
                                        std::to_string(recorder::group_number(low, 2, 0)),
                                        std::to_string(recorder::group_number(high, 2, 0))}));
}

TEST_F(PythonRecorder, FiltersKeepWhatIsAskedFor) {
  record("calls", 2, "--steps 0 --ops all_reduce,reduce_scatter --min-bytes '1 kB'");
  const Recording recording = recorded();
  EXPECT_EQ(tally(recording, 0),
            (Tally{{{Operation::all_reduce, 1000}, 1}, {{Operation::reduce_scatter, 1600}, 1}}));
  EXPECT_EQ(recording.ranks.at(0).waits, 0);
  EXPECT_EQ(recording.marked_steps, 1);
}

TEST_F(PythonRecorder, OfAKilledProgramTheCallsBeforeItsLastMomentsAreRead) {
  EXPECT_EQ(record("killed", 2).code, launch("killed", 2).code);
  const Recording recording = recorded();
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 100}}));
  }
  ASSERT_EQ(recording.omissions.size(), 1u);
  EXPECT_NE(recording.omissions[0].what.find("were not ended"), std::string::npos);
}

// [RECORD-7] As far as the file system keeps what is in memory.
TEST_F(PythonRecorder, WhatWasOnItsWayWhenAProgramWasKilledIsCounted) {
  record("killed_at_once", 1);
  const Recording recording = recorded();
  if (times_said(recording, "last moments are not in them") > 0)
    GTEST_SKIP() << "nothing is mapped";
  EXPECT_EQ(static_cast<std::int64_t>(recording.calls.size()) + lost(recording), 100);
}

TEST_F(PythonRecorder, ChildrenOfTheProgramWriteNothing) {
  const Ended with = record("forked", 2);
  EXPECT_EQ(with.code, 0) << with.err;
  const Recording recording = recorded();
  EXPECT_EQ(tally(recording, 1), (Tally{{{Operation::all_reduce, 8}, 20}}));
  EXPECT_TRUE(recording.omissions.empty());
}

TEST_F(PythonRecorder, FilesAreRotatedAndReadAsOne) {
  record("many", 2, "--rotate '200 kB'");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(path())) {
    ++files;
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
  EXPECT_GE(files, 2u * 4);  // 20,000 records of 48 bytes each
  const Recording recording = recorded();
  EXPECT_EQ(tally(recording, 1), (Tally{{{Operation::all_reduce, 8}, 20'000}}));
  EXPECT_EQ(lost(recording), 0);
}

TEST_F(PythonRecorder, WhatTheBufferCannotTakeIsCountedInOneOfTheRotatedFiles) {
  record("crowded", 1, "--rotate '1 kB'");
  EXPECT_TRUE(fs::exists(fs::path(path()) / "rank0.1.hwr"));
  const Recording recording = recorded();
  EXPECT_EQ(tally(recording, 0), (Tally{{{Operation::all_reduce, 8}, 100}}));
  EXPECT_EQ(lost(recording), 3);
}

TEST_F(PythonRecorder, WhereAFileMayNotGrowTheRestIsCountedAndTheProgramGoesOn) {
  EXPECT_EQ(record("limited", 1).code, 0);
  const Recording recording = recorded();
  const int kept = tally(recording, 0)[{Operation::all_reduce, 8}];
  EXPECT_LT(kept, 100'000 / 48);
  // Of the marks of steps some are lost, too.
  EXPECT_EQ(kept + recording.marked_steps + lost(recording), 20'000 + 20);
}

TEST_F(PythonRecorder, RanksAgreeOnTheFolderOfASecondProgram) {
  const std::string twice = "rm -f \"$STORE\"/*; " + ranks("forked", 2);
  std::ofstream(folder_ / "both.sh") << twice << "\n" << twice << "\n";
  const Ended with = run("export STORE=$PWD/store; '" HEADWAY_PROGRAM
                         "' record --quiet -o recording -- sh both.sh");
  EXPECT_EQ(with.code, 0) << with.err;
  for (const std::string& folder : {path(), path() + "/run2"}) {
    const RunRecording run = read_run_traces({folder});
    EXPECT_EQ(run.recording.calls.size(), 40u) << folder;
  }
}

TEST_F(PythonRecorder, RangesOfNvtxMarkStepsByTheirName) {
  const Ended with = record("ranged", 1, "--step-range 'train step' --steps 1");
  EXPECT_EQ(with.code, 0) << with.err;
  const Recording recording = recorded();
  EXPECT_EQ(recording.marked_steps, 1);
  EXPECT_EQ(tally(recording, 0), (Tally{{{Operation::all_reduce, 8}, 2}}));
}

// [RECORD-3] Between ranks of one machine the clocks are the same: what is measured of them is the
// error, at most half of the shortest round trip.
TEST_F(PythonRecorder, ClocksOfOneMachineAreMeasuredToDifferByLessThanHalfARoundTrip) {
  const Ended with =
      record("clock", 2, "", "export STORE=$PWD/store HEADWAY_RECORD_CLOCK=measure;");
  EXPECT_EQ(with.code, 0) << with.err;
  const std::string bytes = read(fs::path(path()) / "rank1.hwr");
  long long when = 0, offset = 0, round_trip = 0;
  const std::size_t at = bytes.find("{\"clock\"");
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(std::sscanf(bytes.c_str() + at,
                        "{\"clock\":{\"at_ns\":%lld,\"offset_ns\":%lld,\"round_trip_ns\":%lld",
                        &when, &offset, &round_trip),
            3);
  EXPECT_LE(std::llabs(offset), round_trip / 2 + 1);
  EXPECT_EQ(read(fs::path(path()) / "rank0.hwr").find("{\"clock\""), std::string::npos);
}

// [RECORD-3] By hand: of three rounds the second is the shortest, 80 ns from 300; its middle is
// 340, and theirs said 1,345. Who does not know the word is not answered.
TEST_F(PythonRecorder, TheShortestRoundSaysTheOffset) {
  const Ended said = launch("offset", 1);
  EXPECT_EQ(said.out, "None\n{'clock': {'at_ns': 340, 'offset_ns': 1005, 'round_trip_ns': 80}}\n")
      << said.err;
}

TEST_F(PythonRecorder, WhatWouldHaveRunAtTheStartOfPythonRunsAndTorchIsNotImported) {
  fs::create_directories(folder_ / "own");
  std::ofstream(folder_ / "own" / "sitecustomize.py") << "print('own start')\n";
  const Ended with =
      run("export PYTHONPATH=$PWD/own; '" HEADWAY_PROGRAM
          "' record --quiet -o recording -- python3 -B -c 'import sys; print([name for name in "
          "sys.modules if name.startswith(\"torch\") or name.startswith(\"headway.record.\")])'");
  EXPECT_EQ(with.out, "own start\n['headway.record.importing']\n") << with.err;
  EXPECT_EQ(with.err, "");
}

TEST_F(PythonRecorder, AFolderThatCannotBeWrittenIsSaidAndTheProgramRuns) {
  const Ended with =
      run("export PYTHONPATH='" HEADWAY_PYTHON_LIBRARY "' HEADWAY_RECORD=/proc/nowhere; " +
          ranks("forked", 1));
  EXPECT_EQ(with.code, 0);
  EXPECT_NE(with.err.find("rank 0 is not recorded: /proc/nowhere"), std::string::npos) << with.err;
}

}  // namespace
}  // namespace headway
