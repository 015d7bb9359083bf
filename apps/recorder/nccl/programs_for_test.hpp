// Programs of stand-ins for NCCL and CUDA (stub/) under `headway record`, and without it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../recordings_for_test.hpp"
#include "trace/files.hpp"

namespace headway {

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
  const std::filesystem::path folder_ = temporary_.path();
  Ended ended_;
};

/// Of one group.
inline Tally tally(const Recording& recording, std::int64_t rank, std::string_view group) {
  return tally_if(recording, rank, [&](const RecordedCall& call) {
    return recording.groups[*call.group].description == group;
  });
}

}  // namespace headway
