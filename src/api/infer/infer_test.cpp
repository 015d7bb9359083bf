#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/commands.hpp"

namespace headway {
namespace {

InferRequest request_of_70b() {
  InferRequest out;
  out.model = "llama-3-70b";
  out.cluster = "dgx-h100";
  out.tp = 8;
  out.input = 1000;
  out.output = 500;
  out.batch = 16;
  return out;
}

TEST(Infer, AnswersInPartsThatAddUp) {
  InferRequest request = request_of_70b();
  request.json = true;
  const CommandOutput out = run_infer(request);
  ASSERT_TRUE(out.problems.empty());
  EXPECT_EQ(out.exit_code, 0);
  const auto json = nlohmann::json::parse(out.text);
  double decode = 0;
  for (const auto& [part, seconds] : json["parts_s"]["decode"].items()) {
    decode += seconds.get<double>();
  }
  EXPECT_NEAR(json["tpot_s"].get<double>(), decode, 1e-12);
  EXPECT_NEAR(json["latency_s"].get<double>(),
              json["ttft_s"].get<double>() + 499 * json["tpot_s"].get<double>(), 1e-9);
  EXPECT_NEAR(json["throughput_total_tok_s"].get<double>(),
              3 * json["throughput_output_tok_s"].get<double>(), 1e-6);
  EXPECT_EQ(json["gpus"], 8);
}

TEST(Infer, SaysEverythingThatIsWrongAtOnce) {
  InferRequest request;
  request.model = "llama-3-70b";
  request.weights = "int3";
  request.cache = "fp3";
  request.engine = "vlllm";
  const CommandOutput out = run_infer(request);
  // cluster, engine, weights, cache, both lengths, batch.
  EXPECT_EQ(out.problems.size(), 7U);
  EXPECT_TRUE(out.text.empty());
}

TEST(Infer, OfWhatDoesNotFitSaysSo) {
  InferRequest request = request_of_70b();
  request.tp = 1;
  const CommandOutput out = run_infer(request);
  EXPECT_TRUE(out.problems.empty());
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_NE(out.text.find("does not fit"), std::string::npos);
}

TEST(Infer, RefusesMoreTokensThanTheModelWasMadeFor) {
  InferRequest request = request_of_70b();
  request.input = 8000;
  EXPECT_EQ(run_infer(request).problems.size(), 1U);
}

TEST(Infer, SearchesWhatIsNotGiven) {
  InferRequest request = request_of_70b();
  request.best = true;
  EXPECT_EQ(run_infer(request).problems.size(), 3U);  // gpus, tp, a load
  request.tp = 1;
  request.gpus = 4;
  request.batch.reset();
  request.json = true;
  request.threads = 1;
  const CommandOutput one = run_infer(request);
  ASSERT_TRUE(one.problems.empty());
  EXPECT_FALSE(nlohmann::json::parse(one.text)["front"].empty());
  request.threads = 2;
  EXPECT_EQ(run_infer(request).text, one.text);
}

TEST(Infer, OfMoreThanTheClusterHasIsRefused) {
  InferRequest request = request_of_70b();
  request.best = true;
  request.tp = 1;
  request.gpus = 999'999;
  request.batch.reset();
  EXPECT_EQ(run_infer(request).problems.size(), 1U);
}

TEST(Infer, IsTheSameForTheSameQuestion) {
  InferRequest request = request_of_70b();
  request.batch.reset();
  request.clients = 32;
  EXPECT_EQ(run_infer(request).text, run_infer(request).text);
}

}  // namespace
}  // namespace headway
