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
  const testing::TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  const std::string command = "cd '" + folder.string() +
                              "' && '" HEADWAY_PROGRAM
                              "' record -- "
                              "sh -c 'echo said; exit 7' >out 2>err";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read(folder / "out"), "said\n");
  EXPECT_NE(read(folder / "err").find("nothing was recorded"), std::string::npos);
}

// As in a bare root, where nobody mounted /proc.
TEST(Record, ItsLibrariesAreFoundWhereTheKernelsFilesAreNot) {
  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path().string();
  const std::string bare =
      "cd '" + folder + "' && unshare -rm sh -c 'mount -t tmpfs none /proc && ";
  if (std::system((bare + "true' 2>err").c_str()) != 0) {
    GTEST_SKIP() << "no bare root can be made here: " << read(folder + "/err");
  }
  const std::string command = bare + "\"$@\"' sh '" HEADWAY_PROGRAM
                                     "' record --quiet -- sh -c 'echo $LD_PRELOAD' >out 2>err";
  EXPECT_EQ(std::system(command.c_str()), 0) << read(folder + "/err");
  EXPECT_NE(read(folder + "/out").find("libheadway_nccl.so"), std::string::npos);
}

TEST(Record, WhatIsWrongIsSaidAtOnceAndNothingIsRun) {
  const testing::TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
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
}

TEST(Record, OperationsHaveTheNamesThatRecordingsHave) {
  for (std::size_t i = 0; i < std::size(recorder::kOperationNames); ++i) {
    EXPECT_EQ(recorder::kOperationNames[i], to_name(static_cast<Operation>(i)));
  }
  EXPECT_EQ(std::size(recorder::kOperationNames), kOperations.size());
}

TEST(Record, TheRecorderNeedsTheCLibraryAlone) {
  const testing::TemporaryFolder temporary;
  const fs::path found = temporary.path() / "needed";
  for (const auto& entry : fs::directory_iterator(fs::path(HEADWAY_NVTX).parent_path())) {
    if (entry.path().extension() != ".so") continue;
    const std::string command =
        "readelf -d '" + entry.path().string() + "' | grep NEEDED >'" + found.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::istringstream lines(read(found));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(line.find("[libc.so.6]"), std::string::npos) << entry.path() << line;
    }
  }
}

}  // namespace
}  // namespace headway
