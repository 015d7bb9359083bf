// What a recorder is made of, and `headway record` without any MPI.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "file/settings.hpp"
#include "recordings_for_test.hpp"
#include "trace/recording/operation.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

TEST(Record, AProgramWithoutMpiRunsAsItDoesAndThatIsSaid) {
  const fs::path folder = fs::path(::testing::TempDir()) / "headway_record_plain";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string command = "cd '" + folder.string() +
                              "' && '" HEADWAY_PROGRAM
                              "' record -- "
                              "sh -c 'echo said; exit 7' >out 2>err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read(folder / "out"), "said\n");
  EXPECT_NE(read(folder / "err").find("nothing was recorded"), std::string::npos);
  fs::remove_all(folder);
}

TEST(Record, WhatIsWrongIsSaidAtOnceAndNothingIsRun) {
  const fs::path folder = fs::path(::testing::TempDir()) / "headway_record_wrong";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string command =
      "cd '" + folder.string() +
      "' && '" HEADWAY_PROGRAM
      "' record --steps 5..2 --min-bytes 7 --ops all_reduce,gossip --mpi 7 -- touch it >out 2>err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string err = read(folder / "err");
  for (const char* said : {"--steps", "--min-bytes", "'gossip' is not known", "--mpi"}) {
    EXPECT_NE(err.find(said), std::string::npos) << err;
  }
  EXPECT_FALSE(fs::exists(folder / "it"));
  fs::remove_all(folder);
}

// A program that asks for a function of MPI 4 by its name shall find it only where the MPI has it.
TEST(Record, TheFrontShowsNoFunctionThatItsLevelLacks) {
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

TEST(Record, OperationsHaveTheNamesThatRecordingsHave) {
  for (std::size_t i = 0; i < std::size(recorder::kOperationNames); ++i) {
    EXPECT_EQ(recorder::kOperationNames[i], to_name(static_cast<Operation>(i)));
  }
  EXPECT_EQ(std::size(recorder::kOperationNames), kOperations.size());
}

TEST(Record, TheRecorderNeedsTheCLibraryAlone) {
  const fs::path found = fs::path(::testing::TempDir()) / "headway_record_needed";
  for (const auto& entry : fs::directory_iterator(fs::path(HEADWAY_RECORDER).parent_path())) {
    if (entry.path().extension() != ".so") continue;
    const std::string command =
        "readelf -d '" + entry.path().string() + "' | grep NEEDED >'" + found.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::istringstream lines(read(found));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(line.find("[libc.so.6]"), std::string::npos) << entry.path() << line;
    }
  }
  fs::remove(found);
}

}  // namespace
}  // namespace headway
