// Real programs of MPI under `headway record`, and without it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "../recordings_for_test.hpp"
#include "trace/files.hpp"

namespace headway {

struct LaunchedOutput {
  int code = -1;
  std::string out, err;
};

// By the kind of MPI that the program is linked with.
class MpiProgram : public ::testing::TestWithParam<const char*> {
 protected:
  std::string recording() const { return (folder_ / "recording").string(); }

  // The program on `ranks` ranks; `before` stands before the launcher.
  LaunchedOutput launch(const std::string& mode, const std::string& before, int ranks = 4,
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
  LaunchedOutput record(const std::string& mode, const std::string& flags = "", int ranks = 4,
                        const std::string& inside = "") const {
    return launch(mode, "'" HEADWAY_PROGRAM "' record " + flags + " -o recording --", ranks,
                  inside);
  }

  // Runs it with and without, the results compared; and what was recorded.
  Recording recorded(const std::string& mode, const std::string& flags = "") const {
    const LaunchedOutput bare = launch(mode, "");
    const LaunchedOutput with = record(mode, flags);
    EXPECT_EQ(with.code, bare.code) << with.err;
    EXPECT_EQ(with.out, bare.out);
    const RunRecording run = read_run_traces({recording()});
    EXPECT_TRUE(run.unread.empty());
    EXPECT_EQ(run.recording.ranks.size(), 4u);
    return run.recording;
  }

  testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

/// Once for each kind of MPI that is here.
#define FOR_EACH_MPI(Suite)                                                  \
  INSTANTIATE_TEST_SUITE_P(Mpi, Suite, ::testing::Values(HEADWAY_MPI_KINDS), \
                           [](const auto& of) { return std::string(of.param); })

}  // namespace headway
