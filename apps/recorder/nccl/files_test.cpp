// What is asked of a recording: which calls and steps; and where its files lie.
#include <gtest/gtest.h>

#include "programs_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace headway
