#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "api/infer_for_test.hpp"
#include "base/source_dir_for_test.hpp"

namespace headway {
namespace {

using Json = nlohmann::json;

using testing::served_answer;

InferRequest request_of_70b(RunRequest more = {}, const std::vector<std::string>& without = {}) {
  return testing::served_70b({"batch", "16"}, std::move(more), without);
}

TEST(Infer, AnswersInPartsThatAddUp) {
  const Json json = served_answer(request_of_70b());
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

TEST(Infer, DrawsCurvesAndFrontsAlone) {
  InferRequest request = request_of_70b();
  request.plot = "/nowhere/at/all";
  const CommandOutput out = run_infer(request);
  ASSERT_EQ(out.problems.size(), 1U);
  EXPECT_NE(out.problems[0].message.find("--best or --curve"), std::string::npos);
}

TEST(Infer, SaysEverythingThatIsWrongAtOnce) {
  InferRequest request;
  request.fields = {
      {"model", "llama-3-70b"}, {"weights", "int3"}, {"cache", "fp3"}, {"engine", "vlllm"}};
  const CommandOutput out = run_infer(request);
  // cluster, engine, weights, cache, both lengths, batch.
  EXPECT_EQ(out.problems.size(), 7U) << problems_text(out.problems);
  EXPECT_TRUE(out.text.empty());
}

TEST(Infer, OfWhatDoesNotFitSaysSo) {
  InferRequest request = request_of_70b({{"tp", "1"}});
  request.json = false;
  const CommandOutput out = run_infer(request);
  EXPECT_TRUE(out.problems.empty());
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_NE(out.text.find("does not fit"), std::string::npos);
}

// Prefill on one accelerator is too small: each change that is told, given instead, makes it fit.
TEST(Infer, OfPrefillAndDecodeApartSaysWhatWouldFit) {
  const RunRequest apart = {{"prefill", "tp=1,copies=2"}, {"decode", "tp=4"}, {"concurrency", "4"}};
  InferRequest request = request_of_70b(apart, {"batch", "tp"});
  const CommandOutput out = run_infer(request);
  ASSERT_TRUE(out.problems.empty()) << problems_text(out.problems);
  EXPECT_EQ(out.exit_code, 1);
  const Json json = Json::parse(out.text);
  EXPECT_EQ(json["prefill"]["fits"], false);
  EXPECT_EQ(json["decode"]["fits"], true);
  ASSERT_FALSE(json["would_fit"].empty());
  for (const Json& change : json["would_fit"]) {
    RunRequest changed = apart;
    for (const auto& [flag, value] : change.items()) {
      std::erase_if(changed, [&](const GivenField& field) { return field.name == flag; });
      changed.emplace_back(flag, value.get<std::string>());
    }
    EXPECT_EQ(served_answer(request_of_70b(changed, {"batch", "tp"}))["fits"], true) << change;
  }
  request.json = false;
  const std::string text = run_infer(request).text;
  EXPECT_NE(text.find("does not fit: of prefill the weights alone are too large; it would with --"),
            std::string::npos)
      << text;
}

TEST(Infer, OfTheBestApartSaysOfHowManyAcceleratorsSomeWayFits) {
  InferRequest request =
      request_of_70b({{"best", "true"}, {"disaggregate", "true"}, {"gpus", "2"}}, {"batch", "tp"});
  // 131 GiB of weights and the engine's 4 a rank: two of 72 GiB hold them, one does not.
  EXPECT_EQ(served_answer(request)["would_fit_gpus"], 4);
  request.json = false;
  const CommandOutput out = run_infer(request);
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_NE(out.text.find("no way fits; of 4 accelerators some would"), std::string::npos);
}

TEST(Infer, RefusesMoreTokensThanTheModelWasMadeFor) {
  EXPECT_EQ(run_infer(request_of_70b({{"input-len", "8000"}})).problems.size(), 1U);
}

TEST(Infer, SearchesWhatIsNotGiven) {
  EXPECT_EQ(run_infer(request_of_70b({{"best", "true"}})).problems.size(), 3U);  // gpus, tp, a load
  const RunRequest shared = {{"best", "true"}, {"gpus", "8"}, {"cp", "2"}};
  EXPECT_EQ(run_infer(request_of_70b(shared, {"tp", "batch"})).problems.size(), 1U);
  InferRequest request = request_of_70b({{"best", "true"}, {"gpus", "4"}}, {"tp", "batch"});
  const CommandOutput one = run_infer(request);
  ASSERT_TRUE(one.problems.empty()) << problems_text(one.problems);
  EXPECT_FALSE(Json::parse(one.text)["front"].empty());
  request.threads = 2;
  EXPECT_EQ(run_infer(request).text, one.text);
}

TEST(Infer, OfMoreThanTheClusterHasIsRefused) {
  EXPECT_EQ(run_infer(request_of_70b({{"best", "true"}, {"gpus", "999999"}}, {"tp", "batch"}))
                .problems.size(),
            1U);
}

TEST(Infer, IsTheSameForTheSameQuestion) {
  const InferRequest request = request_of_70b({{"concurrency", "32"}}, {"batch"});
  EXPECT_EQ(run_infer(request).text, run_infer(request).text);
}

// Each point of a curve is the answer to its load, asked alone.
TEST(Infer, ACurveIsTheAnswersToItsLoads) {
  for (const std::string of : {"concurrency", "rate", "batch"}) {
    const Json curve = served_answer(request_of_70b({{"curve", of}}, {"batch"}));
    ASSERT_GE(curve["points"].size(), 5U) << of;
    for (const std::size_t i : {std::size_t{0}, curve["points"].size() / 2}) {
      const Json& point = curve["points"][i];
      const Json alone = served_answer(request_of_70b({{of, point[of].dump()}}, {"batch"}));
      for (const auto& [name, value] : point.items()) {
        if (value.is_number()) {
          EXPECT_NEAR(alone[name].get<double>(), value.get<double>(), 1e-9 * value.get<double>())
              << of << " " << name;
        }
      }
    }
  }
}

// Of prefill and decode apart, too, whose load is of all copies.
TEST(Infer, ACurveOfPrefillAndDecodeApartIsTheAnswersToItsLoads) {
  const RunRequest apart = {
      {"weights", "fp8"}, {"cache", "fp8"}, {"prefill", "tp=2,copies=2"}, {"decode", "tp=4"}};
  const auto of = [&](const std::string& name, const std::string& value) {
    RunRequest more = apart;
    more.emplace_back(name, value);
    return served_answer(request_of_70b(more, {"batch", "tp"}));
  };
  for (const std::string along : {"concurrency", "rate"}) {
    const Json curve = of("curve", along);
    ASSERT_GE(curve["points"].size(), 5U) << along;
    const std::size_t last = curve["points"].size() - 1;
    for (const std::size_t i : {std::size_t{0}, last / 2, last}) {
      const Json& point = curve["points"][i];
      const Json alone = of(along, point[along].dump());
      EXPECT_EQ(alone["prefill"], curve["prefill"]);
      EXPECT_EQ(alone["decode"], curve["decode"]);
      EXPECT_EQ(alone["capacity_requests_per_s"], curve["capacity_requests_per_s"]);
      EXPECT_EQ(alone["binds"], curve["binds"]);
      for (const auto& [name, value] : point.items()) {
        if (value.is_number()) {
          EXPECT_NEAR(alone[name].get<double>(), value.get<double>(), 1e-9 * value.get<double>())
              << along << " " << name;
        }
      }
    }
  }
}

TEST(Infer, ACurveOfPrefillAndDecodeApartIsTheSameWhateverTheThreads) {
  InferRequest request = request_of_70b(
      {{"weights", "fp8"}, {"prefill", "tp=2"}, {"decode", "tp=4"}, {"curve", "concurrency"}},
      {"batch", "tp"});
  const std::string one = run_infer(request).text;
  request.threads = 2;
  EXPECT_EQ(run_infer(request).text, one);
}

TEST(Infer, ACurveOfPrefillAndDecodeApartThatDoNotFitSaysOfWhich) {
  InferRequest request =
      request_of_70b({{"prefill", "tp=4"}, {"decode", "tp=1"}, {"curve", "rate"}}, {"batch", "tp"});
  const CommandOutput out = run_infer(request);
  EXPECT_EQ(out.exit_code, 1);
  const Json json = Json::parse(out.text);
  EXPECT_EQ(json["fits"], false);
  EXPECT_EQ(json["prefill"]["fits"], true);
  EXPECT_EQ(json["decode"]["fits"], false);
  request.json = false;
  EXPECT_NE(run_infer(request).text.find("does not fit: of decode the weights alone"),
            std::string::npos);
}

TEST(Infer, OfPrefillAndDecodeApartThereIsNoCurveOfABatch) {
  const CommandOutput out = run_infer(request_of_70b(
      {{"prefill", "tp=4"}, {"decode", "tp=4"}, {"curve", "batch"}}, {"batch", "tp"}));
  ASSERT_EQ(out.problems.size(), 1U) << problems_text(out.problems);
  EXPECT_EQ(out.problems[0].fields.front().name, "curve");
}

TEST(Infer, ACurveIsTheSameWhateverTheThreads) {
  InferRequest request = request_of_70b({{"curve", "rate"}}, {"batch"});
  const std::string one = run_infer(request).text;
  request.threads = 2;
  EXPECT_EQ(run_infer(request).text, one);
}

TEST(Infer, ACurveGoesUpToWhatCanBeAnsweredAndIsAlwaysStable) {
  const Json curve = served_answer(request_of_70b({{"curve", "rate"}}, {"batch"}));
  const double capacity = curve["capacity_requests_per_s"];
  double before = 0;
  for (const Json& point : curve["points"]) {
    EXPECT_GT(point["rate"].get<double>(), before);
    EXPECT_LT(point["rate"].get<double>(), capacity);
    EXPECT_TRUE(point.contains("ttft_s"));
    before = point["rate"];
  }
  EXPECT_NEAR(before, 0.95 * capacity, 1e-9 * capacity);
}

TEST(Infer, ACurveOfWhatDoesNotFitIsEmptyAndNotFeasible) {
  const CommandOutput out = run_infer(request_of_70b({{"curve", "batch"}, {"tp", "1"}}, {"batch"}));
  EXPECT_TRUE(out.problems.empty());
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_EQ(Json::parse(out.text)["fits"], false);
}

// What is told of one load stands beside many and beside the best, too; what would fit as well.
TEST(Infer, CurvesAndTheBestHaveTheNotesOfOneLoad) {
  const RunRequest eager = {{"eager", "true"}};
  const Json one = served_answer(request_of_70b(eager));
  ASSERT_GE(one["notes"].size(), 1U);
  const Json curve =
      served_answer(request_of_70b({{"eager", "true"}, {"curve", "batch"}}, {"batch"}));
  EXPECT_EQ(curve["notes"], one["notes"]);
  const Json best = served_answer(
      request_of_70b({{"eager", "true"}, {"best", "true"}, {"gpus", "8"}}, {"batch", "tp"}));
  EXPECT_EQ(best["notes"], one["notes"]);
  const Json small = Json::parse(
      run_infer(request_of_70b({{"curve", "batch"}, {"tp", "1"}}, {"batch", "tp"})).text);
  EXPECT_EQ(small["fits"], false);
  EXPECT_GE(small["would_fit"].size(), 1U);
}

TEST(Infer, ARunFileIsTheSameAsItsFlagsWhichOverrideIt) {
  InferRequest request;
  request.run_file = source_dir() + "/examples/llama-3-70b-serving.toml";
  request.fields = {{"rate", "2"}};
  request.json = true;
  const CommandOutput of_file = run_infer(request);
  ASSERT_TRUE(of_file.problems.empty()) << problems_text(of_file.problems);
  EXPECT_EQ(Json::parse(of_file.text)["rate"], 2);
}

// The file has a rate and tp 8: a flag's load takes the place of the one, --best of both.
TEST(Infer, AFlagsLoadOrSearchTakesThePlaceOfTheFiles) {
  const auto of_file = [](RunRequest flags) {
    InferRequest request;
    request.run_file = source_dir() + "/examples/llama-3-70b-serving.toml";
    request.fields = std::move(flags);
    request.json = true;
    return served_answer(request);
  };
  EXPECT_EQ(of_file({{"concurrency", "4"}})["concurrency"], 4);
  EXPECT_EQ(of_file({{"curve", "rate"}})["points"].size(), 11U);
  EXPECT_FALSE(of_file({{"best", "true"}, {"gpus", "4"}})["front"].empty());
}

TEST(Infer, AnswersARequestAsTheCommandLineDoes) {
  const CommandOutput out = answer("infer", R"({"model": "llama-3-70b", "cluster": "dgx-h100",
      "tp": 8, "input-len": 1000, "output-len": 500, "batch": 16})");
  ASSERT_TRUE(out.problems.empty()) << problems_text(out.problems);
  EXPECT_EQ(out.text, run_infer(request_of_70b()).text);
}

TEST(Infer, TellsARequestWhichOfItsMembersAreWrong) {
  const CommandOutput out = answer("infer", R"({"model": "llama-3-70b", "cluster": "dgx-h100",
      "tp": 0, "input-len": 1000, "output-len": 500, "batch": 16, "ttft": 3, "engine": "vim"})");
  std::vector<std::string> where;
  for (const Problem& problem : out.problems) where.push_back(where_text(problem));
  std::sort(where.begin(), where.end());
  EXPECT_EQ(where, (std::vector<std::string>{"engine", "tp", "ttft", "ttft"}))
      << problems_text(out.problems);
}

// A model without a most of positions, a billion steps of one client after another.
TEST(Infer, RefusesOthersWhatWouldTakeMinutes) {
  InferRequest request = request_of_70b(
      {{"model", "llama-4-scout"}, {"output-len", "5000000"}, {"concurrency", "1000"}}, {"batch"});
  request.bounded = true;
  const CommandOutput out = run_infer(request);
  ASSERT_EQ(out.problems.size(), 1U) << out.text;
  EXPECT_NE(out.problems[0].message.find("steps of the engine"), std::string::npos)
      << problems_text(out.problems);
}

TEST(Infer, IsStoppedWhereItsProgressSaysSo) {
  for (const RunRequest& more :
       {RunRequest{{"curve", "rate"}}, RunRequest{{"best", "true"}, {"gpus", "4"}}}) {
    InferRequest request = request_of_70b(more, {"batch"});
    if (more.size() > 1) request = request_of_70b(more, {"batch", "tp"});
    request.progress = [](std::size_t, std::size_t) { return false; };
    const CommandOutput out = run_infer(request);
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems[0].kind, Trouble::stopped);
  }
}

}  // namespace
}  // namespace headway
