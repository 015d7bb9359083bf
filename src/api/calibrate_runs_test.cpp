// headway calibrate --runs, and --calibration at the doors of the commands that take a run.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "api/commands.hpp"
#include "fit/corpus/table_for_test.hpp"
#include "platform/files.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

using Json = nlohmann::json;
using testing::TemporaryFolder;

constexpr const char* kFields =
    "model = 'llama-3.1-8b'\ncluster = 'dgx-h100'\ngpus = 32\nglobal-batch = 32\ntp = 4\n";

std::string run_of(const std::string& more) {
  return kFields + more;
}

double step_time(const std::string& file, const std::string& calibration = {}) {
  PredictRequest request;
  request.run_file = file;
  if (!calibration.empty()) request.fields = {{"calibration", calibration}};
  request.json = true;
  const CommandOutput output = run_predict(request);
  EXPECT_TRUE(output.problems.empty()) << problems_text(output.problems);
  return output.problems.empty() ? Json::parse(output.text)["step_time_s"].get<double>() : 0;
}

// Three runs that took `factor` times as long as they are predicted to.
CommandOutput calibrated(const TemporaryFolder& folder, double factor, const std::string& output) {
  CalibrateRequest request;
  for (const char* seq : {"2048", "4096", "8192"}) {
    const std::string fields = run_of(std::string("seq = ") + seq + "\n");
    const double predicted = step_time(folder.write("bare.toml", fields));
    request.runs.push_back(
        folder.write(std::string(seq) + ".toml",
                     fields + "[measured]\nstep_time_s = " + std::to_string(predicted * factor)));
  }
  request.output = output;
  request.date = "2026-11-24";
  return run_calibrate(request);
}

TEST(CalibrateRuns, BringsForecastsOfTheSetupNearWhatWasMeasured) {
  const TemporaryFolder folder;
  const std::string mine = folder.of("mine.toml");
  const CommandOutput output = calibrated(folder, 1.25, mine);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  const std::string other = folder.write("other.toml", run_of("seq = 8192\nmicro-batch = 2\n"));
  const double before = step_time(other), after = step_time(other, mine);
  EXPECT_GT(after / before, 1.12);
  EXPECT_LT(after / before, 1.25);

  // All that a forecast says keeps adding up, and the interval is narrower.
  PredictRequest request;
  request.run_file = other;
  request.json = true;
  const Json plain = Json::parse(run_predict(request).text);
  request.fields = {{"calibration", mine}};
  const Json own = Json::parse(run_predict(request).text);
  double parts = 0;
  for (const auto& [name, value] : own["parts_s"].items()) parts += value.get<double>();
  EXPECT_NEAR(parts / after, 1, 1e-12);
  const auto width = [](const Json& of) {
    const Json& interval = of["interval_step_time_s"];
    return std::log(interval[1].get<double>() / interval[0].get<double>());
  };
  EXPECT_LT(width(own), 0.8 * width(plain));
  EXPECT_LE(own["interval_step_time_s"][0], own["step_time_s"]);
  EXPECT_NE(own["notes"].dump().find("own runs"), std::string::npos);
  EXPECT_NEAR(own["mfu"].get<double>() * after, plain["mfu"].get<double>() * before, 1e-9);
  ASSERT_EQ(own["calls"].size(), plain["calls"].size());
  for (std::size_t i = 0; i < own["calls"].size(); ++i) {
    EXPECT_NEAR(own["calls"][i]["seconds_each"].get<double>(),
                plain["calls"][i]["seconds_each"].get<double>() * after / before, 1e-12);
  }
}

TEST(CalibrateRuns, AreUsedByEveryCommandThatTakesARun) {
  const Json own = Json::parse(R"({"setup": [{"accelerator": "h100-sxm", "framework": "megatron",
      "bits": 16, "runs": 3, "factor": 1.2, "interval": 0.5}]})");
  Json run = {{"model", "llama-3.1-8b"},
              {"cluster", "dgx-h100"},
              {"gpus", 32},
              {"seq", 4096},
              {"global-batch", 32},
              {"tp", 4}};
  const auto asked = [&](const char* command, Json request, bool with) {
    if (with) request["calibration"] = own;
    const CommandOutput output = answer(command, request.dump());
    EXPECT_TRUE(output.problems.empty()) << command << problems_text(output.problems);
    return output.problems.empty() ? Json::parse(output.text) : Json();
  };
  const auto grows = [&](const char* command, const Json& request, const char* pointer) {
    const Json::json_pointer at(pointer);
    const double without = asked(command, request, false).at(at).get<double>();
    EXPECT_NEAR(asked(command, request, true).at(at).get<double>() / without, 1.2, 1e-9)
        << command << pointer;
  };
  grows("predict", run, "/step_time_s");
  grows("comms", run, "/step_time_s");
  Json whole = run;
  whole["sweep"] = "run";
  whole["tokens"] = "1T";
  grows("scale", whole, "/step_time_s");
  Json weak = run;
  weak["sweep"] = "weak";
  weak["at"] = {32};
  grows("scale", weak, "/series/0/points/0/step_time_s");

  // The search finds the same layouts, each as long as its forecast says.
  Json searched = run;
  searched.erase("tp");
  const Json plain = asked("plan", searched, false), with = asked("plan", searched, true);
  ASSERT_EQ(plain["best"].size(), with["best"].size());
  for (std::size_t i = 0; i < with["best"].size(); ++i) {
    EXPECT_EQ(plain["best"][i]["layout"], with["best"][i]["layout"]);
    EXPECT_NEAR(with["best"][i]["step_time_s"].get<double>() /
                    plain["best"][i]["step_time_s"].get<double>(),
                1.2, 1e-9);
  }
  ASSERT_EQ(plain["pareto"].size(), with["pareto"].size());
  for (std::size_t i = 0; i < with["pareto"].size(); ++i) {
    EXPECT_NEAR(with["pareto"][i]["step_time_s"].get<double>() /
                    plain["pareto"][i]["step_time_s"].get<double>(),
                1.2, 1e-9);
  }
  searched["exhaustive"] = true;
  EXPECT_EQ(asked("plan", searched, true)["best"][0]["layout"], with["best"][0]["layout"]);
}

TEST(CalibrateRuns, OfAnotherSetupAreRefused) {
  const TemporaryFolder folder;
  const std::string mine = folder.of("mine.toml");
  ASSERT_TRUE(calibrated(folder, 1.25, mine).problems.empty());
  for (const char* more : {"precision = 'fp8'\n", "framework = 'fsdp'\n"}) {
    PredictRequest request;
    request.run_file = folder.write("other.toml", run_of(std::string("seq = 4096\n") + more));
    request.fields = {{"calibration", mine}};
    const Problems problems = run_predict(request).problems;
    ASSERT_EQ(problems.size(), 1U) << more;
    EXPECT_EQ(where_text(problems[0]), "--calibration");
    EXPECT_NE(problems[0].message.find("holds no runs of"), std::string::npos);
  }
}

// A run file names it beside itself, and what is saved of a run does, too.
TEST(CalibrateRuns, AreNamedInRunFilesAndSavedWithThem) {
  const TemporaryFolder folder;
  ASSERT_TRUE(calibrated(folder, 1.25, folder.of("mine.toml")).problems.empty());
  const std::string fields = run_of("seq = 4096\n");
  const std::string file = folder.write("with.toml", fields + "calibration = 'mine.toml'\n");
  const double with = step_time(file);
  EXPECT_GT(with, step_time(folder.write("without.toml", fields)));
  PredictRequest request;
  request.run_file = file;
  request.save = folder.of("saved.toml");
  ASSERT_TRUE(run_predict(request).problems.empty());
  EXPECT_EQ(step_time(folder.of("saved.toml")), with);
}

TEST(CalibrateRuns, WriteNothingWhereNothingCanBeFitted) {
  const TemporaryFolder folder;
  CalibrateRequest request;
  request.runs = {folder.write("run.toml", run_of("seq = 4096\n"))};  // without a time
  request.output = folder.of("mine.toml");
  const CommandOutput output = run_calibrate(request);
  EXPECT_FALSE(output.problems.empty());
  EXPECT_TRUE(output.text.empty());
  EXPECT_FALSE(read_file(request.output).ok());
}

TEST(CalibrateRuns, RefusesOptionsOfOtherCalibrationsAllAtOnce) {
  CalibrateRequest request;
  request.runs = {"absent.csv"};
  request.what = "steps";
  request.cluster = "dgx-h100";
  request.gpus_per_node = 8;
  request.write = true;
  request.output = "mine.txt";
  EXPECT_EQ(run_calibrate(request).problems.size(), 6U);  // and the file that is not there
}

TEST(CalibrateRuns, AreNoPathInADocument) {
  const Problems problems =
      answer("predict", R"({"model": "llama-3.1-8b", "cluster": "dgx-h100", "gpus": 8, "seq": 4096,
                            "global-batch": 8, "calibration": "/etc/passwd"})")
          .problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(where_text(problems[0]), "calibration");
  EXPECT_NE(problems[0].message.find("object"), std::string::npos);
}

TEST(CalibrateRuns, AreSaidInTheDocumentWithWhatEachRunLeft) {
  const TemporaryFolder folder;
  ASSERT_TRUE(calibrated(folder, 1.25, {}).problems.empty());
  CalibrateRequest request;
  request.runs = {folder.of("2048.toml"), folder.write("none.toml", run_of("seq = 64\n"))};
  request.json = true;
  const CommandOutput output = run_calibrate(request);
  ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
  EXPECT_EQ(output.warnings.size(), 1U);
  const Json said = Json::parse(output.text);
  EXPECT_EQ(said["setup"][0]["runs"], 1);
  EXPECT_NEAR(said["fits"][0]["runs"][0]["residual"].get<double>(), std::log(1.25), 1e-5);
  EXPECT_EQ(said["unused"].size(), 1U);
}

// A table with one more column, of a name that no field of a run has.
TEST(CalibrateRuns, AndValidateTellColumnsThatNothingReads) {
  const TemporaryFolder folder;
  const std::string plain = corpus_table({complete_row()});
  std::string row = plain.substr(plain.find('\n') + 1);
  row.pop_back();
  const std::string table = corpus_header() + ",fussed,overlap_gradients\n" + row + ",1,off\n";
  CalibrateRequest calibrate;
  calibrate.runs = {folder.write("mine.csv", table)};
  ValidateRequest validate;
  validate.corpora = calibrate.runs;
  for (const CommandOutput& output : {run_calibrate(calibrate), run_validate(validate)}) {
    ASSERT_TRUE(output.problems.empty()) << problems_text(output.problems);
    ASSERT_EQ(output.warnings.size(), 1U);
    EXPECT_NE(warnings_text(output.warnings).find("mine.csv: nothing reads these columns: fussed"),
              std::string::npos)
        << warnings_text(output.warnings);
  }
}

}  // namespace
}  // namespace headway
