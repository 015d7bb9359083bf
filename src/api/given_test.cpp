// What a text says of a run: `list` of fields, asked over HTTP.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "base/source_dir_for_test.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

using GivenTree = nlohmann::json;

CommandOutput given_of(const std::string& text) {
  return answer("list", GivenTree({{"what", "fields"}, {"of", text}}).dump());
}

GivenTree given_in(const std::string& file) {
  const CommandOutput out = given_of(*read_file(source_dir() + "/examples/" + file));
  EXPECT_TRUE(out.problems.empty()) << file << problems_text(out.problems);
  return out.problems.empty() ? GivenTree::parse(out.text)["given"] : GivenTree::object();
}

TEST(Given, ALaunchScriptSaysTheFieldsOfItsRun) {
  const GivenTree given = given_in("llama-3-8b-megatron.sh");
  EXPECT_EQ(given["framework"], "megatron");
  EXPECT_TRUE(given.contains("model"));
  EXPECT_TRUE(given.contains("seq"));
}

TEST(Given, AConfigurationOfTorchtitanIsOneToo) {
  EXPECT_EQ(given_in("llama-3-70b-torchtitan.toml")["framework"], "fsdp");
}

TEST(Given, ARunFileSaysWhatItSays) {
  const GivenTree given = given_in("llama-3-70b-h100.toml");
  EXPECT_EQ(given["cluster"], "dgx-h100");
  EXPECT_TRUE(given["model"].is_string());
}

TEST(Given, WhatDescribesAModelOrAClusterIsAnObject) {
  EXPECT_TRUE(given_in("own-model.toml")["model"].is_object());
  EXPECT_TRUE(given_in("slow-network.toml")["cluster"].is_object());
  const CommandOutput out = given_of(R"({"model_type": "llama", "hidden_size": 4096})");
  EXPECT_EQ(GivenTree::parse(out.text)["given"]["model"]["hidden_size"], 4096);
}

TEST(Given, WhatIsNoneOfThemIsRefusedWithWhatWasExpected) {
  for (const std::string text : {"hello, world",
                                 "\x7f"
                                 "ELF\x02\x01\x01",
                                 "{\"model\": ", ""}) {
    const CommandOutput out = given_of(text);
    ASSERT_FALSE(out.problems.empty()) << text;
    EXPECT_TRUE(out.text.empty());
  }
  EXPECT_NE(problems_text(given_of("hello, world").problems).find("no run file"),
            std::string::npos);
}

TEST(Given, OfMeansNothingForOtherLists) {
  const CommandOutput out = answer("list", R"({"what": "models", "of": "gpus = 8"})");
  ASSERT_EQ(out.problems.size(), 1U);
  EXPECT_NE(out.problems[0].message.find("fields alone"), std::string::npos);
}

}  // namespace
}  // namespace headway
