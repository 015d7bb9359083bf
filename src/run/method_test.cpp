#include "run/method.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

RunRequest request(const std::string& method, RunRequest more = {}) {
  RunRequest out = {{"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"gpus", "32"},
                    {"seq", "4096"},         {"global-batch", "64"},  {"method", method}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}
std::string problem_of(const RunRequest& request) {
  const auto run = make_run(request);
  return run ? std::string()
             : where_text(run.problems().front()) + ": " + run.problems().front().message;
}

// Llama-2-7B: embedding, head and final norm stay; of each of 32 layers the products are a quarter,
// its two norms whole.
TEST(RunMethod, SubmodelsShareOutHeadsAndNeurons) {
  const Model whole = load_model("llama-2-7b").value();
  const auto narrow = submodel(whole, 4);
  ASSERT_TRUE(narrow.ok());
  const double ends = 2 * 32000.0 * 4096 + 4096;
  const double products = 32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008), norms = 32 * 2 * 4096.0;
  EXPECT_EQ(static_cast<double>(parameters(whole).total), ends + products + norms);
  EXPECT_EQ(static_cast<double>(parameters(*narrow).total), ends + products / 4 + norms);
  // 32 heads and 11,008 = 2^8 · 43 neurons.
  EXPECT_TRUE(submodel(whole, 32).ok());
  const auto refused = submodel(whole, 3);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problems().size(), 3u);  // heads, heads of keys, neurons: all at once
}

// Two sites of two nodes of eight, joined by 16 Gb/s each: 2 GB/s over 16 ranks.
TEST(RunMethod, SitesHoldWholeReplicas) {
  const auto run =
      make_run(request("diloco:replicas=2,bandwidth=16Gb/s,latency=5 ms", {{"pp", "2"}}));
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->cluster.levels.size(), 3u);
  EXPECT_EQ(run->cluster.levels[0].size, 8);
  EXPECT_EQ(run->cluster.levels[1].size, 16);
  const Level& site = run->cluster.levels[2];
  EXPECT_EQ(site.name, "site");
  EXPECT_EQ(site.size, 32);
  EXPECT_DOUBLE_EQ(site.bandwidth.value(), 2e9 / 16);
  EXPECT_DOUBLE_EQ(site.latency.value(), 5e-3);
  // Data parallelism is outermost: what meets in every step stays at a site.
  EXPECT_EQ(run->layout.order.back(), Dimension::dp);
  const Spans lies = spans(run->layout, run->cluster);
  EXPECT_EQ(crossed_level(lies.pp, run->cluster), 0);
  EXPECT_LT(crossed_level(lies.dp, run->cluster), 2);
  EXPECT_LT(crossed_level(lies.world, run->cluster), 2);
  EXPECT_EQ(crossed_level(lies.meeting, run->cluster), 2);
  EXPECT_EQ(lies.meeting.ranks, 2);
}

TEST(RunMethod, ARunFileKeepsTheMethod) {
  const auto run = make_run(request("streaming-diloco:every=50,replicas=4"));
  ASSERT_TRUE(run.ok());
  const std::string text = run_file_text(*run);
  EXPECT_NE(text.find("method = \"streaming-diloco:every=50,replicas=4\""), std::string::npos);
  const auto again = run_request_from(parse_toml(text, "run.toml")->root, "run.toml");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(make_run(*again)->job.method.every, 50);
}

TEST(RunMethod, SynchronousIsAsIfNothingWereGiven) {
  const auto run = make_run(request("synchronous"));
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run->job.method.is_synchronous());
  EXPECT_EQ(run->layout.replicas, 1);
}

TEST(RunMethod, WhatContradictsTheRunIsRefusedAtTheField) {
  EXPECT_NE(problem_of(request("diloco:replicas=3")).find("method: 3 does not divide"),
            std::string::npos);
  EXPECT_NE(problem_of(request("diloco:replicas=5,bandwidth=1 GB/s"))
                .find("5 replicas do not divide 32 accelerators"),
            std::string::npos);
  EXPECT_NE(problem_of(request("diloco:replicas=2,bandwidth=1 GB/s",
                               {{"pp", "2"}, {"order", "tp-cp-dp-pp"}}))
                .find("legal: tp-cp-pp-dp"),
            std::string::npos);
  EXPECT_NE(problem_of(request("subnetworks:submodels=16", {{"model", "llama-3-8b"}}))
                .find("16 submodels do not divide the 8 heads of keys"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
