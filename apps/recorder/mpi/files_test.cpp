// What is asked of a recording: which calls, steps and files; and the clocks of its ranks.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

#include "programs_for_test.hpp"

namespace headway {
namespace {

class RecordedMpiFiles : public MpiProgram {};

TEST_P(RecordedMpiFiles, FiltersKeepWhatIsAskedFor) {
  {
    const Recording recording = recorded("trainer", "--min-bytes '1 kB' --ops all_reduce,wait");
    EXPECT_EQ(tally(recording, 2), (Tally{{{Operation::all_reduce, 4000}, 6}}));
    EXPECT_EQ(recording.ranks.at(0).waits, 6);
  }
  std::filesystem::remove_all(recording());
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

// MPI_Gatherv and Scatterv: ranks that are not the root know nothing of the others' parts.
TEST_P(RecordedMpiFiles, CallsOfWhichARankKnowsItsPartAloneStay) {
  const Recording recording = recorded("collectives", "--min-bytes '100 B'");
  for (int rank = 0; rank < 4; ++rank) {
    const double whole = rank == 0 ? 400 : -1;  // of 40 bytes, 80, 120, 160
    const Tally expected = {
        {{Operation::barrier, -1}, 3 * 2},     {{Operation::gather, 160}, 3},
        {{Operation::scatter, 160}, 3},        {{Operation::all_gather, 160}, 3},
        {{Operation::all_gather, 400}, 3},     {{Operation::all_to_all, 160}, 3},
        {{Operation::all_to_all, 400}, 3 * 2}, {{Operation::reduce_scatter, 400}, 3},
        {{Operation::reduce_scatter, 160}, 3}, {{Operation::gather, whole}, 3},
        {{Operation::scatter, whole}, 3},
    };
    EXPECT_EQ(tally(recording, rank), expected) << rank;
  }
}

TEST_P(RecordedMpiFiles, OfAProgramThatMarksNoStepsThatIsSaid) {
  const LaunchedOutput with = record("ring", "--steps 2..3");
  EXPECT_EQ(with.code, 3);
  EXPECT_NE(with.err.find("the program marked no step"), std::string::npos) << with.err;
}

TEST_P(RecordedMpiFiles, FilesAreRotatedAndReadAsOne) {
  const Recording recording = recorded("many", "--rotate '1 MB'");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(this->recording())) {
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

TEST_P(RecordedMpiFiles, TwoProgramsOfOneCommandHaveAFolderEach) {
  const std::string twice =
      "'" HEADWAY_PROGRAM "' record -o recording -- sh -c '\"$@\"; \"$@\"' sh";
  const LaunchedOutput with = launch("ring", twice);
  EXPECT_EQ(with.code, 3) << with.err;
  for (const std::string& folder : {recording(), recording() + "/run2"}) {
    const RunRecording run = read_run_traces({folder});
    EXPECT_TRUE(run.unread.empty()) << folder;
    EXPECT_EQ(run.recording.calls.size(), 80u) << folder;
  }
}

// [RECORD-3] Between ranks of one machine the clocks are the same: what is measured of them is the
// error, at most half of the shortest round trip.
TEST_P(RecordedMpiFiles, ClocksOfOneMachineAreMeasuredToDifferByLessThanHalfARoundTrip) {
  const LaunchedOutput with =
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

FOR_EACH_MPI(RecordedMpiFiles);

}  // namespace
}  // namespace headway
