// A folder in which steps are replayed, and whether what was recorded of a replay is what its list
// says. Tests only.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "platform/temporary_folder_for_test.hpp"
#include "simulate/live/file.hpp"
#include "trace/files.hpp"

namespace headway {

// How a program ended, and what it said.
struct Ran {
  int code = -1;
  std::string out, err;
};

class ReplayFolder {
 protected:
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  // The program in the folder; `before`: words in front of it.
  Ran run_program(const std::string& words, const std::string& before) const {
    const std::string command = "cd '" + folder_.string() + "' && " + before +
                                " '" HEADWAY_PROGRAM "' " + words + " >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / "out"),
            text_of(folder_ / "err")};
  }

  // A model that takes no time, and a run of it.
  void write_small(int hidden) const {
    temporary_.write("small.toml",
                     "source = \"a test\"\nlayers = 2\nheads = 4\nkv_heads = 4\n"
                     "vocabulary = 256\nsequence = 32\nhidden = " +
                         std::to_string(hidden) + "\nfeed_forward = " + std::to_string(2 * hidden) +
                         "\n");
  }
  static std::string fields(const std::string& more) {
    return "--model small.toml --cluster '" HEADWAY_CORES
           "' --seq 32 --global-batch 4 --framework megatron " +
           more + " ";
  }

  const testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

// (operation, ranks of the group, bytes moved) -> how many.
using Tally = std::map<std::tuple<Operation, std::vector<std::int64_t>, double>, int>;

// The list and the recording in DIR say the same of every rank, for each of the repeats.
inline void expect_as_listed(const std::filesystem::path& folder, const std::string& list_text,
                             int repeats) {
  const auto list = read_list(list_text, "list");
  ASSERT_TRUE(list.ok());
  const RunRecording run = read_run_traces({folder.string()});
  EXPECT_TRUE(run.unread.empty());
  ASSERT_EQ(run.recording.ranks.size(), list->ranks.size());
  EXPECT_EQ(run.recording.marked_steps, repeats);
  for (std::size_t rank = 0; rank < list->ranks.size(); ++rank) {
    Tally listed, recorded;
    for (const LiveItem& item : list->ranks[rank]) {
      if (item.kind != LiveItem::Kind::call) continue;
      listed[{item.op, list->groups[item.group].ranks, static_cast<double>(item.bytes)}] += repeats;
    }
    for (const RecordedCall& call : run.recording.calls) {
      if (run.recording.ranks[call.rank].number != static_cast<std::int64_t>(rank)) continue;
      ASSERT_TRUE(call.group);
      ++recorded[{call.op, run.recording.groups[*call.group].ranks,
                  call.bytes ? call.bytes->value() : 0}];
    }
    EXPECT_EQ(recorded, listed) << "rank " << rank;
  }
}

}  // namespace headway
