// headway comms --compare BEFORE AFTER as a whole.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/comms_for_test.hpp"
#include "base/document/csv.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;
using testing::comms::widest_line;

CommandOutput compared(const std::string& before, const std::string& after, bool json,
                       const std::string& csv = {}) {
  CommsRequest request;
  request.compare = {before, after};
  request.json = json;
  request.csv = csv;
  return run_comms(request);
}

std::string said(const CommandOutput& output) {
  return output.problems.empty() ? std::string() : problems_text(output.problems);
}

// ../shared/facts/recording.md §1.3: of one rank in one step DDP makes three all-reduces, FSDP two
// nine all-gathers, five reduce-scatters and one all-reduce of 272 B.
TEST(CommsChange, FromDdpToFsdpOnTheSameRanks) {
  HEADWAY_NEEDS_TRACE("torch/ddp/kineto_rank0.json.gz");
  testing::TemporaryFolder folder;
  for (const char* run : {"ddp", "fsdp2"}) {
    std::filesystem::create_directories(folder.of(run));
    for (int rank = 0; rank < 4; ++rank) {
      const std::string name = "kineto_rank" + std::to_string(rank) + ".json.gz";
      std::filesystem::create_symlink(trace_folder() + "/torch/" + run + "/" + name,
                                      folder.of(std::string(run) + "/" + name));
    }
  }
  CommsRequest request;
  request.compare = {folder.of("ddp"), folder.of("fsdp2")};
  request.trace_steps = 3;
  request.json = true;
  const CommandOutput output = run_comms(request);
  ASSERT_TRUE(output.problems.empty()) << said(output);
  const JsonTree document = JsonTree::parse(output.text);
  EXPECT_EQ(document["per"], "step");
  EXPECT_EQ(document["ranks"].size(), 4u);
  std::map<std::string, std::pair<double, double>> counts;
  for (const JsonTree& row : document["by_group"]) {
    counts[row["op"]] = {row["before"]["count"], row["after"]["count"]};
  }
  EXPECT_EQ(counts["all_reduce"], std::pair(3.0, 1.0));
  EXPECT_EQ(counts["all_gather"], std::pair(0.0, 9.0));
  EXPECT_EQ(counts["reduce_scatter"], std::pair(0.0, 5.0));
  const double before = document["before"]["whole"]["wire_bytes"];
  const double after = document["after"]["whole"]["wire_bytes"];
  EXPECT_NEAR(before / 47'199'744, 1, 1e-3);
  EXPECT_NEAR(after / 92'093'592, 1, 1e-3);  // gloo does the reduce-scatters as all-reduces
}

TEST(CommsChange, ARecordingBesideItselfIsTheSame) {
  const std::string traces = source_dir() + "/examples/traces/small-llama-ddp";
  const CommandOutput json = compared(traces, traces, true);
  ASSERT_TRUE(json.problems.empty()) << said(json);
  const JsonTree document = JsonTree::parse(json.text);
  ASSERT_FALSE(document["by_group"].empty());
  for (const char* rows : {"by_group", "by_size"}) {
    for (const JsonTree& row : document[rows]) EXPECT_EQ(row["before"], row["after"]);
  }
  EXPECT_EQ(document["before"], document["after"]);
  const std::string text = compared(traces, traces, false).text;
  EXPECT_LE(widest_line(text), 80u) << text;
  EXPECT_EQ(text.find('%'), std::string::npos) << text;
  EXPECT_NE(text.find("same"), std::string::npos) << text;
}

TEST(CommsChange, TheTableHasTheRowsOfTheDocument) {
  testing::TemporaryFolder folder;
  const std::string traces = source_dir() + "/examples/traces/small-llama-ddp";
  const CommandOutput output = compared(traces, traces, true, folder.of("out.csv"));
  ASSERT_TRUE(output.problems.empty()) << said(output);
  const auto table = parse_csv(read_file(folder.of("out.csv")).value(), "out.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows.size(), JsonTree::parse(output.text)["by_size"].size());
}

TEST(CommsChange, WhatCannotBeComparedIsRefusedAllAtOnce) {
  const std::string traces = source_dir() + "/examples/traces/small-llama-ddp";
  CommsRequest request;
  request.compare = {traces};
  request.save = "run.sqlite";
  request.study = true;
  EXPECT_EQ(run_comms(request).problems.size(), 3u);
  request = {};
  request.compare = {traces, traces};
  request.traces = {traces};
  EXPECT_EQ(run_comms(request).problems.size(), 1u);
  request = {};
  request.compare = {traces, "no/such/folder"};
  const CommandOutput missing = run_comms(request);
  EXPECT_TRUE(missing.text.empty());
  EXPECT_NE(said(missing).find("no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace headway
