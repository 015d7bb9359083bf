#include "model/reading/load.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/count.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

std::string all_messages(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

TEST(BuiltInModels, AllLoadAndNameTheirSource) {
  const std::vector<std::string> names = model_names();
  EXPECT_GE(names.size(), 45u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const Result<Model> model = load_model(name);
    ASSERT_TRUE(model.ok()) << all_messages(model.problems());
    EXPECT_EQ(model->name, name);
    EXPECT_NE(model->source, "data/models/" + name + ".json") << "no _source";
    EXPECT_NE(model->source, "data/models/" + name + ".toml") << "no source";
    EXPECT_GT(parameters(*model).total, 0);
    EXPECT_LE(model->kinds.size(), model->is_network() ? 8u : 4u) << name;
  }
}

TEST(BuiltInModels, IncludeTheNamesOtherProgramsCall) {
  const std::vector<std::string> names = model_names();
  for (const char* name : {"llama-2-7b", "llama-3.1-405b", "gpt3-175b", "megatron-1t",
                           "mt-nlg-530b", "mixtral-8x7b", "deepseek-v3", "gpt-neox-1.3b"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

TEST(BuiltInModels, CarryTheDropoutOfTheirRecipe) {
  for (const char* name : {"gpt2", "gpt3-175b", "megatron-22b", "mt-nlg-530b", "opt-13b"}) {
    EXPECT_DOUBLE_EQ(load_model(name)->dropout, 0.1) << name;
  }
  for (const char* name : {"llama-2-7b", "deepseek-v3", "palm-540b", "pythia-6.9b"}) {
    EXPECT_DOUBLE_EQ(load_model(name)->dropout, 0) << name;
  }
}

TEST(LoadModel, SaysTheBuiltInNameOfAPublishedOne) {
  for (const char* said : {"meta-llama/Llama-2-7b-hf", "llama2-7b-chat"}) {
    const Result<Model> model = load_model(said);
    ASSERT_FALSE(model.ok()) << said;
    EXPECT_TRUE(model.problems().front().message.starts_with("unknown model '" + std::string(said) +
                                                             "'; did you mean 'llama-2-7b'?"));
  }
}

TEST(LoadModel, SaysThatAFileIsMissingWhateverItsName) {
  const Result<Model> model = load_model("runs/llama-3-8b/config.json");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.problems().front().message.find("cannot be opened"), std::string::npos);
}

TEST(LoadModel, SaysTheNearestNameOfAnUnknownOne) {
  const Result<Model> model = load_model("lama-2-7b");
  ASSERT_FALSE(model.ok());
  ASSERT_EQ(model.problems().size(), 1u);
  EXPECT_EQ(model.problems()[0].message, "unknown model 'lama-2-7b'; did you mean 'llama-2-7b'?");
  EXPECT_NE(load_model("qqqqqqqqqqqq").problems()[0].message.find("headway list models"),
            std::string::npos);
  EXPECT_FALSE(load_model("").ok());
}

class ScratchFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("headway-load-" +
               std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST_F(ScratchFolder, LoadModelReadsAFileOrTheFolderOfAConfig) {
  const auto text = embedded_file("models/mistral-7b.json");
  ASSERT_TRUE(text);
  const std::string path = write("config.json", *text);
  EXPECT_EQ(parameters(*load_model(path)).total, 7'241'732'096);
  const Result<Model> model = load_model(folder_.string());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->name, folder_.filename().string());
  const std::string own = write("my.toml", "layers = 1\nhidden = 8\nheads = 2\nvocabulary = 0\n");
  EXPECT_EQ(load_model(own)->name, "my");
}

TEST_F(ScratchFolder, LoadModelNamesAFileThatIsMissingOrTruncated) {
  const std::string missing = (folder_ / "none.json").string();
  EXPECT_NE(where_text(load_model(missing).problems()[0]).find("none.json"), std::string::npos);
  const std::string cut = write("cut.json", "{\n \"architectures\": [\"Llama");
  const Result<Model> model = load_model(cut);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(where_text(model.problems()[0]).find("cut.json:2"), std::string::npos);
}

// Whatever bytes a config holds, reading it gives a model that can be counted, or problems.
void read_hostile(const std::string& text, bool json) {
  const Result<Document> document =
      json ? parse_json(text, "hostile.json") : parse_toml(text, "hostile.toml");
  if (!document) {
    RC_ASSERT(!document.problems().empty());
    return;
  }
  const Result<Model> model =
      json ? model_from_config(*document, "hostile") : model_from_toml(*document, "hostile");
  if (!model) {
    RC_ASSERT(!model.problems().empty());
    return;
  }
  const Parameters count = parameters(*model);
  RC_ASSERT(count.total >= 0);
  RC_ASSERT(count.active >= 0);
  RC_ASSERT(count.active <= count.total);
  RC_ASSERT(forward_flops(*model, 4096, AttentionFlops::full).value() >= 0);
}

std::string any_built_in(bool& json) {
  const std::vector<std::string> files = embedded_files("models");
  const std::string file = *rc::gen::elementOf(files);
  json = file.ends_with(".json");
  return std::string(*embedded_file(file));
}

RC_GTEST_PROP(HostileConfig, TruncatedIsAModelOrProblems, ()) {
  bool json = false;
  std::string text = any_built_in(json);
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size() + 1));
  read_hostile(text, json);
}

RC_GTEST_PROP(HostileConfig, WithFlippedBytesIsAModelOrProblems, ()) {
  bool json = false;
  std::string text = any_built_in(json);
  const int flips = *rc::gen::inRange(1, 6);
  for (int i = 0; i < flips; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
  }
  read_hostile(text, json);
}

// Numbers are replaced where they stand, so that most mutants still parse.
RC_GTEST_PROP(HostileConfig, WithExtremeNumbersIsAModelOrProblems, ()) {
  bool json = false;
  std::string text = any_built_in(json);
  static const std::vector<std::string> extremes = {"0",
                                                    "-1",
                                                    "1",
                                                    "1e308",
                                                    "99999",
                                                    "10000000",
                                                    "1000000000",
                                                    "999999999999999",
                                                    "9223372036854775807",
                                                    "null",
                                                    "true",
                                                    "[]",
                                                    "{}",
                                                    "0.5",
                                                    "\"x\"",
                                                    "-0.0"};
  const int changes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < changes; ++i) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] >= '0' && text[at] <= '9' && text[at - 1] == ' ') starts.push_back(at);
    }
    if (starts.empty()) break;
    const std::size_t start = *rc::gen::elementOf(starts);
    const std::size_t end = text.find_first_of(",\n}]", start);
    text.replace(start, end - start, *rc::gen::elementOf(extremes));
  }
  read_hostile(text, json);
}

}  // namespace
}  // namespace headway
