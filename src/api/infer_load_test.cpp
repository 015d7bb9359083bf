// infer: requests under load, prefill and decode apart, guesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "api/infer_for_test.hpp"

namespace headway {
namespace {

using testing::served_answer;

InferRequest asked_of_clients(RunRequest more = {}, const std::vector<std::string>& without = {}) {
  return testing::served_70b({"concurrency", "16"}, std::move(more), without);
}

std::size_t problems_of(RunRequest more, const std::vector<std::string>& without = {}) {
  return run_infer(asked_of_clients(std::move(more), without)).problems.size();
}

// A file of its own that is gone behind the test.
class RequestFile {
 public:
  explicit RequestFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / ("headway_requests_" + name + ".csv")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~RequestFile() { std::filesystem::remove(path_); }
  RequestFile(const RequestFile&) = delete;
  RequestFile& operator=(const RequestFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(InferLoad, OfPrefillAndDecodeApartNamesWhatBinds) {
  InferRequest request = asked_of_clients(
      {{"weights", "fp8"}, {"cache", "fp8"}, {"prefill", "tp=2,copies=2"}, {"decode", "tp=4"}},
      {"tp"});
  const auto json = served_answer(request);
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

TEST(InferLoad, OfPoolsSaysEverythingThatIsWrong) {
  EXPECT_EQ(problems_of({{"prefill", "tp=0,pp,tq=3,dp=2,dp=2"},
                         {"decode", "tp=4,copies=99999999999999999999"}},
                        {"tp"}),
            5U);
  EXPECT_EQ(problems_of({{"prefill", "tp=2"}}, {"tp"}), 1U);
  // A degree beside them, and a batch.
  EXPECT_EQ(problems_of({{"prefill", "tp=2"}, {"decode", "tp=4"}, {"batch", "4"}}, {"concurrency"}),
            2U);
}

TEST(InferLoad, SearchesPrefillAndDecodeApart) {
  const auto json = served_answer(asked_of_clients({{"weights", "fp8"},
                                                    {"cache", "fp8"},
                                                    {"best", "true"},
                                                    {"disaggregate", "true"},
                                                    {"gpus", "4"}},
                                                   {"tp", "concurrency"}));
  ASSERT_FALSE(json["front"].empty());
  for (const auto& way : json["front"]) {
    const auto ranks = [](const nlohmann::json& split) {
      return split["tp"].get<int>() * split["pp"].get<int>() * split["dp"].get<int>() *
             split["cp"].get<int>();
    };
    EXPECT_EQ(ranks(way["prefill"]) * way["prefill_copies"].get<int>() +
                  ranks(way["layout"]) * way["decode_copies"].get<int>(),
              4);
  }
}

// As text, with the tokens of a step of either part, which both are searched.
TEST(InferLoad, ShowsTheStepsOfBothParts) {
  InferRequest request = asked_of_clients(
      {{"best", "true"}, {"disaggregate", "true"}, {"gpus", "4"}}, {"tp", "concurrency"});
  const auto json = served_answer(request);
  request.json = false;
  const std::string text = run_infer(request).text;
  ASSERT_FALSE(json["front"].empty());
  const auto& way = json["front"][0];
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line.find("prefill") == std::string::npos) {
  }
  std::getline(lines, line);
  std::getline(lines, line);
  std::istringstream words(line);
  std::vector<std::string> told{std::istream_iterator<std::string>(words), {}};
  for (const char* part : {"prefill_step_tokens", "step_tokens"}) {
    const auto at = std::find(told.begin(), told.end(), std::to_string(way[part].get<int>()));
    ASSERT_NE(at, told.end()) << line;
    told.erase(at);
  }
}

TEST(InferLoad, TakesLengthsAndMomentsFromAFile) {
  const RequestFile file("all",
                         "input_len,output_len,arrival_s\n1000,100,0\n500,200,0.5\n1500,1,2\n");
  InferRequest request = asked_of_clients({}, {"concurrency", "input-len", "output-len"});
  request.requests = file.path();
  const auto json = served_answer(request);
  EXPECT_EQ(json["requests"], 3);
  EXPECT_EQ(json["input_len"], 1000);
  EXPECT_EQ(json["output_len"], 100);
  // Beside clients lengths alone are of the file.
  const RequestFile lengths("lengths", "input_len,output_len\n1000,100\n500,200\n");
  request = asked_of_clients({}, {"input-len", "output-len"});
  request.requests = lengths.path();
  EXPECT_EQ(served_answer(request)["concurrency"], 16);
  const RequestFile moments("moments", "arrival_s\n0\n0.25\n3\n");
  request = asked_of_clients({}, {"concurrency"});
  request.arrivals = moments.path();
  EXPECT_EQ(served_answer(request)["requests"], 3);
}

TEST(InferLoad, RefusesAFileOfRequestsByItsLines) {
  const RequestFile file(
      "wrong", "input_len,output_len,arrival_s\n0,5,0\n10,x,1\n10,5,0.5\n7000,7000,nan\n");
  InferRequest request = asked_of_clients({}, {"concurrency", "input-len", "output-len"});
  request.requests = file.path();
  const Problems problems = run_infer(request).problems;
  ASSERT_EQ(problems.size(), 5U) << problems_text(problems);
  // A length, a word, a step back, no number, too long together.
  EXPECT_EQ(problems[0].place.line, 2);
  EXPECT_EQ(problems[1].place.line, 3);
  EXPECT_EQ(problems[2].place.line, 4);
  EXPECT_EQ(problems[4].place.line, 5);
  for (const char* text : {"", "input_len\n5\n", "input_len,output_len,arrival\n1,1,1\n",
                           "input_len,output_len\n", "\xff\xfe\n"}) {
    const RequestFile wrong("hostile", text);
    request.requests = wrong.path();
    EXPECT_FALSE(run_infer(request).problems.empty()) << text;
  }
  request.requests = "/no/such/file.csv";
  EXPECT_FALSE(run_infer(request).problems.empty());
}

// 0.1 of the memory of each rank more is for the cache alone.
TEST(InferLoad, TheShareOfTheMemoryThatTheEngineTakesIsSaid) {
  const auto tokens = [](const char* share) {
    return served_answer(asked_of_clients({{"memory-share", share}}))["kv_tokens"].get<double>();
  };
  const auto wide = served_answer(asked_of_clients({{"memory-share", "0.9"}}));
  const double between = tokens("0.8") / wide["kv_tokens"].get<double>();
  EXPECT_LT(between, 1);
  EXPECT_NEAR(tokens("0.85") / wide["kv_tokens"].get<double>(), (1 + between) / 2, 1e-3);
  EXPECT_EQ(problems_of({{"memory-share", "1.1"}}), 1U);
}

TEST(InferLoad, RefusesWhatWouldBeDropped) {
  EXPECT_EQ(problems_of({{"weights", "mxfp8"}}), 1U);  // of an accelerator without such scales

  EXPECT_EQ(problems_of({{"input-spread", "triangular:3"}}), 1U);
  EXPECT_EQ(problems_of({{"output-spread", "uniform:1.5"}}), 1U);
  EXPECT_EQ(problems_of({{"prefix-hit", "1"}}), 1U);
  EXPECT_EQ(problems_of({{"prompts", "last"}}), 1U);
  EXPECT_EQ(problems_of({{"admit", "all"}}), 1U);
  EXPECT_EQ(problems_of({{"acceptance", "0.8"}}), 1U);
  EXPECT_EQ(problems_of({{"draft", "llama-3-8b"}}), 1U);
  EXPECT_EQ(problems_of({{"stream", "true"}}), 1U);
  EXPECT_EQ(problems_of({{"disaggregate", "true"}}), 1U);
  EXPECT_EQ(problems_of({{"goodput", "0.9"}}), 2U);  // no limits, and clients
  EXPECT_EQ(problems_of({{"imbalance", "1"}}), 1U);  // no experts
  EXPECT_EQ(problems_of({{"redundant-experts", "8"}}), 1U);
  // Llama has no prediction layers, and no acceptance is said.
  EXPECT_EQ(problems_of({{"guesses", "2"}}), 2U);
  EXPECT_EQ(problems_of({{"output-len", "1"}, {"tpot", "20 ms"}}), 1U);
  // Of a batch nothing is drawn.
  EXPECT_EQ(
      problems_of(
          {{"batch", "4"}, {"count", "10"}, {"prefix-hit", "0.5"}, {"input-spread", "normal:0.1"}},
          {"concurrency"}),
      3U);
  // Nor is anything queued; blocks its cache has, too.
  EXPECT_EQ(problems_of({{"batch", "4"},
                         {"step-sequences", "2"},
                         {"prompts", "first"},
                         {"admit", "prompt"},
                         {"block", "16"}},
                        {"concurrency"}),
            3U);
  EXPECT_EQ(problems_of({{"best", "true"}, {"gpus", "8"}, {"cp", "2"}}, {"concurrency", "tp"}), 1U);
}

// [INFER-16] One sequence alone, four of five guesses of a small model right: faster.
TEST(InferLoad, WithGuessesOfASmallModelIsFasterAlone) {
  const double plain = served_answer(asked_of_clients({{"concurrency", "1"}}))["tpot_s"];
  const double guessed = served_answer(asked_of_clients({{"concurrency", "1"},
                                                         {"guesses", "3"},
                                                         {"acceptance", "0.8"},
                                                         {"draft", "llama-3-8b"}}))["tpot_s"];
  EXPECT_LT(guessed, 0.8 * plain);
}

TEST(InferLoad, OfOneTokenTellsNoTimeOfOthers) {
  for (const char* load : {"concurrency", "batch"}) {
    InferRequest request =
        asked_of_clients({{"output-len", "1"}, {load, "4"}}, {"output-len", "concurrency"});
    const auto json = served_answer(request);
    EXPECT_EQ(json["tpot_s"], 0);
    EXPECT_FALSE(json.contains("tokens_per_s_per_user"));
    request.json = false;
    EXPECT_EQ(run_infer(request).text.find("each token"), std::string::npos);
  }
}

TEST(InferLoad, OfAGoodputIsAtTheRateThatKeepsToTheLimits) {
  const RunRequest asked = {{"goodput", "0.9"}, {"tpot", "20 ms"}, {"count", "1000"}};
  const auto json = served_answer(asked_of_clients(asked, {"concurrency"}));
  EXPECT_GE(json["share_within_limits"], 0.9);
  EXPECT_EQ(json["rate_within_limits"], json["rate"]);
  RunRequest none = asked;
  none[1] = {"tpot", "1 us"};
  InferRequest request = asked_of_clients(none, {"concurrency"});
  EXPECT_EQ(run_infer(request).exit_code, 1);
  request.json = false;
  EXPECT_NE(run_infer(request).text.find("keep to the limits at no rate"), std::string::npos);
}

TEST(InferLoad, BeyondWhatCanBeAnsweredIsNotStable) {
  EXPECT_EQ(served_answer(asked_of_clients({{"rate", "1"}}, {"concurrency"}))["stable"], true);
  const InferRequest beyond = asked_of_clients({{"rate", "1000"}}, {"concurrency"});
  const CommandOutput output = run_infer(beyond);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.text.find("\"stable\": false"), std::string::npos);
}

// Files of this machine cannot be named from elsewhere.
TEST(InferLoad, TakesNoFileFromARequest) {
  const CommandOutput out = answer("infer", R"({"model": "llama-3-70b", "cluster": "dgx-h100",
      "tp": 8, "requests": "/etc/passwd", "concurrency": 4})");
  EXPECT_FALSE(out.problems.empty());
  EXPECT_TRUE(out.text.empty());
}

}  // namespace
}  // namespace headway
