#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
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

// Numbers that nothing can be made of, beside a length, a rate and a format: all at once.
TEST(Infer, SaysWhichNumbersAreOutOfRangeWithAllThatIsWrong) {
  InferRequest request = request_of_70b();
  request.tp = 0;
  request.pp = -3;
  request.output = 0;
  request.batch.reset();
  request.rate = -1;
  request.prefix_hit = 2;
  request.weights = "int3";
  EXPECT_EQ(run_infer(request).problems.size(), 6U);
  request = request_of_70b();
  request.batch = 0;
  EXPECT_EQ(run_infer(request).problems.size(), 1U);
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

InferRequest clients_of_70b() {
  InferRequest out = request_of_70b();
  out.batch.reset();
  out.clients = 16;
  out.json = true;
  return out;
}

nlohmann::json answer_of(const InferRequest& request) {
  const CommandOutput out = run_infer(request);
  EXPECT_TRUE(out.problems.empty());
  return out.text.empty() ? nlohmann::json() : nlohmann::json::parse(out.text);
}

// A file of its own that is gone behind the test.
class RequestFile {
 public:
  explicit RequestFile(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~RequestFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("headway_requests_" + std::to_string(std::rand()) + ".csv");
};

TEST(Infer, OfPrefillAndDecodeApartNamesWhatBinds) {
  InferRequest request = clients_of_70b();
  request.tp = 1;
  request.weights = request.cache = "fp8";
  request.prefill = "tp=2,copies=2";
  request.decode = "tp=4";
  const auto json = answer_of(request);
  EXPECT_EQ(json["gpus"], 8);
  EXPECT_EQ(json["prefill"]["gpus"], 4);
  const double prefill = json["prefill"]["capacity_requests_per_s"];
  const double decode = json["decode"]["capacity_requests_per_s"];
  EXPECT_EQ(json["capacity_requests_per_s"], std::min(prefill, decode));
  EXPECT_EQ(json["binds"], prefill < decode ? "prefill" : "decode");
  EXPECT_GT(json["prefill"]["kv_tokens"], 0);
  EXPECT_GT(json["decode"]["kv_tokens"], 0);
  EXPECT_EQ(json["quantiles"]["tpot_s"]["mean"], json["tpot_s"]);
  request.json = false;
  EXPECT_NE(run_infer(request).text.find("what binds"), std::string::npos);
}

TEST(Infer, OfPoolsSaysEverythingThatIsWrong) {
  InferRequest request = clients_of_70b();
  request.tp = 1;
  request.prefill = "tp=0,pp,tq=3,dp=2,dp=2";
  request.decode = "tp=4,copies=99999999999999999999";
  EXPECT_EQ(run_infer(request).problems.size(), 5U);
  request.prefill = "tp=2";
  request.decode.clear();
  EXPECT_EQ(run_infer(request).problems.size(), 1U);
  request.decode = "tp=4";
  request.tp = 2;
  request.clients.reset();
  request.batch = 4;
  EXPECT_EQ(run_infer(request).problems.size(), 2U);  // tp beside them, a batch
}

TEST(Infer, TakesLengthsAndMomentsFromAFile) {
  const RequestFile file("input_len,output_len,arrival_s\n1000,100,0\n500,200,0.5\n1500,1,2\n");
  InferRequest request = clients_of_70b();
  request.clients.reset();
  request.input.reset();
  request.output.reset();
  request.requests = file.path();
  const auto json = answer_of(request);
  EXPECT_EQ(json["requests"], 3);
  EXPECT_EQ(json["input_len"], 1000);
  EXPECT_EQ(json["output_len"], 100);
  // Beside clients lengths alone are of the file.
  const RequestFile lengths("input_len,output_len\n1000,100\n500,200\n");
  request.requests = lengths.path();
  request.clients = 4;
  EXPECT_EQ(answer_of(request)["concurrency"], 4);
  const RequestFile moments("arrival_s\n0\n0.25\n3\n");
  request = clients_of_70b();
  request.clients.reset();
  request.arrivals = moments.path();
  EXPECT_EQ(answer_of(request)["requests"], 3);
}

TEST(Infer, RefusesAFileOfRequestsByItsLines) {
  const RequestFile file(
      "input_len,output_len,arrival_s\n0,5,0\n10,x,1\n10,5,0.5\n7000,7000,nan\n");
  InferRequest request = clients_of_70b();
  request.clients.reset();
  request.input.reset();
  request.output.reset();
  request.requests = file.path();
  const Problems problems = run_infer(request).problems;
  ASSERT_EQ(problems.size(), 5U);  // a length, a word, a step back, too long, no number
  EXPECT_EQ(problems[0].place.line, 2);
  EXPECT_EQ(problems[1].place.line, 3);
  EXPECT_EQ(problems[2].place.line, 4);
  EXPECT_EQ(problems[4].place.line, 5);
  for (const char* text : {"", "input_len\n5\n", "input_len,output_len,arrival\n1,1,1\n",
                           "input_len,output_len\n", "\xff\xfe\n\x00"}) {
    const RequestFile wrong(text);
    request.requests = wrong.path();
    EXPECT_FALSE(run_infer(request).problems.empty()) << text;
  }
  request.requests = "/no/such/file.csv";
  EXPECT_FALSE(run_infer(request).problems.empty());
}

TEST(Infer, RefusesWhatWouldBeDropped) {
  const auto wrong = [](const auto& change) {
    InferRequest request = clients_of_70b();
    change(request);
    return run_infer(request).problems.size();
  };
  EXPECT_EQ(wrong([](InferRequest& r) { r.input_spread = "triangular:3"; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.output_spread = "uniform:1.5"; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.prefix_hit = 1; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.prompts = "last"; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.admit = "all"; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.acceptance = 0.8; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.draft = "llama-3-8b"; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.streamed = true; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.disaggregate = true; }), 1U);
  EXPECT_EQ(wrong([](InferRequest& r) { r.goodput = 0.9; }), 2U);  // no limits, and clients
  EXPECT_EQ(wrong([](InferRequest& r) { r.imbalance = 1; }), 1U);  // no experts
  EXPECT_EQ(wrong([](InferRequest& r) { r.redundant_experts = 8; }), 1U);
  // Llama has no prediction layers, and no acceptance is said.
  EXPECT_EQ(wrong([](InferRequest& r) { r.guesses = 2; }), 2U);
  EXPECT_EQ(wrong([](InferRequest& r) {
              r.output = 1;
              r.each_limit = "20 ms";
            }),
            1U);
  // Of a batch nothing is drawn.
  EXPECT_EQ(wrong([](InferRequest& r) {
              r.clients.reset();
              r.batch = 4;
              r.count = 10;
              r.prefix_hit = 0.5;
              r.input_spread = "normal:0.1";
            }),
            3U);
}

// [INFER-16] One sequence alone, four of five guesses of a small model right: faster.
TEST(Infer, WithGuessesOfASmallModelIsFasterAlone) {
  InferRequest request = clients_of_70b();
  request.clients = 1;
  const double plain = answer_of(request)["tpot_s"];
  request.guesses = 3;
  request.acceptance = 0.8;
  request.draft = "llama-3-8b";
  const double guessed = answer_of(request)["tpot_s"];
  EXPECT_LT(guessed, 0.8 * plain);
}

TEST(Infer, OfOneTokenTellsNoTimeOfOthers) {
  InferRequest request = clients_of_70b();
  request.output = 1;
  const auto json = answer_of(request);
  EXPECT_TRUE(json.contains("ttft_s"));
  EXPECT_FALSE(json.contains("tpot_s"));
}

TEST(Infer, OfAGoodputIsAtTheRateThatKeepsToTheLimits) {
  InferRequest request = clients_of_70b();
  request.clients.reset();
  request.goodput = 0.9;
  request.each_limit = "20 ms";
  request.count = 1000;
  const auto json = answer_of(request);
  EXPECT_GE(json["share_within_limits"], 0.9);
  EXPECT_EQ(json["rate_within_limits"], json["rate_per_copy"]);
  request.each_limit = "1 us";
  EXPECT_EQ(run_infer(request).exit_code, 1);
}

}  // namespace
}  // namespace headway
