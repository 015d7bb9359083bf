// The recorder of NCCL before a stand-in for NCCL and CUDA (stub/): what is in the files is what
// the program's source says (stub/program_for_test.cpp), the library is given the same arguments
// with and without, and nothing waits for the device.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "../recordings_for_test.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct Ended {
  std::vector<int> codes;
  std::vector<std::string> out, err, log, truth;  // of each process
};

// By the program: linked with NCCL; with a part that is loaded for itself alone, as Python does; or
// linked with RCCL.
class NcclRecorder : public ::testing::TestWithParam<const char*> {
 protected:
  std::string recording() const { return (folder_ / "recording").string(); }

  // One process a rank; `before` stands before a shell that starts them.
  Ended launch(const std::string& mode, const std::string& before, int ranks = 4,
               const std::string& variables = "") const {
    std::ostringstream script;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string file = std::to_string(rank);
      script << "STUB_LOG=log" << file << " STUB_TRUTH=truth" << file << " RANK=" << file
             << " WORLD_SIZE=" << ranks << " " << variables << " '" << GetParam() << "' " << mode
             << " >out" << file << " 2>err" << file << " & pids=\"$pids $!\"; ";
    }
    script << "for p in $pids; do wait $p; echo $? >>codes; done";
    std::ofstream(folder_ / "script") << script.str() << "\n";
    const std::string command = "cd '" + folder_.string() + "' && rm -f codes && " + before +
                                " timeout 120 bash script 2>starter </dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0) << read(folder_ / "starter");
    Ended ended;
    std::istringstream codes(read(folder_ / "codes"));
    for (int code = 0; codes >> code;) ended.codes.push_back(code);
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string file = std::to_string(rank);
      ended.out.push_back(read(folder_ / ("out" + file)));
      ended.err.push_back(read(folder_ / ("err" + file)));
      ended.log.push_back(read(folder_ / ("log" + file)));
      ended.truth.push_back(read(folder_ / ("truth" + file)));
    }
    return ended;
  }
  Ended record(const std::string& mode, const std::string& flags = "", int ranks = 4,
               const std::string& variables = "") const {
    return launch(mode, "'" HEADWAY_PROGRAM "' record " + flags + " -o recording --", ranks,
                  variables);
  }

  // With and without: the same results, and NCCL given the same arguments.
  Recording recorded(const std::string& mode, const std::string& flags = "", int ranks = 4,
                     const std::string& variables = "") {
    const Ended bare = launch(mode, "", ranks, variables);
    ended_ = record(mode, flags, ranks, variables);
    EXPECT_EQ(ended_.codes, bare.codes);
    EXPECT_EQ(ended_.out, bare.out);
    EXPECT_EQ(ended_.log, bare.log);
    const RunRecording run = read_run_traces({recording()});
    EXPECT_TRUE(run.unread.empty());
    EXPECT_TRUE(run.doubts.empty());
    return run.recording;
  }

  testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  Ended ended_;
};

// Of one group.
Tally tally(const Recording& recording, std::int64_t rank, std::string_view group) {
  return tally_if(recording, rank, [&](const RecordedCall& call) {
    return recording.groups[*call.group].description == group;
  });
}

std::int64_t times_said(const Recording& recording, std::string_view what) {
  std::int64_t out = 0;
  for (const Omission& omission : recording.omissions) {
    if (omission.what.find(what) != std::string::npos) out += omission.count;
  }
  return out;
}

TEST_P(NcclRecorder, EveryCallHasTheBytesOfTheWholeTensor) {
  const Recording recording = recorded("collectives");
  ASSERT_EQ(recording.ranks.size(), 4u);
  // 1,000 elements, a part each of four ranks where NCCL counts parts.
  const Tally expected = {
      {{Operation::all_reduce, 4000}, 1},
      {{Operation::all_gather, 16'000}, 1},
      {{Operation::reduce_scatter, 8000}, 1},
      {{Operation::broadcast, 4000}, 1},
      {{Operation::broadcast, 2000}, 1},
      {{Operation::reduce, 8000}, 1},
      {{Operation::all_to_all, 16'000}, 1},
      {{Operation::gather, 16'000}, 1},
      {{Operation::scatter, 16'000}, 1},
      {{Operation::all_reduce, 1000}, 1},
      {{Operation::all_gather, 4000}, 1},
      {{Operation::all_to_all, 160}, 1},
      {{Operation::all_to_all, 40}, 1},
      {{Operation::send, 400}, 1},
      {{Operation::send, 0}, 1},
      {{Operation::other, 0}, 1},
      {{Operation::all_reduce, 40}, 1},
  };
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank, "world"), expected);
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  std::map<Operation, std::set<std::int64_t>> roots;
  for (const RecordedCall& call : recording.calls) {
    EXPECT_EQ(call.time, TimeKind::kernel) << to_name(call.op);
    if (call.peer) roots[call.op].insert(*call.peer);
    if (call.op == Operation::reduce) {
      EXPECT_EQ(call.type, ElementType::int64);
    }
    if (call.op == Operation::reduce_scatter) {
      EXPECT_EQ(call.type, ElementType::bf16);
    }
    const std::int64_t rank = *recording.ranks[call.rank].number;
    if (call.op == Operation::send) {
      EXPECT_EQ(call.peer, (rank + 1) % 4);
    }
  }
  EXPECT_EQ(roots[Operation::broadcast], (std::set<std::int64_t>{1, 2}));
  EXPECT_EQ(roots[Operation::reduce], (std::set<std::int64_t>{3}));
  EXPECT_EQ(lost(recording), 0);
}

// [RECORD-5] The stand-in knows when the device began with each call and how long it took; calls of
// one group on one stream ran as one, whose time is there once.
TEST_P(NcclRecorder, TimesAreThoseOfTheDeviceAndLieWhereItHadThem) {
  const Recording recording = recorded("collectives", "", 1);
  std::vector<std::pair<std::int64_t, double>> truth;
  std::istringstream lines(ended_.truth[0]);
  std::string function;
  long long begin = 0, ns = 0;
  while (lines >> function >> begin >> ns) truth.push_back({begin, static_cast<double>(ns)});
  ASSERT_EQ(truth.size(), recording.calls.size());
  std::vector<RecordedCall> calls = recording.calls;
  std::sort(calls.begin(), calls.end(),
            [](const auto& a, const auto& b) { return *a.start_ns < *b.start_ns; });
  std::vector<double> apart;
  double excess = 1e9;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    // Between the events lies besides what the host takes to put the call there: never less.
    const double more = calls[i].duration->value() * 1e9 - truth[i].second;
    EXPECT_GE(more, -truth[i].second * 1e-3 - 2) << i;
    excess = std::min(excess, more);
    apart.push_back(std::abs(static_cast<double>(*calls[i].start_ns - truth[i].first)));
  }
  EXPECT_LT(excess, 1000);  // ns: of a call behind another one
  std::sort(apart.begin(), apart.end());
  EXPECT_LT(apart[apart.size() / 2], 50'000);  // ns, on a busy machine
}

TEST_P(NcclRecorder, ATrainerHasItsGroupsStepsAndWhatRanAsOne) {
  const Recording recording = recorded("trainer");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank, "world"),
              (Tally{{{Operation::send, 12'000}, 4}, {{Operation::receive, 12'000}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 2"), (Tally{{{Operation::all_reduce, 1000}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 2 #2"), (Tally{{{Operation::all_reduce, 400}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 1"),
              rank == 3 ? Tally() : (Tally{{{Operation::broadcast, 100}, 1}}));
  }
  std::multiset<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  EXPECT_EQ(groups, (std::multiset<std::vector<std::int64_t>>{
                        {0, 1, 2, 3}, {0, 2}, {0, 2}, {1, 3}, {1, 3}, {0, 1, 2}}));
  EXPECT_EQ(recording.marked_steps, 4);
  // A send and a receive of 12,000 bytes each ran in one kernel, of which each has half: of 20 us
  // and 24,000 bytes of 1 ns each, and what the host took to put them there.
  std::map<std::uint32_t, std::vector<RecordedCall>> messages;
  for (const RecordedCall& call : recording.calls) {
    if (call.op == Operation::send || call.op == Operation::receive) {
      messages[call.rank].push_back(call);
    }
  }
  for (const auto& [rank, calls] : messages) {
    ASSERT_EQ(calls.size(), 8u);
    for (std::size_t i = 0; i < 8; i += 2) {
      const RecordedCall &send = calls[i], &receive = calls[i + 1];
      EXPECT_GE(send.duration->value(), 0.999 * 22e-6);
      EXPECT_NEAR(receive.duration->value(), send.duration->value(), 1e-9);
      EXPECT_NEAR(static_cast<double>(*receive.start_ns - *send.start_ns) * 1e-9,
                  send.duration->value(), 2e-9);
    }
  }
}

TEST_P(NcclRecorder, CallsPutIntoAGraphHaveNoTimeAndThatIsSaid) {
  const Recording recording = recorded("captured", "", 1);
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const RecordedCall& call : recording.calls) {
    const bool free = call.op == Operation::broadcast || call.bytes == Bytes(40);
    EXPECT_EQ(call.time, free ? TimeKind::kernel : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 2);
}

TEST_P(NcclRecorder, CallsPutIntoAGraphAreKnownWithoutTimesOfTheDeviceToo) {
  const Recording recording = recorded("captured", "--device-times off", 1);
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const RecordedCall& call : recording.calls) {
    const bool alone = call.bytes == Bytes(40);  // of those of a group nobody knows the time
    EXPECT_EQ(call.time, alone ? TimeKind::enqueue : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 2);
}

TEST_P(NcclRecorder, CallsOnMoreCommunicatorsThanAreKeptAreCounted) {
  const Recording recording = recorded("crowded", "--device-times off", 1);
  EXPECT_EQ(tally(recording, 0), (Tally{{{Operation::all_reduce, 40}, 1}}));
  EXPECT_EQ(lost(recording), 2);
}

TEST_P(NcclRecorder, AProcessWithFourDevicesIsFourRanks) {
  // Launched as one process, of which the launcher says that it is rank 0 of 1.
  const Recording recording = recorded("several", "", 1);
  ASSERT_EQ(recording.ranks.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    Tally expected = {{{Operation::all_gather, 1600}, 3}};
    if (rank == 1) expected[{Operation::send, 308}] = 1;
    EXPECT_EQ(tally(recording, rank), expected) << rank;
  }
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

// [RECORD-4] Four devices each, of eight ranks: what one process makes alone is none of the
// other's.
TEST_P(NcclRecorder, CommunicatorsOfAProcessAloneAreGroupsOfTheirOwn) {
  const Recording recording = recorded("several", "", 2, "WORLD_SIZE=8");
  EXPECT_EQ(recording.ranks.size(), 8u);
  ASSERT_EQ(recording.groups.size(), 2u);
  EXPECT_NE(recording.groups[0].id, recording.groups[1].id);
  std::map<std::uint32_t, std::set<std::uint32_t>> ranks;  // that called, by group
  for (const RecordedCall& call : recording.calls) ranks[call.group.value()].insert(call.rank);
  EXPECT_EQ(ranks[0].size(), 4u);
  EXPECT_EQ(ranks[1].size(), 4u);
}

TEST_P(NcclRecorder, TheRankIsThatOfTheLauncherOrElseOfTheFirstCommunicator) {
  for (const char* variables :
       {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", "SLURM_PROCID=2 SLURM_NTASKS=4",
        "PMI_RANK=2 PMI_SIZE=4", "RANK=2 WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=1"}) {
    fs::remove_all(recording());
    const std::string command = "cd '" + folder_.string() + "' && env -u RANK -u WORLD_SIZE " +
                                variables + " '" HEADWAY_PROGRAM "' record -o recording -- '" +
                                GetParam() + "' collectives >out 2>err";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3);
    EXPECT_TRUE(fs::exists(fs::path(recording()) / "rank2.nccl.hwr")) << variables;
  }
  fs::remove_all(recording());
  const std::string command =
      "cd '" + folder_.string() +
      "' && env -u RANK -u OMPI_COMM_WORLD_RANK -u SLURM_PROCID -u PMI_RANK '" HEADWAY_PROGRAM
      "' record -o recording -- '" +
      GetParam() + "' several >out 2>err";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3);
  const Recording recording = read_run_traces({this->recording()}).recording;
  ASSERT_EQ(recording.ranks.size(), 4u);
  EXPECT_EQ(recording.ranks[0].number, 0);
  EXPECT_EQ(recording.ranks[0].world_size, 4);
}

TEST_P(NcclRecorder, FiltersKeepWhatIsAskedFor) {
  {
    const Recording recording = recorded("trainer", "--min-bytes '1 kB' --ops all_reduce,send");
    EXPECT_EQ(tally(recording, 2),
              (Tally{{{Operation::send, 12'000}, 4}, {{Operation::all_reduce, 1000}, 4}}));
  }
  fs::remove_all(recording());
  const Recording recording = recorded("trainer", "--steps 1..2");
  EXPECT_EQ(tally(recording, 1, "by 2"), (Tally{{{Operation::all_reduce, 1000}, 2}}));
  for (const RecordedCall& call : recording.calls) {  // numbered as if all were recorded
    if (call.sequence) {
      EXPECT_TRUE(call.sequence == 1 || call.sequence == 2);
    }
  }
}

TEST_P(NcclRecorder, AStepThatBeganBeforeTheFirstCommunicatorCounts) {
  {
    const Recording recording = recorded("lazy", "", 2);
    EXPECT_EQ(recording.marked_steps, 3);
    EXPECT_EQ(tally(recording, 1), (Tally{{{Operation::all_reduce, 40}, 3}}));
  }
  fs::remove_all(recording());
  const Recording recording = recorded("lazy", "--steps 0", 2);
  EXPECT_EQ(recording.marked_steps, 1);
  EXPECT_EQ(tally(recording, 1), (Tally{{{Operation::all_reduce, 40}, 1}}));
}

TEST_P(NcclRecorder, WithoutTimesOfTheDeviceThoseOfPuttingACallThereStay) {
  const Recording recording = recorded("collectives", "--device-times off", 1);
  ASSERT_EQ(recording.calls.size(), 17u);
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.time, TimeKind::enqueue);
}

TEST_P(NcclRecorder, OfAVersionThatIsNotKnownThatIsSaidOnceAndNoEventIsMade) {
  const Recording recording = recorded("collectives", "", 1, "STUB_VERSION=23400");
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.time, TimeKind::enqueue);
  const std::string& err = ended_.err[0];
  const std::size_t said = err.find(" 2.34.0 is a version whose interface is not known");
  EXPECT_NE(said, std::string::npos) << err;
  EXPECT_EQ(err.find(" 2.34.0", said + 1), std::string::npos) << err;
}

TEST_P(NcclRecorder, OfAKilledProgramTheCallsBeforeItsLastMomentsAreRead) {
  record("killed");
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ((tally(run.recording, rank)[{Operation::all_reduce, 8}]), 50);
  }
  EXPECT_GT(times_said(run.recording, "were not ended"), 0);
}

TEST_P(NcclRecorder, ChildrenOfTheProgramWriteNothing) {
  const Recording recording = recorded("forked", "", 2);
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 20}}));
  }
}

TEST_P(NcclRecorder, AProgramThatLeavesWhileTheDeviceIsBusyIsNotKeptWaiting) {
  const Recording recording = recorded("left", "", 1);
  EXPECT_EQ(ended_.codes, std::vector<int>{6});
  Tally expected = {{{Operation::all_reduce, 8}, 10}, {{Operation::all_reduce, 4e9}, 1}};
  EXPECT_EQ(tally(recording, 0), expected);
  for (const RecordedCall& call : recording.calls) {  // it ends 4 s later
    if (call.bytes == Bytes(4e9)) {
      EXPECT_EQ(call.time, TimeKind::enqueue);
    }
  }
}

TEST_P(NcclRecorder, WhereAFileMayNotGrowTheRestIsCountedAndTheProgramGoesOn) {
  const Recording recording = recorded("limited", "--device-times off", 1);
  const int kept = tally(recording, 0)[{Operation::all_reduce, 8}];
  EXPECT_GT(kept, 5000);
  EXPECT_LT(kept, 512 * 1024 / 48);
  EXPECT_EQ(kept + lost(recording), 60'000);
}

TEST_P(NcclRecorder, TwoProgramsOfOneCommandHaveAFolderEach) {
  const std::string command = "cd '" + folder_.string() +
                              "' && RANK=0 WORLD_SIZE=1 '" HEADWAY_PROGRAM
                              "' record -o recording -- sh -c '\"$1\" forked; \"$1\" forked' sh '" +
                              GetParam() + "' >out 2>err";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3) << read(folder_ / "err");
  for (const std::string& folder : {recording(), recording() + "/run2"}) {
    EXPECT_EQ(read_run_traces({folder}).recording.calls.size(), 20u) << folder;
  }
}

TEST_P(NcclRecorder, OffLeavesTheProgramAlone) {
  const Ended ended = record("collectives", "--nccl off", 1);
  EXPECT_EQ(ended.codes, std::vector<int>{3});
  EXPECT_TRUE(fs::is_empty(recording()));
}

std::string program_name(const ::testing::TestParamInfo<const char*>& of) {
  constexpr const char* names[] = {"linked", "loaded", "rccl"};
  return names[of.index];
}

INSTANTIATE_TEST_SUITE_P(Program, NcclRecorder,
                         ::testing::Values(HEADWAY_NCCL_LINKED, HEADWAY_NCCL_LOADED,
                                           HEADWAY_RCCL_LINKED),
                         program_name);

TEST(NcclRecorderParts, WhatNcclIsAskedWrongIsSaidAtOnce) {
  const testing::TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  const auto said = [&](const std::string& command) {
    const std::string whole = "cd '" + folder.string() + "' && " + command + " >out 2>err";
    EXPECT_EQ(WEXITSTATUS(std::system(whole.c_str())), 2) << command;
    return read(folder / "err");
  };
  const std::string record = "'" HEADWAY_PROGRAM "' record ";
  std::string err = said(record + "--nccl all --device-times maybe -- true");
  EXPECT_NE(err.find("--nccl"), std::string::npos) << err;
  EXPECT_NE(err.find("--device-times"), std::string::npos) << err;
  err = said(record + "--nccl off --device-times on -- true");
  EXPECT_NE(err.find("says nothing with --nccl off"), std::string::npos) << err;
  err = said("NCCL_PROFILER_PLUGIN=mine " + record + "--nccl plugin -- true");
  EXPECT_NE(err.find("'mine' already"), std::string::npos) << err;
}

// No name of a function that waits for a device stands in the libraries, and they need the C
// library alone.
TEST(NcclRecorderParts, NothingThatWaitsForADeviceIsCalled) {
  for (const char* library : {HEADWAY_NCCL_LIBRARY, HEADWAY_NCCL_PLUGIN}) {
    const std::string bytes = read(library);
    ASSERT_FALSE(bytes.empty());
    for (const char* word : {"Synchronize", "cuStreamWait", "cudaDevice"}) {
      EXPECT_EQ(bytes.find(word), std::string::npos) << library << ": " << word;
    }
  }
}

}  // namespace
}  // namespace headway
