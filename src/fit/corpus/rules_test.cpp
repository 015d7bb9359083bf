#include "fit/corpus/rules.hpp"

#include <gtest/gtest.h>

#include "fit/corpus/run.hpp"
#include "fit/corpus/table_for_test.hpp"
#include "model/reading/load.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

Problems problems_of(const std::string& rules, const std::string& sources) {
  const std::string text =
      rules + "\n[sources]\n" + sources +
      "\n[numbers]\nranks = \"ranks \"\n[software]\nsource = \"x\"\n[tuned]\nsource = \"x\"\n"
      "[decisive]\nsource = \"x\"\n"
      "[pieces]\nsource = \"x\"\nlisted_after = \"a\"\nlisted_until = \"b\"\n";
  const auto read = read_corpus_rules(parse_toml(text, "rules.toml").value());
  return read ? meaningless_rules(*read) : read.problems();
}

TEST(CorpusRules, OfTheRepositoryAreReadAndMeanSomething) {
  const auto text = embedded_file("corpus/training.toml");
  ASSERT_TRUE(text.has_value());
  const auto rules = read_corpus_rules(parse_toml(*text, "training.toml").value());
  ASSERT_TRUE(rules.ok()) << where_text(rules.problems().front());
  for (const Problem& problem : meaningless_rules(*rules)) {
    ADD_FAILURE() << where_text(problem) << " " << problem.message;
  }
}

TEST(CorpusRules, NameModelsClustersAndFrameworksThatThereAre) {
  Shelf shelf;
  for (const Rule& rule : corpus_rules().columns.at("model")) {
    if (!rule.unsupported.empty()) continue;
    EXPECT_TRUE(shelf.model(rule.is).ok()) << rule.is;
  }
  for (const Rule& rule : corpus_rules().columns.at("cluster")) {
    EXPECT_TRUE(shelf.machine(rule.is, 0, 0).ok()) << rule.is;
  }
  for (const Rule& rule : corpus_rules().columns.at("family")) {
    EXPECT_TRUE(framework_from(rule.is).has_value()) << rule.is;
  }
  for (const Rule& rule : corpus_rules().columns.at("precision")) {
    EXPECT_NE(recipe_from(rule.is), nullptr) << rule.is;
  }
}

TEST(CorpusRules, NeedASourceAKnownFactAndAValue) {
  EXPECT_TRUE(problems_of("fused = [{ is = \"0\" }]", "fused = \"x\"").empty());
  EXPECT_EQ(problems_of("fused = [{ is = \"0\" }]", "").size(), 1U);
  EXPECT_EQ(problems_of("fused = [{ is = \"maybe\" }]", "fused = \"x\"").size(), 1U);
  EXPECT_EQ(problems_of("fused = [{ assumed = true }]", "fused = \"x\"").size(), 1U);
  EXPECT_EQ(problems_of("mood = [{ is = \"0\" }]", "mood = \"x\"").size(), 1U);
  const auto when = [](const std::string& condition) {
    return problems_of("fused = [{ when = { " + condition + " }, is = \"0\" }]", "fused = \"x\"");
  };
  EXPECT_TRUE(when("ranks = { above = 1 }, \"lower notes\" = { has = [\"x\"] }").empty());
  EXPECT_EQ(when("weather = { is = [\"fair\"] }").size(), 1U);
  EXPECT_EQ(when("notes = { above = 1 }").size(), 1U);
  EXPECT_EQ(when("software = { since = \"soon\" }").size(), 1U);
}

// Of a rule everything must hold, and of the rules of a column the first counts.
TEST(CorpusRules, TheFirstOfAColumnThatHoldsCounts) {
  CorpusRow row;
  row.framework = "llm-foundry/Composer (PyTorch FSDP)";
  row.date = "2022-12";
  EXPECT_EQ(decide("param_dtype", {row})->value, "fp32");
  row.notes = "mixed_precision=PURE";
  EXPECT_EQ(decide("param_dtype", {row})->value, "bf16");
  row.framework = "nanotron";
  EXPECT_FALSE(decide("param_dtype", {row}).has_value());
}

TEST(CorpusRules, NumbersOfTheNotesAreComparedWithTheRow) {
  CorpusRow row;
  row.n_accel = 8;
  row.notes = "AR=1 AG=300 intra AR=430";
  EXPECT_TRUE(decide("checked_collectives", {row}).has_value());  // 430 < 435 GB/s inside
  row.notes = "AR=1 AG=300 intra AR=440";
  EXPECT_FALSE(decide("checked_collectives", {row}).has_value());
  row.n_accel = 64;
  EXPECT_FALSE(decide("checked_collectives", {row}).has_value());  // 300 x 64 GB/s
  row.notes = "AR=1 AG=70 intra AR=440";
  EXPECT_TRUE(decide("checked_collectives", {row}).has_value());  // 70 x 64 < 5000
  row.notes = "AG=70 intra AR=440";  // no space before it: another number
  EXPECT_FALSE(decide("checked_collectives", {row}).has_value());
}

}  // namespace
}  // namespace headway
