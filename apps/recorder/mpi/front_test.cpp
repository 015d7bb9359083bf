// The fronts of MPI's recorders, as a program finds them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "../recordings_for_test.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// A program that asks for a function of MPI 4 by its name shall find it only where the MPI has it.
TEST(RecorderFront, ItShowsNoFunctionThatItsLevelLacks) {
  const fs::path folder = fs::path(HEADWAY_RECORDER).parent_path();
  const auto has = [&](const std::string& level, const std::string& function) {
    const std::string command = "nm -D '" + (folder / ("libheadway_mpi" + level + ".so")).string() +
                                "' | grep -q ' T " + function + "$'";
    return std::system(command.c_str()) == 0;
  };
  for (const char* level : {"3", "4", "4c"}) {
    const bool four = level[0] == '4', wide = four && level[1] == 'c';
    EXPECT_TRUE(has(level, "MPI_Send") && has(level, "PMPI_Ineighbor_alltoallw")) << level;
    EXPECT_EQ(has(level, "MPI_Allreduce_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Psend_init"), four) << level;
    EXPECT_EQ(has(level, "MPI_Isendrecv"), four) << level;
    EXPECT_EQ(has(level, "PMPI_Allreduce_c"), wide) << level;
    EXPECT_EQ(has(level, "MPI_Bcast_init_c"), wide) << level;
  }
}

// A function that a new MPI brings has to be recorded, or to be said to be local.
TEST(RecorderFront, EveryFunctionOfTheHeadersIsRecordedOrLocal) {
  for (const char* headers : {HEADWAY_MPI_HEADERS}) {
    const std::string check = "python3 '" HEADWAY_MPI_UNLISTED "' " + std::string(headers);
    EXPECT_EQ(std::system(check.c_str()), 0) << headers;
  }
}

// Of four processes the first says it.
TEST(RecorderFront, AnMpiThatIsNotKnownIsSaidOnceAndItsCallsAreRecordedWithoutTimes) {
  const testing::TemporaryFolder temporary;
  const std::string command =
      "cd '" + temporary.path().string() +
      "' && '" HEADWAY_PROGRAM
      "' record --quiet -o recording -- sh -c 'for r in 0 1 2 3; do PMI_RANK=$r \"$1\" || "
      "code=$?; done; exit $code' sh '" HEADWAY_MPI_PROGRAM "_other' 2>err";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 4);
  EXPECT_EQ(
      read(temporary.path() / "err"),
      "headway record: this kind of MPI is not known here: recorded without sizes, groups and "
      "times\n");
  const Recording recording = read_run_traces({temporary.path() / "recording"}).recording;
  EXPECT_EQ(recording.ranks.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank),
              (Tally{{{Operation::send, -1}, 3}, {{Operation::all_gather, -1}, 1}}));
  }
  for (const RecordedCall& call : recording.calls) {
    EXPECT_TRUE(call.start_ns);
    EXPECT_FALSE(call.duration || call.group || call.counted_bytes);
  }
  EXPECT_EQ(lost(recording), 0);
}

}  // namespace
}  // namespace headway
