// What the commands of simulate take in a document, where the command line names files.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

using Tree = nlohmann::json;

CommandOutput asked(Tree members, const Tree& more) {
  members.update(more);
  return answer("simulate", members.dump());
}
bool refused_at(const CommandOutput& said, const std::string& where, const std::string& words) {
  return std::any_of(said.problems.begin(), said.problems.end(), [&](const Problem& problem) {
    return where_text(problem) == where && problem.message.find(words) != std::string::npos;
  });
}

TEST(SimulateDocument, AsksMeasuredPassesAndNetworksAsTheFilesThatHoldThem) {
  const std::string passes = source_dir() + "/examples/slow-worker-ops.csv";
  SimulateReplayRequest replay;
  replay.file = passes;
  replay.json = true;
  const CommandOutput replayed = asked({{"simulate", "replay"}}, {{"ops", *read_file(passes)}});
  EXPECT_TRUE(replayed.problems.empty()) << problems_text(replayed.problems);
  EXPECT_EQ(replayed.text, run_simulate_replay(replay).text);

  const std::string toml =
      "[[links]]\nname = \"a\"\ncapacity = \"1 GB/s\"\n"
      "[[flows]]\nname = \"f\"\nbytes = \"2 GB\"\nroute = [\"a\"]\n";
  SimulateNetworkRequest network;
  network.network = *parse_toml(toml, "network");
  network.json = true;
  const Tree links = {{{"name", "a"}, {"capacity", "1 GB/s"}}};
  const Tree flows = {{{"name", "f"}, {"bytes", "2 GB"}, {"route", {"a"}}}};
  const CommandOutput flowed =
      asked({{"simulate", "network"}}, {{"network", {{"links", links}, {"flows", flows}}}});
  EXPECT_TRUE(flowed.problems.empty()) << problems_text(flowed.problems);
  EXPECT_EQ(flowed.text, run_simulate_network(network).text);
  EXPECT_EQ(Tree::parse(flowed.text)["end_s"], 2);
}

TEST(SimulateDocument, OfACollectiveDescribesItsTopologyInPlace) {
  const Tree links = {
      {{"name", "a"}, {"capacity", "1 GB/s"}, {"from", "x"}, {"to", "y"}, {"both_ways", true}}};
  const CommandOutput said =
      asked({{"simulate", "collective"}, {"op", "all_gather"}, {"bytes", "2 GB"}},
            {{"topology", {{"ranks", {"x", "y"}}, {"links", links}}}});
  ASSERT_TRUE(said.problems.empty()) << problems_text(said.problems);
  EXPECT_NEAR(Tree::parse(said.text)["time_s"].get<double>(), 1, 1e-9);  // half of it each way
}

// A path that a client names is never read: it would say what is there.
TEST(SimulateDocument, NamesNoFile) {
  const Tree collective = {{"simulate", "collective"}, {"op", "all_reduce"}, {"bytes", "1 MB"}};
  for (const char* path : {"/etc/passwd", "net.toml", "../net.toml", "examples/net.json"}) {
    EXPECT_TRUE(refused_at(asked(collective, {{"topology", path}}), "topology", "names a file"))
        << path;
  }
  EXPECT_TRUE(refused_at(asked({{"simulate", "network"}}, {{"network", "net.toml"}}), "network",
                         "must be an object"));
  EXPECT_TRUE(
      refused_at(asked({{"simulate", "replay"}}, {{"ops", "/etc/passwd"}}), "ops:1", "column"))
      << problems_text(asked({{"simulate", "replay"}}, {{"ops", "/etc/passwd"}}).problems);
  EXPECT_TRUE(refused_at(asked({{"simulate", "replay"}}, {{"file", "ops.csv"}}), "file", "known"));
}

TEST(SimulateDocument, IsBounded) {
  const Tree collective = {{"simulate", "collective"}, {"op", "all_reduce"}, {"bytes", "1 MB"}};
  EXPECT_TRUE(refused_at(asked(collective, {{"topology", "switch"}, {"ranks", 4096}}), "topology",
                         "at most 128"));
  EXPECT_TRUE(asked(collective, {{"topology", "switch"}, {"ranks", 128}}).problems.empty());
  Tree flows = Tree::array();
  for (int i = 0; i < 1001; ++i) {
    flows.push_back({{"name", std::to_string(i)}, {"bytes", "1 MB"}, {"route", {"a"}}});
  }
  const Tree links = {{{"name", "a"}, {"capacity", "1 GB/s"}}};
  EXPECT_TRUE(refused_at(
      asked({{"simulate", "network"}}, {{"network", {{"links", links}, {"flows", flows}}}}),
      "network", "at most 1000"));
}

// What is wrong stands at the member that describes it.
TEST(SimulateDocument, SaysWhereItIsWrong) {
  const Tree links = {{{"name", "a"}, {"capacity", "fast"}}};
  const Tree flows = {{{"name", "f"}, {"bytes", "2 GB"}, {"route", {"b"}}}};
  const CommandOutput said =
      asked({{"simulate", "network"}}, {{"network", {{"links", links}, {"flows", flows}}}});
  ASSERT_FALSE(said.problems.empty());
  for (const Problem& problem : said.problems) {
    EXPECT_EQ(where_text(problem).rfind("network.", 0), 0U) << where_text(problem);
  }
}

}  // namespace
}  // namespace headway
