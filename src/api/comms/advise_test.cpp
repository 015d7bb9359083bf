// headway advise RUN --trace T... as a whole.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/comms_for_test.hpp"
#include "base/source_dir_for_test.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;
using testing::comms::widest_line;

AdviseRequest of_example() {
  AdviseRequest request;
  request.run_file = source_dir() + "/examples/small-llama-ddp.toml";
  request.traces = {source_dir() + "/examples/traces/small-llama-ddp"};
  return request;
}

// The example's trace was made with rank 2 coming late to every call.
TEST(AdviseCommand, TheExampleNamesTheLateRank) {
  AdviseRequest request = of_example();
  const CommandOutput text = run_advise(request);
  ASSERT_TRUE(text.problems.empty()) << problems_text(text.problems);
  EXPECT_LE(widest_line(text.text), 80u) << text.text;
  request.json = true;
  const JsonTree document = JsonTree::parse(run_advise(request).text);
  ASSERT_FALSE(document["advice"].empty());
  ASSERT_LE(document["advice"].size(), 3u);
  bool late = false;
  for (const JsonTree& advice : document["advice"]) {
    late = late || (advice["kind"] == "late rank" && advice["ranks"] == JsonTree({2}));
    EXPECT_NE(text.text.find(advice["what"].get<std::string>().substr(0, 20)), std::string::npos);
    EXPECT_GT(advice["gain"].get<double>(), 0);
    EXPECT_LT(advice["gain"].get<double>(), 1);
  }
  EXPECT_TRUE(late) << text.text;
}

TEST(AdviseCommand, WhatIsMissingIsToldAllAtOnce) {
  EXPECT_EQ(run_advise({}).problems.size(), 2u);
  AdviseRequest request = of_example();
  request.traces = {"no/such/trace.json"};
  EXPECT_FALSE(run_advise(request).problems.empty());
  request = of_example();
  request.steps = "100..200";
  const CommandOutput outside = run_advise(request);
  ASSERT_EQ(outside.problems.size(), 1u);
  EXPECT_EQ(outside.problems.front().fields.front().name, "steps");
}

TEST(AdviseCommand, ATraceOfAnotherRunIsRefused) {
  AdviseRequest request = of_example();
  request.fields.emplace_back("gpus", "8");
  request.fields.emplace_back("dp", "8");
  request.fields.emplace_back("global-batch", "64");
  const CommandOutput output = run_advise(request);
  ASSERT_FALSE(output.problems.empty()) << output.text;
  EXPECT_TRUE(output.text.empty());
}

}  // namespace
}  // namespace headway
