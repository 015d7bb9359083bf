// Steps of generated runs replayed on ranks of this machine: what was recorded of them is what the
// list says, call for call; and what cannot be replayed is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "listed_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

class Replay : public ::testing::TestWithParam<const char*>, protected ReplayFolder {
 protected:
  void SetUp() override { write_small(64); }

  Ran run(const std::string& words, const std::string& before = "") const {
    return run_program("replay " + words, "timeout 200 " + before);
  }
  std::string launcher(int ranks) const {
    const std::string count = " -np " + std::to_string(ranks);
    return std::string(" --launcher '") +
           (std::string(GetParam()) == "openmpi"
                ? "mpirun.openmpi --oversubscribe --allow-run-as-root"
                : "mpirun.mpich") +
           count + "' ";
  }
};

TEST_P(Replay, RecordsCallForCallWhatTheListSays) {
  const std::pair<int, const char*> runs[] = {{2, "--gpus 2 --dp 2 --zero 0"},
                                              {2, "--gpus 2 --tp 2"},
                                              {2, "--gpus 2 --pp 2"},
                                              {4, "--gpus 4 --tp 2 --pp 2"}};
  int number = 0;
  for (const auto& [ranks, more] : runs) {
    const std::string folder = "out" + std::to_string(number++);
    const Ran made =
        run(fields(more) + launcher(ranks) + "--step --repeat 2 --warm 1 -o " + folder);
    ASSERT_EQ(made.code, 0) << more << "\n" << made.err;
    EXPECT_NE(made.out.find("2 repeats (1 more"), std::string::npos) << made.out;
    EXPECT_EQ(made.out.find("note:"), std::string::npos) << made.out;
    expect_as_listed(folder_ / folder, text_of(folder_ / folder / "replay/list.jsonl"), 2);
    for (const RecordedCall& call :
         read_run_traces({(folder_ / folder).string()}).recording.calls) {
      EXPECT_TRUE(call.own_time);
      EXPECT_FALSE(call.blocks);
    }
  }
}

TEST_P(Replay, CallsOneByOneBlockAndAreWhatCalibrateTakes) {
  const Ran made = run(fields("--gpus 2 --tp 2") + launcher(2) +
                       "--single --sizes --repeat 2 --warm 0 -o singles --csv calls.csv");
  ASSERT_EQ(made.code, 0) << made.err;
  expect_as_listed(folder_ / "singles", text_of(folder_ / "singles/replay/list.jsonl"), 2);
  for (const RecordedCall& call :
       read_run_traces({(folder_ / "singles").string()}).recording.calls) {
    EXPECT_TRUE(call.blocks);
  }
  EXPECT_NE(text_of(folder_ / "calls.csv").find("tp,all_gather,2,256,1,2,"), std::string::npos);
  const std::string fit = "cd '" + folder_.string() +
                          "' && '" HEADWAY_PROGRAM "' calibrate --cluster '" HEADWAY_CORES
                          "' --collectives singles --output mine.toml >fit 2>&1";
  ASSERT_EQ(std::system(fit.c_str()), 0) << text_of(folder_ / "fit");
  EXPECT_NE(text_of(folder_ / "mine.toml").find("[levels.node.constants]"), std::string::npos);
}

// What was recorded of a replay is replayed: the same calls.
TEST_P(Replay, OfARecordingMakesTheSameCalls) {
  ASSERT_EQ(run(fields("--gpus 2 --dp 2 --zero 0") + launcher(2) + "--repeat 1 --warm 0 -o a").code,
            0);
  const Ran again = run("a" + launcher(2) + "--repeat 1 --warm 0 -o b");
  ASSERT_EQ(again.code, 0) << again.err;
  expect_as_listed(folder_ / "b", text_of(folder_ / "a/replay/list.jsonl"), 1);
}

// Three ranks share what three does not divide: 128 elements among all, 43 to the last from each.
TEST_P(Replay, WhatRanksDoNotDivideFits) {
  std::ofstream list(folder_ / "three.jsonl");
  list << R"({"headway_list": 1, "ranks": 3, "groups": [{"name": "ep", "ranks": [0, 1, 2]}]})"
       << "\n";
  for (int rank = 0; rank < 3; ++rank) {
    list << "{\"rank\": " << rank << "}\n";
    for (const char* op : {"all_to_all", "all_gather", "reduce_scatter"}) {
      list << "{\"call\": \"" << op
           << R"(", "group": 0, "bytes": 256, "type": "bf16", "stream": 0})"
           << "\n";
    }
  }
  list.close();
  for (const char* how : {"--step", "--single"}) {
    const Ran made = run("three.jsonl" + launcher(3) + how + " --repeat 3 --warm 0 -o three" + how);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.out.find("note:"), std::string::npos) << made.out;
  }
}

TEST_P(Replay, ProductsAreMadeWhereThatIsAsked) {
  const Ran made = run(fields("--gpus 2 --tp 2") + launcher(2) +
                       "--compute gemm --repeat 1 --warm 0 --json -o products");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("\"compute\": \"gemm\""), std::string::npos) << made.out;
}

INSTANTIATE_TEST_SUITE_P(Mpi, Replay, ::testing::Values(HEADWAY_MPI_KINDS),
                         [](const auto& kind) { return std::string(kind.param); });

using ReplayRefusal = Replay;
INSTANTIATE_TEST_SUITE_P(Any, ReplayRefusal, ::testing::Values("openmpi"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(ReplayRefusal, SaysWhatWouldBeRight) {
  const std::string two = fields("--gpus 2 --tp 2 ");
  const std::pair<std::string, const char*> cases[] = {
      {"", "needs a run"},
      {two + "--backend smoke", "smoke"},
      {two + "--compute sleep", "sleep"},
      {two + "--repeat 0", "at least 1"},
      {two + "--single --step", "ask for one"},
      {two + "--step --sizes", "--single"},
      {two + "--ranks 1", "--ranks 2"},
      {two + "--launcher no-such-mpirun", "no-such-mpirun"},
      {two + "--from nowhere", "nowhere"},
      {two + "--single --compute gemm", "--compute: is of a step"},
      {two + "--list l.jsonl --csv c.csv --json", "--csv: is of what was measured"},
      {two + "--list l.jsonl --json", "--json: is of what was measured"},
      {two + "--from nowhere --repeat 3 --warm 1 --backend gloo", "--backend: says how to run"},
      {two + "--from nowhere --single --ranks 2 -o here", "--output: says how to run"},
      {two + "--launcher mpirun --ranks 2", "--launcher says itself"},
      {"nothing-here.jsonl", "nothing-here.jsonl"},
      {"small.toml nothing.jsonl", "one thing"},
  };
  for (const auto& [words, said] : cases) {
    const Ran refused = run(words);
    EXPECT_EQ(refused.code, 2) << words << refused.out;
    EXPECT_NE(refused.err.find(said), std::string::npos) << words << "\n" << refused.err;
    EXPECT_EQ(refused.out, "") << words;
  }
  EXPECT_FALSE(fs::exists(folder_ / "replay"));
  // Nowhere a launcher.
  const Ran none = run(two, "env PATH=/nonexistent");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("mpirun is not here"), std::string::npos) << none.err;
}

// The report of a replay, of the run that it was of and of no other.
TEST_P(ReplayRefusal, AReportBesideAnotherRun) {
  const std::string two = fields("--gpus 2 --tp 2 ");
  ASSERT_EQ(run(two + launcher(2) + "--single --repeat 1 --warm 0 -o was").code, 0);
  const Ran same = run(two + "--from was");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(run("--from was").code, 0);
  const Ran other = run(fields("--gpus 2 --dp 2 ") + "--from was");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("was holds a replay of another list"), std::string::npos) << other.err;
  const Ran shorter = run(two + "--seq 16 --from was");
  EXPECT_EQ(shorter.code, 2);
  EXPECT_NE(shorter.err.find("another list"), std::string::npos) << shorter.err;
  // A step of more micro-batches makes the same calls more often.
  temporary_.write("step/replay/times.json",
                   R"({"headway_replay": 1, "mode": "step", "compute": "spin", "ranks": 2,
                       "library": "any", "warm": 0, "step_s": [1]})");
  ASSERT_EQ(run(two + "--list step/replay/list.jsonl").code, 0);
  const Ran as_long = run(two + "--from step"), longer = run(two + "--global-batch 8 --from step");
  EXPECT_EQ(as_long.err.find("another list"), std::string::npos) << as_long.err;
  EXPECT_EQ(longer.code, 2);
  EXPECT_NE(longer.err.find("another list"), std::string::npos) << longer.err;
  // A recording does not say what was multiplied.
  const Ran products = run("was --compute gemm -o again" + launcher(2));
  EXPECT_EQ(products.code, 2);
  EXPECT_NE(products.err.find("gemm makes the products"), std::string::npos) << products.err;
}

// As `comms` takes them: a name in .json says nothing of what is in it.
TEST_P(ReplayRefusal, ATraceInJsonIsNoRun) {
  std::ofstream(folder_ / "rank0.json") << R"({"schemaVersion": 1, "traceEvents": []})";
  const Ran refused = run("rank0.json");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err.find("schemaVersion"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("unknown field"), std::string::npos) << refused.err;
}

TEST_P(ReplayRefusal, AListOfOtherRanksThanWereStarted) {
  ASSERT_EQ(run(fields("--gpus 2 --tp 2 ") + "--list two.jsonl").code, 0);
  const Ran refused = run("two.jsonl" + launcher(3) + "-o three");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("is of 2 ranks, and 3 were started"), std::string::npos)
      << refused.err;
}

}  // namespace
}  // namespace headway
