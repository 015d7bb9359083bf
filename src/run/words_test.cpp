#include "run/words.hpp"

#include <gtest/gtest.h>

#include <set>

#include "platform/files.hpp"
#include "run/run.hpp"

namespace headway {
namespace {

std::vector<std::string> run_names() {
  std::vector<std::string> out;
  for (const RunField& field : run_fields()) out.emplace_back(field.name);
  return out;
}

// What is wrong with a field of a run that is right in all others; nothing, where nothing is.
std::string problem_of_value(const std::string& field, const std::string& text) {
  RunRequest request = {{"model", "llama-2-7b"},
                        {"cluster", "dgx-h100"},
                        {"gpus", "8"},
                        {"seq", "4096"},
                        {"global-batch", "64"}};
  request.push_back({field, text});
  const auto run = make_run(request);
  return run ? std::string() : run.problems().front().message;
}

// data/words.toml: each word once, of a field that there is, with its source; none is one of ours.
// Those of serving have a test beside its fields.
TEST(WordsOfOtherPrograms, MeanFieldsAndAreNoneOfOurs) {
  const auto document = embedded_document("words.toml");
  ASSERT_TRUE(document.ok());
  Problems problems;
  Fields fields(*document, problems);
  const std::vector<std::string> names = run_names();
  std::set<std::string> known(names.begin(), names.end()), seen;
  for (Fields& word : fields.tables("word")) {
    const bool here = word.text_or("of", "").empty();
    const std::string means = word.text("means");
    EXPECT_TRUE(!here || known.contains(means)) << means;
    EXPECT_FALSE(word.text("source").empty());
    word.text_or("more", "");
    for (const std::string& said : word.texts_or_empty("said")) {
      EXPECT_TRUE(seen.insert(said).second) << said;
      EXPECT_FALSE(known.contains(said)) << said;
    }
    word.reject_unknown();
  }
  EXPECT_TRUE(problems.empty()) << where_text(problems.front()) << problems.front().message;
  EXPECT_GT(seen.size(), 80U);
}

// What stands for a value is of a field that there is, means a name that may be given for it, and
// is none of these.
TEST(WordsOfOtherPrograms, MeanNamesThatMayBeGivenForTheirField) {
  const auto document = embedded_document("words.toml");
  ASSERT_TRUE(document.ok());
  Problems problems;
  Fields fields(*document, problems);
  std::set<std::string> seen;
  for (Fields& word : fields.tables("value")) {
    const std::string of = word.text("of"), means = word.text("means");
    EXPECT_FALSE(word.text("source").empty());
    const std::string wrong = problem_of_value(of, "qqqqqq");
    EXPECT_NE(wrong.find("'qqqqqq' is not known; legal: "), std::string::npos) << of;
    for (const std::string& said : word.texts_or_empty("said")) {
      EXPECT_TRUE(seen.insert(of + " " + said).second) << of << " " << said;
      EXPECT_NE(problem_of_value(of, said).find("; here it is '" + means + "'; legal: "),
                std::string::npos)
          << of << " " << said << ": " << problem_of_value(of, said);
    }
    EXPECT_EQ(problem_of_value(of, means), "") << of;
    word.reject_unknown();
  }
  EXPECT_TRUE(problems.empty()) << where_text(problems.front()) << problems.front().message;
  EXPECT_GT(seen.size(), 20U);
}

TEST(WordsOfOtherPrograms, AreToldWithTheWordHere) {
  const std::vector<std::string> names = run_names();
  EXPECT_EQ(hint("--seq-length", names, "--"), "; here it is '--seq'");
  EXPECT_EQ(hint("tensor_model_parallel_size", names), "; here it is 'tp'");
  EXPECT_EQ(hint("--mbs", names, "--"), "; here it is '--micro-batch'");
  EXPECT_EQ(hint("--nodes", names, "--"), "; here it is '--gpus' (of all nodes together)");
  EXPECT_EQ(hint("--Global_Batch", names, "--"), "; did you mean '--global-batch'?");
  EXPECT_EQ(hint("--micro-bach", names, "--"), "; did you mean '--micro-batch'?");
  EXPECT_EQ(hint("--qqqqqq", names, "--"), "");
}

// A word whose field the command does not have is no hint.
TEST(WordsOfOtherPrograms, AreToldOnlyWhereTheFieldIsKnown) {
  const std::vector<std::string> few = {"corpus", "by"};
  EXPECT_EQ(hint("--seq-length", few, "--"), "");
}

}  // namespace
}  // namespace headway
