// Stages on another machine, as they are asked for.
#include "run/far_stages.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headway {
namespace {

RunRequest on_two(std::vector<std::pair<const char*, const char*>> fields) {
  std::map<std::string, std::string> all = {{"model", "llama-2-13b"},
                                            {"cluster", "dgx-h100"},
                                            {"far-cluster", "dgx-a100-80gb"},
                                            {"far-stages", "1"},
                                            {"seq", "4096"},
                                            {"global-batch", "64"},
                                            {"gpus", "64"},
                                            {"tp", "8"},
                                            {"pp", "4"}};
  for (const auto& [name, text] : fields) all[name] = text;
  RunRequest out;
  for (const auto& [name, text] : all) {
    if (!text.empty()) out.emplace_back(name, text);
  }
  return out;
}

// Where the first problem stands, and what it says.
std::string refusal(std::vector<std::pair<const char*, const char*>> fields) {
  const auto run = make_run(on_two(std::move(fields)), Types::two);
  if (run) return "legal";
  return where_text(run.problems().front()) + ": " + run.problems().front().message;
}

TEST(FarStages, StandOnTheirMachineWithWhatItRuns) {
  const auto run = make_run(on_two({}), Types::two);
  ASSERT_TRUE(run.ok()) << run.problems().front().message;
  ASSERT_NE(run->far, nullptr);
  EXPECT_EQ(run->far->stages, 1);
  // Hopper's attention kernel is none of Ampere's.
  EXPECT_EQ(run->job.attention, AttentionKernel::flash3);
  EXPECT_EQ(on_far_machine(*run).job.attention, AttentionKernel::flash2);
  EXPECT_EQ(on_far_machine(*run).cluster.name, "dgx-a100-80gb");
}

TEST(FarStages, AreRefusedByWhoReadsOneMachine) {
  const auto run = make_run(on_two({}));
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.problems().size(), 2u);
  EXPECT_NE(run.problems().front().message.find("predict alone"), std::string::npos);
}

TEST(FarStages, SayWhatWouldBeLegal) {
  EXPECT_NE(refusal({{"far-stages", "4"}}).find("--far-stages: is 4"), std::string::npos);
  EXPECT_NE(refusal({{"far-stages", ""}}).find("--far-cluster: is read with"), std::string::npos);
  EXPECT_NE(refusal({{"far-cluster", ""}}).find("--far-stages: is read with"), std::string::npos);
  EXPECT_NE(refusal({{"far-cluster", "dgx-a10"}}).find("--far-cluster: "), std::string::npos);
  EXPECT_NE(refusal({{"precision", "fp8"}}).find("fp8 is not supported"), std::string::npos);
  EXPECT_NE(refusal({{"order", "pp-tp-cp-dp"}}).find("order"), std::string::npos);
  EXPECT_NE(refusal({{"slice", "node=8"}}).find("--slice: is of one machine"), std::string::npos);
}

TEST(FarStages, AreKeptInARunFile) {
  const auto run = make_run(on_two({}), Types::two);
  ASSERT_TRUE(run.ok());
  const std::string text = run_file_text(*run);
  EXPECT_NE(text.find("far-cluster = \"dgx-a100-80gb\"\nfar-stages = 1\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace headway
