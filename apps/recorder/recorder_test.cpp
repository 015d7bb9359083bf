// Real programs of MPI under `headway record`: what is in the files is what their source says
// (mpi/program_for_test.cpp), and they give the same results with and without.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "recordings_for_test.hpp"
#include "trace/files.hpp"
#include "trace/recording/record_file.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct Output {
  int code = -1;
  std::string out, err;
};

// By the kind of MPI that the program is linked with.
class Recorder : public ::testing::TestWithParam<const char*> {
 protected:
  std::string recording() const { return (folder_ / "recording").string(); }

  // The program on `ranks` ranks; `before` stands before the launcher.
  Output launch(const std::string& mode, const std::string& before, int ranks = 4,
                const std::string& inside = "") const {
    const bool openmpi = std::string(GetParam()) == "openmpi";
    const std::string launcher =
        openmpi ? "mpirun.openmpi --oversubscribe --allow-run-as-root" : "mpirun.mpich";
    const std::string command = "cd '" + folder_.string() + "' && " + before + " timeout 300 " +
                                launcher + " -np " + std::to_string(ranks) + " " + inside +
                                " '" HEADWAY_MPI_PROGRAM "_" + GetParam() + "' " + mode +
                                " >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    std::string out = read(folder_ / "out");
    if (out.starts_with("rank ")) {  // of several ranks, in any order
      std::vector<std::string> lines;
      std::istringstream text(out);
      for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
      std::sort(lines.begin(), lines.end());
      out.clear();
      for (const std::string& line : lines) out += line;
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, read(folder_ / "err")};
  }
  Output record(const std::string& mode, const std::string& flags = "", int ranks = 4,
                const std::string& inside = "") const {
    return launch(mode, "'" HEADWAY_PROGRAM "' record " + flags + " -o recording --", ranks,
                  inside);
  }

  // Runs it with and without, the results compared; and what was recorded.
  Recording recorded(const std::string& mode, const std::string& flags = "") const {
    const Output bare = launch(mode, "");
    const Output with = record(mode, flags);
    EXPECT_EQ(with.code, bare.code) << with.err;
    EXPECT_EQ(with.out, bare.out);
    const RunRecording run = read_run_traces({recording()});
    EXPECT_TRUE(run.unread.empty());
    EXPECT_EQ(run.recording.ranks.size(), 4u);
    return run.recording;
  }

  testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_P(Recorder, ARingOfMessages) {
  const Recording recording = recorded("ring");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank),
              (Tally{{{Operation::send, 8}, 10}, {{Operation::receive, 8}, 10}}));
  }
  for (const RecordedCall& call : recording.calls) {
    const std::int64_t rank = *recording.ranks[call.rank].number;
    // A receive from any source says who it was, and its tag.
    EXPECT_EQ(call.peer, call.op == Operation::send ? (rank + 1) % 4 : (rank + 3) % 4);
    EXPECT_EQ(call.tag, 7);
    EXPECT_EQ(call.type, ElementType::int64);
    EXPECT_EQ(call.time, TimeKind::host);
    EXPECT_GT(call.duration->value(), 0);
    ASSERT_TRUE(call.group);
    EXPECT_EQ(recording.groups[*call.group].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  }
  EXPECT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(lost(recording), 0);
}

TEST_P(Recorder, AStencilWithPersistentCallsHasOneOfEachForEveryStart) {
  const Recording recording = recorded("stencil");
  // 100 doubles up and down; at the edges one of the two goes nowhere.
  const Tally inner = {{{Operation::send, 800}, 40},
                       {{Operation::receive, 800}, 40},
                       {{Operation::all_reduce, 8}, 20}};
  const Tally edge = {{{Operation::send, 800}, 20},
                      {{Operation::send, 0}, 20},
                      {{Operation::receive, 800}, 20},
                      {{Operation::receive, 0}, 20},
                      {{Operation::all_reduce, 8}, 20}};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), rank == 0 || rank == 3 ? edge : inner) << rank;
  }
  EXPECT_EQ(recording.marked_steps, 20);
  for (const RecordedRank& rank : recording.ranks) {
    EXPECT_EQ(rank.waits, 20);
    EXPECT_GT(rank.waited.value(), 0);
  }
}

TEST_P(Recorder, EveryCollectiveHasTheBytesOfTheWholeTensor) {
  const Recording recording = recorded("collectives");
  // Parts of 10 floats, or 10, 20, 30, 40 of the four ranks: 400 bytes together.
  for (int rank = 0; rank < 4; ++rank) {
    const double own = 40 * (rank + 1);
    Tally expected = {
        {{Operation::barrier, -1}, 3 * 2},
        {{Operation::broadcast, 40}, 3 * 2},
        {{Operation::gather, 160}, 3},
        {{Operation::scatter, 160}, 3},
        {{Operation::all_gather, 160}, 3},
        {{Operation::all_gather, 400}, 3},
        {{Operation::all_to_all, 160}, 3},
        {{Operation::all_to_all, 400}, 3 * 2},
        {{Operation::reduce, 40}, 3},
        {{Operation::all_reduce, 40}, 3 * 2},
        {{Operation::reduce_scatter, 400}, 3},
        {{Operation::reduce_scatter, 160}, 3},
        {{Operation::other, 40}, 3 * 2},
        // What all give together knows the root alone.
        {{Operation::gather, rank == 0 ? 400 : -1}, 3},
        {{Operation::scatter, rank == 0 ? 400 : -1}, 3},
    };
    EXPECT_EQ(tally(recording, rank), expected) << rank;
    for (const RecordedCall& call : recording.calls) {
      if (recording.ranks[call.rank].number != rank || call.bytes) continue;
      if (call.op == Operation::barrier) continue;
      EXPECT_EQ(call.counted_bytes, Bytes(own));
    }
  }
  // Calls of all ranks with one number are one collective.
  std::map<std::int64_t, std::map<Operation, int>> together;
  for (const RecordedCall& call : recording.calls) ++together[call.sequence.value()][call.op];
  EXPECT_EQ(together.size(), 60u);
  for (const auto& [number, ops] : together) {
    EXPECT_EQ(ops.size(), 1u) << number;
    EXPECT_EQ(ops.begin()->second, 4) << number;
  }
}

TEST_P(Recorder, ADataParallelTrainerHasItsGroups) {
  const Recording recording = recorded("trainer");
  const Tally step = {{{Operation::all_gather, 800}, 6},
                      {{Operation::all_reduce, 4000}, 6},
                      {{Operation::all_reduce, 96}, 6}};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), step);
  std::multiset<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  // Two rows, and two columns twice: a duplicate is another group of the same ranks.
  EXPECT_EQ(groups, (std::multiset<std::vector<std::int64_t>>{
                        {0, 1}, {2, 3}, {0, 2}, {0, 2}, {1, 3}, {1, 3}, {0, 1, 2, 3}}));
  for (const RecordedCall& call : recording.calls) {
    const std::vector<std::int64_t>& ranks = recording.groups[*call.group].ranks;
    const std::int64_t rank = *recording.ranks[call.rank].number;
    EXPECT_EQ(ranks, call.op == Operation::all_gather
                         ? (std::vector<std::int64_t>{rank / 2 * 2, rank / 2 * 2 + 1})
                         : (std::vector<std::int64_t>{rank % 2, rank % 2 + 2}));
  }
  EXPECT_EQ(recording.marked_steps, 6);
}

TEST_P(Recorder, MessagesAreClosedWhereTheProgramSeesThemDone) {
  const Recording recording = recorded("messages");
  const Tally expected = {{{Operation::receive, 16}, 4},      {{Operation::send, 16}, 4},
                          {{Operation::send, 0}, 4},          {{Operation::send, 5}, 1},
                          {{Operation::send_receive, 32}, 4}, {{Operation::receive, 5}, 1},
                          {{Operation::receive, 0}, 1},       {{Operation::barrier, -1}, 1}};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), expected);
    EXPECT_GE(recording.ranks[static_cast<std::size_t>(rank)].waits, 4 + 4 + 2);
  }
  for (const RecordedCall& call : recording.calls) {
    // The one that was let go of: when it was done nobody knows.
    const bool unseen = call.op == Operation::send && call.bytes == Bytes(5);
    EXPECT_EQ(call.time, unseen ? TimeKind::none : TimeKind::host);
  }
}

TEST_P(Recorder, OneSidedCallsAndThoseAmongNeighbours) {
  const Recording recording = recorded("others");
  // 10 integers to each of two neighbours.
  const Tally expected = {{{Operation::send, 40}, 1},
                          {{Operation::receive, 80}, 1},
                          {{Operation::send_receive, 4}, 1},
                          {{Operation::send_receive, 80}, 5}};
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank), expected);
  for (const RecordedRank& rank : recording.ranks) EXPECT_EQ(rank.waits, 5);
}

TEST_P(Recorder, CallsOfTheProfilingInterfaceAreRecordedOnceAsFortranMakesThem) {
  const Recording recording = recorded("profiled");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 5}}));
  }
}

TEST_P(Recorder, WideCountsPersistentCollectivesAndPartitionsOfMpi4) {
  if (std::string(GetParam()) == "openmpi") GTEST_SKIP() << "OpenMPI 4 and 5 have MPI 3.1";
  const Recording recording = recorded("version4");
  for (int rank = 0; rank < 4; ++rank) {
    const Operation message = rank % 2 == 0 ? Operation::send : Operation::receive;
    Tally expected = {{{Operation::all_reduce, 320}, 3},
                      {{Operation::broadcast, 160}, 1},
                      {{Operation::all_gather, 160}, 1},
                      {{Operation::send_receive, 80}, 1},
                      {{Operation::send, 320}, 2},
                      {{Operation::receive, 320}, 2},
                      {{message, 240}, 1}};
    EXPECT_EQ(tally(recording, rank), expected) << rank;
  }
}

TEST_P(Recorder, FilesAreRecordedAndAreNoCommunication) {
  const Recording recording = recorded("files");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 1}}));
  }
  std::int64_t files = 0;
  for (const Omission& omission : recording.omissions) {
    if (omission.what.find("reads and writes of files") != std::string::npos) {
      files += omission.count;
    }
  }
  EXPECT_EQ(files, 4 * 3);
  // By the bytes of the records: 800 were written, 800 and 400 were read, by function.
  for (int rank = 0; rank < 4; ++rank) {
    const std::string bytes = read(this->recording() + "/rank" + std::to_string(rank) + ".hwr");
    std::multiset<std::uint64_t> sizes;
    const std::size_t begin = bytes.find('\n') + 1;
    for (std::size_t at = begin; at + 48 <= bytes.size();) {
      record_file::Record record;
      std::memcpy(&record, bytes.data() + at, sizeof record);
      at += 48;
      if (record.asked == record_file::kText) at += 48 * record_file::slots(record.bytes);
      if (record.asked != record_file::kFile) continue;
      sizes.insert(record.bytes);
      EXPECT_GT(record.duration_ns, 0u);
      EXPECT_EQ(record.type, 11);  // 1 + fp64
    }
    EXPECT_EQ(sizes, (std::multiset<std::uint64_t>{400, 800, 800}));
  }
}

TEST_P(Recorder, AProgramOfSessionsAloneIsRecorded) {
  const Output bare = launch("sessions", "");
  if (bare.code == 77) GTEST_SKIP() << "OpenMPI has sessions since 5";
  const Recording recording = recorded("sessions");
  EXPECT_EQ(bare.code, 5);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank),
              (Tally{{{Operation::all_reduce, 80}, 3}, {{Operation::broadcast, 40}, 3}}));
  }
  std::set<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  EXPECT_EQ(groups, (std::set<std::vector<std::int64_t>>{{0, 1, 2, 3}, {0, 1}, {2, 3}}));
  EXPECT_EQ(recording.marked_steps, 3);
  EXPECT_EQ(lost(recording), 0);
  EXPECT_TRUE(recording.omissions.empty());
}

TEST_P(Recorder, FiltersKeepWhatIsAskedFor) {
  {
    const Recording recording = recorded("trainer", "--min-bytes '1 kB' --ops all_reduce,wait");
    EXPECT_EQ(tally(recording, 2), (Tally{{{Operation::all_reduce, 4000}, 6}}));
    EXPECT_EQ(recording.ranks.at(0).waits, 6);
  }
  fs::remove_all(recording());
  const Recording recording = recorded("trainer", "--steps 2..3");
  EXPECT_EQ(tally(recording, 1), (Tally{{{Operation::all_gather, 800}, 2},
                                        {{Operation::all_reduce, 4000}, 2},
                                        {{Operation::all_reduce, 96}, 2}}));
  EXPECT_EQ(recording.marked_steps, 2);
  // They are numbered as if all were recorded.
  for (const RecordedCall& call : recording.calls) {
    EXPECT_TRUE(call.sequence == 2 || call.sequence == 3);
  }
}

TEST_P(Recorder, OfAProgramThatMarksNoStepsThatIsSaid) {
  const Output with = record("ring", "--steps 2..3");
  EXPECT_EQ(with.code, 3);
  EXPECT_NE(with.err.find("the program marked no step"), std::string::npos) << with.err;
}

TEST_P(Recorder, FilesAreRotatedAndReadAsOne) {
  const Recording recording = recorded("many", "--rotate '1 MB'");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(this->recording())) {
    ++files;
    EXPECT_LT(entry.file_size(), 1'100'000u);
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
  EXPECT_GE(files, 4u * 2);  // 60,000 records of 48 bytes each
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 60'000}}));
  }
  EXPECT_EQ(lost(recording), 0);
}

TEST_P(Recorder, OfAKilledProgramTheCallsBeforeItsLastMomentsAreRead) {
  const Output with = record("killed");
  EXPECT_EQ(with.code, launch("killed", "").code) << with.err;
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_GE((tally(run.recording, rank)[{Operation::all_reduce, 8}]), 50);
  }
  bool said = false;
  for (const Omission& omission : run.recording.omissions) {
    said = said || omission.what.find("were not ended") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST_P(Recorder, AProgramThatAbortsHasItsFiles) {
  const Output with = record("aborted");
  EXPECT_EQ(with.code, launch("aborted", "").code) << with.err;
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  EXPECT_EQ((tally(run.recording, 0)[{Operation::all_reduce, 8}]), 50);
}

TEST_P(Recorder, ChildrenOfTheProgramWriteNothing) {
  const Recording recording = recorded("forked");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 20}}));
  }
  EXPECT_TRUE(recording.omissions.empty());
}

TEST_P(Recorder, AProgramThatLeavesWithoutFinalizeHasItsFiles) {
  const Output with = record("left");
  // MPICH's launcher says, by chance, the code of the one that left or that it killed the others.
  const std::string_view kind = GetParam();
  EXPECT_TRUE(with.code == 6 || (kind == "mpich" && with.code == 9)) << with.code << with.err;
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  EXPECT_EQ((tally(run.recording, 0)[{Operation::all_reduce, 8}]), 10);
}

TEST_P(Recorder, WhereAFileMayNotGrowTheRestIsCountedAndTheProgramGoesOn) {
  // Half a megabyte: room for some ten thousand of 60,000 records.
  const Output bare = launch("limited", "");
  const Output with = record("limited");
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(with.out, bare.out);
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  for (int rank = 0; rank < 4; ++rank) {
    const int kept = tally(run.recording, rank)[{Operation::all_reduce, 8}];
    EXPECT_GT(kept, 5000);
    EXPECT_LT(kept, 512 * 1024 / 48);
  }
  EXPECT_EQ(static_cast<std::int64_t>(run.recording.calls.size()) + lost(run.recording),
            4 * 60'000);
}

TEST_P(Recorder, AFolderThatCannotBeWrittenIsSaidOnceARankAndTheProgramRuns) {
  const Output bare = launch("ring", "");
  const Output with =
      launch("ring", "HEADWAY_RECORD=/proc/nowhere LD_PRELOAD='" HEADWAY_RECORDER "'");
  EXPECT_EQ(with.code, bare.code);
  EXPECT_EQ(with.out, bare.out);
  EXPECT_NE(with.err.find("rank 3 is not recorded: /proc/nowhere"), std::string::npos) << with.err;
}

TEST_P(Recorder, TwoProgramsOfOneCommandHaveAFolderEach) {
  const std::string twice =
      "'" HEADWAY_PROGRAM "' record -o recording -- sh -c '\"$@\"; \"$@\"' sh";
  const Output with = launch("ring", twice);
  EXPECT_EQ(with.code, 3) << with.err;
  for (const std::string& folder : {recording(), recording() + "/run2"}) {
    const RunRecording run = read_run_traces({folder});
    EXPECT_TRUE(run.unread.empty()) << folder;
    EXPECT_EQ(run.recording.calls.size(), 80u) << folder;
  }
}

// [RECORD-3] Between ranks of one machine the clocks are the same: what is measured of them is the
// error, at most half of the shortest round trip.
TEST_P(Recorder, ClocksOfOneMachineAreMeasuredToDifferByLessThanHalfARoundTrip) {
  const Output with =
      launch("ring", "HEADWAY_RECORD_CLOCK=measure '" HEADWAY_PROGRAM "' record -o recording --");
  EXPECT_EQ(with.code, 3) << with.err;
  for (int rank = 1; rank < 4; ++rank) {
    const std::string bytes = read(recording() + "/rank" + std::to_string(rank) + ".hwr");
    int pairs = 0;
    for (std::size_t at = 0; (at = bytes.find("{\"clock\"", at)) != std::string::npos; ++at) {
      long long when = 0, offset = 0;
      unsigned long long round_trip = 0;
      ASSERT_EQ(std::sscanf(bytes.c_str() + at,
                            "{\"clock\":{\"at_ns\":%lld,\"offset_ns\":%lld,\"round_trip_ns\":%llu",
                            &when, &offset, &round_trip),
                3);
      EXPECT_LE(std::llabs(offset), static_cast<long long>(round_trip / 2 + 1));
      ++pairs;
    }
    EXPECT_EQ(pairs, 2);  // at Init and at Finalize
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, Recorder, ::testing::Values(HEADWAY_MPI_KINDS),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace headway
