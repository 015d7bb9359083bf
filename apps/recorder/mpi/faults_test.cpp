// Programs that end otherwise than by MPI_Finalize, and files that cannot be written: what was
// recorded is read, what was lost is counted, and the program ends as it does alone.
#include <gtest/gtest.h>

#include "programs_for_test.hpp"

namespace headway {
namespace {

class FaultyMpiPrograms : public MpiProgram {};

TEST_P(FaultyMpiPrograms, OfOneThatIsKilledOrDiesTheCallsBeforeItsLastMomentsAreRead) {
  for (const char* mode : {"killed", "crashed"}) {
    std::filesystem::remove_all(recording());
    const LaunchedOutput with = record(mode);
    const int bare = launch(mode, "").code;
    // MPICH's launcher says, by chance, the signal of the one that died (6) or of those it ended.
    const bool by_chance = (bare == 6 || bare == 15) && (with.code == 6 || with.code == 15);
    EXPECT_TRUE(with.code == bare || by_chance) << mode << with.code << with.err;
    const RunRecording run = read_run_traces({recording()});
    ASSERT_TRUE(run.unread.empty());
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_GE((tally(run.recording, rank)[{Operation::all_reduce, 8}]), 50);
    }
    EXPECT_GT(times_said(run.recording, "were not ended"), 0);
  }
}

TEST_P(FaultyMpiPrograms, AProgramThatAbortsHasItsFiles) {
  const LaunchedOutput with = record("aborted");
  EXPECT_EQ(with.code, launch("aborted", "").code) << with.err;
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  EXPECT_EQ((tally(run.recording, 0)[{Operation::all_reduce, 8}]), 50);
  // MPICH kills the other ranks, whose 50 calls and a barrier may have been on their way.
  const auto known = static_cast<std::int64_t>(run.recording.calls.size()) + lost(run.recording);
  const bool counted = times_said(run.recording, "last moments are not in them") == 0;
  EXPECT_TRUE(!counted || (known >= 4 * 50 && known <= 4 * 51)) << known;
}

TEST_P(FaultyMpiPrograms, ChildrenOfTheProgramWriteNothing) {
  const Recording recording = recorded("forked");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank), (Tally{{{Operation::all_reduce, 8}, 20}}));
  }
  EXPECT_TRUE(recording.omissions.empty());
}

TEST_P(FaultyMpiPrograms, AProgramThatLeavesWithoutFinalizeHasItsFiles) {
  const LaunchedOutput with = record("left");
  // MPICH's launcher says, by chance, the code of the one that left or that it killed the others.
  const std::string_view kind = GetParam();
  EXPECT_TRUE(with.code == 6 || (kind == "mpich" && with.code == 9)) << with.code << with.err;
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  EXPECT_EQ((tally(run.recording, 0)[{Operation::all_reduce, 8}]), 10);
}

TEST_P(FaultyMpiPrograms, WhereAFileMayNotGrowTheRestIsCountedAndTheProgramGoesOn) {
  // Half a megabyte: room for some ten thousand of 60,000 records.
  const LaunchedOutput bare = launch("limited", "");
  const LaunchedOutput with = record("limited");
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

// A disk of one megabyte, where such can be made: room for some 20,000 of 240,000 records.
TEST_P(FaultyMpiPrograms, WhereTheDiskIsFullTheRestIsCountedAndTheProgramGoesOn) {
  const std::string disk = "unshare -rm sh -c 'mount -t tmpfs -o size=1m none disk && ";
  std::filesystem::create_directories(folder_ / "disk");
  std::filesystem::create_directories(recording());
  if (std::system(("cd '" + folder_.string() + "' && " + disk + "true' 2>err").c_str()) != 0) {
    GTEST_SKIP() << "no small disk can be made here: " << read(folder_ / "err");
  }
  const LaunchedOutput bare = launch("many", "");
  const LaunchedOutput with =
      launch("many", disk + "\"$@\"; code=$?; cp disk/* recording; exit $code' sh '" HEADWAY_PROGRAM
                            "' record -o disk --");
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(with.out, bare.out);
  const RunRecording run = read_run_traces({recording()});
  ASSERT_TRUE(run.unread.empty());
  EXPECT_GT(run.recording.calls.size(), 10'000u);
  EXPECT_LT(run.recording.calls.size(), 1024u * 1024 / 48);
  EXPECT_EQ(static_cast<std::int64_t>(run.recording.calls.size()) + lost(run.recording),
            4 * 60'000);
}

TEST_P(FaultyMpiPrograms, AFolderThatCannotBeWrittenIsSaidOnceARankAndTheProgramRuns) {
  const LaunchedOutput bare = launch("ring", "");
  const LaunchedOutput with =
      launch("ring", "HEADWAY_RECORD=/proc/nowhere LD_PRELOAD='" HEADWAY_RECORDER "'");
  EXPECT_EQ(with.code, bare.code);
  EXPECT_EQ(with.out, bare.out);
  EXPECT_NE(with.err.find("rank 3 is not recorded: /proc/nowhere"), std::string::npos) << with.err;
}

FOR_EACH_MPI(FaultyMpiPrograms);

}  // namespace
}  // namespace headway
