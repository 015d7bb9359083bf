// What `simulate RUN` says of ranks that differ.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "api/commands.hpp"
#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

SimulateStepRequest request_of_16() {
  SimulateStepRequest out;
  out.fields = {{"model", "llama-2-7b"},
                {"cluster", "dgx-h100"},
                {"gpus", "16"},
                {"seq", "4096"},
                {"global-batch", "32"}};
  return out;
}

CommandOutput answer_for(RunRequest ranks, int threads = 1, bool json = true) {
  SimulateStepRequest request = request_of_16();
  request.fields.insert(request.fields.end(), {{"tp", "2"}, {"pp", "2"}});
  request.ranks = std::move(ranks);
  request.json = json;
  request.threads = threads;
  return run_simulate_step(request);
}

Node answer_of(const CommandOutput& output) {
  EXPECT_TRUE(output.problems.empty());
  return parse_json(output.text, "answer").value().root;
}
double number_of(const Node& node) {
  const auto* whole = std::get_if<std::int64_t>(&node.value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(node.value);
}
double number_at(const Node& node, const char* name) {
  return number_of(*node.find(name));
}
double number_at(const Node& node, const char* a, const char* b) {
  return number_at(*node.find(a), b);
}

// [SIM-38] Of a run that fails every 3.093 h, with checkpoints of 0.01 h and restarts of 0.25 h:
// useful t / ((M + R)(e^((t + d)/M) - 1)) of the time, 0.8528 where t is 0.25 h and 0.7746 of 1 h.
TEST(SimulateRanks, OfAFailingRunTrainTheShareOfTheClosedForm) {
  for (const auto& [interval, useful] : {std::pair("0.25 h", 0.8528), std::pair("1 h", 0.7746)}) {
    const Node answer = answer_of(answer_for({{"mtbf", "49.488 h"},
                                              {"detection", "0.05 h"},
                                              {"restart", "0.2 h"},
                                              {"checkpoint-blocking", "0.01 h"},
                                              {"interval", interval}}));
    EXPECT_NEAR(number_at(answer, "failures", "useful"), useful, 5e-5);
    EXPECT_NEAR(number_at(answer, "failures", "step_time_with_failures_s") * useful,
                number_at(answer, "step_time_s"), 1e-4);
  }
}

TEST(SimulateRanks, AreTheSameBytesForAnyNumberOfThreads) {
  const RunRequest noise = {{"slot-noise", "0.03"}, {"sequence-variation", "0.2"},
                            {"pause", "10 ms"},     {"pause-every", "3"},
                            {"seeds", "12"},        {"what-if", ""}};
  const std::string one = answer_for(noise).text;
  EXPECT_EQ(one, answer_for(noise, 2).text);
  EXPECT_EQ(one, answer_for(noise, 0).text);
}

TEST(SimulateRanks, HaveQuantilesInOrderAndPartsThatAreTheMean) {
  const Node answer = answer_of(answer_for({{"slot-noise", "0.05"}, {"seeds", "40"}}));
  double before = number_at(answer, "ranks", "alike_step_time_s");
  for (const char* name : {"p10_s", "p50_s", "p90_s", "p99_s"}) {
    const double at = number_at(answer, "ranks", name);
    EXPECT_GT(at, before) << name;
    before = at;
  }
  double sum = 0;
  for (const auto& [name, part] : *answer.find("parts_s")->table()) sum += number_of(part);
  const double mean = number_at(answer, "step_time_s");
  EXPECT_NEAR(sum, mean, 1e-9 * mean);
  EXPECT_EQ(answer.find("ranks")->find("of_first_seed")->array()->size(), 16U);
}

TEST(SimulateRanks, ThatDifferAreInNoTimelineOfClassesAndInNoWorkload) {
  SimulateStepRequest request = request_of_16();
  request.ranks = {{"slow-ranks", "3"}};
  request.chakra = "/nowhere";
  request.timeline = request.json = true;
  EXPECT_EQ(run_simulate_step(request).problems.size(), 2U);
}

TEST(SimulateRanks, HaveAProcessEachInTheFilesOfTheTimeline) {
  SimulateStepRequest request = request_of_16();
  request.ranks = {{"slow-ranks", "3"}};
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / "every-rank.json";
  request.chrome = file;
  EXPECT_TRUE(run_simulate_step(request).problems.empty());
  const auto document = parse_json(read_file(file).value(), "trace");
  std::set<std::int64_t> processes;
  for (const Node& event : *document.value().root.find("traceEvents")->array()) {
    if (std::get<std::string>(event.find("name")->value) != "process_name") continue;
    processes.insert(std::get<std::int64_t>(event.find("pid")->value));
  }
  EXPECT_EQ(processes.size(), 16U);
  std::filesystem::remove(file);
}

TEST(SimulateRanks, OfTooManySlotsForAFileArePlacedForNone) {
  SimulateStepRequest request = request_of_16();
  request.fields.back() = {"global-batch", "262144"};
  request.ranks = {{"every-rank", ""}};
  request.perfetto = request.chrome = "/nowhere";
  EXPECT_EQ(run_simulate_step(request).problems.size(), 2U);
}

TEST(SimulateRanks, WhatIsWrongWithThemIsSaidBesideWhatIsWrongWithAlgorithms) {
  SimulateStepRequest request = request_of_16();
  request.ranks = {{"slow-ranks", "99"}};
  request.algorithms = {"tp.nothing=ring"};
  EXPECT_EQ(run_simulate_step(request).problems.size(), 2U);
}

}  // namespace
}  // namespace headway
