// Run files where names are awkward: other folders, control characters, bytes that are no text.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "api/commands.hpp"
#include "base/source_dir_for_test.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

namespace fs = std::filesystem;

class RunFile : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(own_.path() / "models");
    fs::create_directories(own_.path() / "saved");
    before_ = fs::current_path();
    fs::current_path(own_.path());
  }
  void TearDown() override { fs::current_path(before_); }
  // A real config.json under a name of the test's choice.
  void model_at(const std::string& path) const {
    fs::create_directories(fs::absolute(path).parent_path());
    fs::copy_file(source_dir() + "/data/models/gpt2.json", path);
  }
  static PredictRequest request(const std::string& model) {
    PredictRequest out;
    out.fields = {{"model", model},
                  {"cluster", "dgx-h100"},
                  {"gpus", "8"},
                  {"seq", "1024"},
                  {"global-batch", "8"}};
    out.json = true;
    return out;
  }
  // Saves the run to `path` and predicts that file, seen from `from`.
  static void expect_saved(PredictRequest run, const std::string& path, const fs::path& from) {
    run.save = path;
    const CommandOutput first = run_predict(run);
    ASSERT_TRUE(first.problems.empty()) << problems_text(first.problems);
    PredictRequest again;
    again.run_file = fs::relative(path, from).string();
    again.json = true;
    fs::current_path(from);
    const CommandOutput second = run_predict(again);
    ASSERT_TRUE(second.problems.empty()) << problems_text(second.problems);
    EXPECT_EQ(second.text, first.text);
  }

  const testing::TemporaryFolder own_;
  const fs::path folder_ = own_.path();
  fs::path before_;
};

TEST_F(RunFile, SavedInAnotherFolderNamesTheSameModelFile) {
  model_at("models/mine.json");
  expect_saved(request("models/mine.json"), "saved/run.toml", folder_);
}

TEST_F(RunFile, SavedBesideTheModelIsReadFromAnyFolder) {
  model_at("models/mine.json");
  expect_saved(request("models/mine.json"), "models/run.toml", folder_ / "saved");
}

TEST_F(RunFile, NamesAFolderWithAConfigFromWhereTheRunFileLies) {
  model_at("models/gpt-two/config.json");
  expect_saved(request("./models/gpt-two"), "models/run.toml", folder_ / "saved");
}

TEST_F(RunFile, HoldsControlCharactersEscaped) {
  const std::string name = "models/a\x1b[31m\n\"b\\c\x7f.json";
  model_at(name);
  expect_saved(request(name), "saved/run.toml", folder_);
}

TEST_F(RunFile, IsNotWrittenWhereANameIsNoUtf8) {
  const std::string name = "models/a\xff.json";
  model_at(name);
  PredictRequest run = request(name);
  run.save = "saved/run.toml";
  const CommandOutput output = run_predict(run);
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_EQ(where_text(output.problems[0]), "--save");
  EXPECT_TRUE(fs::is_empty("saved"));
}

TEST_F(RunFile, AModelsNameThatIsNoUtf8StillGivesADocument) {
  const std::string name = "models/a\xff.json";
  model_at(name);
  const CommandOutput output = run_predict(request(name));
  EXPECT_NO_THROW({
    const auto document = nlohmann::json::parse(output.text);
    EXPECT_GT(document["step_time_s"].get<double>(), 0);
  });
}

TEST_F(RunFile, TheTableShowsNoControlCharacterOfAModelsName) {
  const std::string name = "models/a\x1b[31m\nb.json";
  model_at(name);
  PredictRequest run = request(name);
  run.json = false;
  const std::string text = run_predict(run).text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.substr(0, text.find(' ')), "a\\x1b[31m\\nb");
}

TEST_F(RunFile, AModelInItsPlaceIsAnsweredWithTheFlag) {
  PredictRequest run;
  run.run_file = "llama-2-7b";
  const CommandOutput output = run_predict(run);
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_NE(output.problems[0].message.find("--model llama-2-7b"), std::string::npos);
}

// A text that is none of the forms is not called bad JSON; one that is meant as JSON is.
TEST_F(RunFile, AFileOfAnotherKindIsNamedByWhatItLooksLike) {
  std::ofstream("train.sh") << "#!/bin/bash\npython train.py --lr 1\n";
  std::ofstream("notes.md") << "Dear reader\n";
  std::ofstream("run.json") << "Dear reader\n";
  std::ofstream("run.txt") << "Dear reader\n";
  const auto said = [](const std::string& file) {
    PredictRequest run;
    run.run_file = file;
    const CommandOutput output = run_predict(run);
    EXPECT_EQ(output.problems.size(), 1u) << problems_text(output.problems);
    return problems_text(output.problems);
  };
  EXPECT_NE(said("train.sh")
                .find("train.sh: is no run file (TOML or JSON) and no configuration "
                      "that is known (Megatron-LM script, "),
            std::string::npos)
      << said("train.sh");
  for (const char* file : {"notes.md", "run.txt"}) {
    EXPECT_NE(said(file).find("it looks like a text that begins with 'Dear reader'"),
              std::string::npos)
        << said(file);
  }
  EXPECT_NE(said("run.json").find("is not valid JSON"), std::string::npos) << said("run.json");
}

TEST_F(RunFile, UnknownNamesAreReportedWhereTheyStand) {
  std::ofstream("run.toml") << "seq = 1024\nglobal-batch = 8\nmodel = \"lama-2-7b\"\n"
                               "cluster = \"h100\"\ngpus = 8\n";
  PredictRequest run;
  run.run_file = "run.toml";
  const CommandOutput output = run_predict(run);
  ASSERT_EQ(output.problems.size(), 2u) << problems_text(output.problems);
  EXPECT_EQ(where_text(output.problems[0]), "run.toml:3: model");
  EXPECT_EQ(where_text(output.problems[1]), "run.toml:4: cluster");
  EXPECT_NE(output.problems[1].message.find("'dgx-h100'"), std::string::npos);
}

TEST_F(RunFile, AModelOfHuggingFaceIsAnsweredWithWhatToGive) {
  const CommandOutput output = run_predict(request("meta-llama/Llama-2-7b-hf"));
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_NE(output.problems[0].message.find("config.json"), std::string::npos);
}

}  // namespace
}  // namespace headway
