// Steps replayed by torch's own gloo, where a Python has torch: what was recorded is what the list
// says, and `comms --trace` finds as many calls of the same sizes as the run is expected to make.
#include <gtest/gtest.h>

#include <cstdlib>

#include "listed_for_test.hpp"

namespace headway {
namespace {

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

class ReplayGloo : public ::testing::TestWithParam<const char*>, protected ReplayFolder {
 protected:
  void SetUp() override { write_small(128); }

  Ran run(const std::string& words) const { return run_program(words, "timeout 200"); }
};

TEST_P(ReplayGloo, RecordsCallForCallWhatTheListSaysAndWhatCommsExpects) {
  static const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python here has torch with gloo";
  const std::string of = fields(GetParam());
  const Ran made = run("replay " + of + "--backend gloo --launcher '" + python +
                       "' --repeat 1 --warm 0 -o made");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out.find("note:"), std::string::npos) << made.out;
  expect_as_listed(folder_ / "made", text_of(folder_ / "made/replay/list.jsonl"), 1);
  const Ran compared = run("comms " + of + "--trace made");
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_NE(compared.out.find("as expected"), std::string::npos) << compared.out;
  for (const char* wrong : {"missing", "unexpected", "resized", "re-bucketed", "other operation"}) {
    EXPECT_EQ(compared.out.find(wrong), std::string::npos) << compared.out;
  }
}

INSTANTIATE_TEST_SUITE_P(OfLayouts, ReplayGloo,
                         ::testing::Values("--framework megatron --gpus 2 --dp 2 --zero 0",
                                           "--framework fsdp --gpus 4 --dp 4 --zero 3",
                                           "--framework megatron --gpus 4 --tp 2 --pp 2"));

}  // namespace
}  // namespace headway
