// Steps replayed by torch's own gloo, where a Python has torch: what was recorded is what the list
// says, and `comms --trace` finds as many calls of the same sizes as the run is expected to make.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "listed_for_test.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

// PYTHON, python3 or Debian's own; empty: none has torch.
std::string python_with_torch() {
  const char* const said = std::getenv("PYTHON");
  for (const std::string python : {said == nullptr ? "python3" : said, "/usr/bin/python3"}) {
    const std::string asks = "'" + python +
                             "' -c 'import sys, torch.distributed as d; "
                             "sys.exit(not d.is_gloo_available())' >/dev/null 2>&1";
    if (std::system(asks.c_str()) == 0) return python;
  }
  return {};
}

class ReplayGloo : public ::testing::TestWithParam<const char*> {
 protected:
  int run(const std::string& words) const {
    const std::string command = "cd '" + folder_.string() +
                                "' && timeout 200 '" HEADWAY_PROGRAM "' " + words +
                                " >out 2>err </dev/null";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string text_of(const fs::path& path) const {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }

  testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_P(ReplayGloo, RecordsCallForCallWhatTheListSaysAndWhatCommsExpects) {
  static const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python here has torch with gloo";
  std::ofstream(folder_ / "small.toml")
      << "source = \"a test\"\nlayers = 2\nhidden = 128\nheads = 4\nkv_heads = 4\n"
         "feed_forward = 256\nvocabulary = 256\nsequence = 32\n";
  const std::string of =
      std::string("--model small.toml --cluster '" HEADWAY_CORES "' --seq 32 --global-batch 4 ") +
      GetParam();
  ASSERT_EQ(run("replay " + of + " --backend gloo --launcher '" + python +
                "' --repeat 1 --warm 0 -o made"),
            0)
      << text_of(folder_ / "err");
  EXPECT_EQ(text_of(folder_ / "out").find("note:"), std::string::npos) << text_of(folder_ / "out");
  expect_as_listed(folder_ / "made", text_of(folder_ / "made/replay/list.jsonl"), 1);
  ASSERT_EQ(run("comms " + of + " --trace made"), 0) << text_of(folder_ / "err");
  const std::string found = text_of(folder_ / "out");
  EXPECT_NE(found.find("as expected"), std::string::npos) << found;
  for (const char* wrong : {"missing", "unexpected", "resized", "re-bucketed", "other operation"}) {
    EXPECT_EQ(found.find(wrong), std::string::npos) << found;
  }
}

INSTANTIATE_TEST_SUITE_P(OfLayouts, ReplayGloo,
                         ::testing::Values("--framework megatron --gpus 2 --dp 2 --zero 0",
                                           "--framework fsdp --gpus 4 --dp 4 --zero 3",
                                           "--framework megatron --gpus 4 --tp 2 --pp 2"));

}  // namespace
}  // namespace headway
