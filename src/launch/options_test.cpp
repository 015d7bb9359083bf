#include "launch/options.hpp"

#include <gtest/gtest.h>

#include <map>

namespace headway::launch {
namespace {

TEST(LaunchOptions, EveryTableIsReadAndSaysOfEachOptionOneThing) {
  for (const LauncherRow& row : kLaunchers) {
    const OptionTable& table = option_table(*launcher_named(row.name));
    EXPECT_FALSE(table.read.empty() || table.alone.empty() || table.habits.empty() ||
                 table.refused.empty());
    std::map<std::string, int> times;
    for (const std::string& name : table.read) ++times[name];
    for (const std::string& name : table.alone) ++times[name];
    for (const auto* list : {&table.habits, &table.refused}) {
      for (const OptionTable::Known& known : *list) {
        ++times[known.name];
        EXPECT_FALSE(known.does.empty()) << known.name;
      }
    }
    for (const auto& [name, count] : times) EXPECT_EQ(count, 1) << name;
  }
}

struct Judged {
  std::vector<std::string> notes;
  Problems problems;
};

Judged judged(const std::string& name, const std::string& value = {}) {
  OptionTable table;
  table.read = {"--read"};
  table.alone = {"--log-", "--moe-quiet"};
  table.habits = {{"--moe-bucket", "sets buckets", {"1"}}};
  table.refused = {{"--log-loud", "is loud", {}},
                   {"--moe-", "gives experts", {"0", "none"}},
                   {"--log-loud-", "is louder", {}}};
  Judged out;
  const std::vector<GivenOption> options = {{name, value, "f:1: " + name}};
  judge_options(table, options, out.notes, out.problems);
  return out;
}

TEST(LaunchOptions, AWholeNameCountsBeforeItsFamily) {
  for (const char* quiet : {"--read", "--log-level", "--moe-quiet"}) {
    EXPECT_TRUE(judged(quiet).notes.empty() && judged(quiet).problems.empty()) << quiet;
  }
  EXPECT_EQ(judged("--log-loud").problems.at(0).message,
            "is loud, which Headway cannot price; legal: without it");
  EXPECT_EQ(judged("--moe-new", "2").problems.at(0).message,
            "gives experts, which Headway cannot price; legal: 0, none");
  EXPECT_TRUE(judged("--moe-new", "None").problems.empty());
  EXPECT_EQ(judged("--log-loud-bell").problems.size(), 1u);  // the narrower of two families
  EXPECT_EQ(judged("--moe-bucket", "2").notes.at(0),
            "--moe-bucket sets buckets; priced by the framework's habit");
  EXPECT_TRUE(judged("--moe-bucket", "1").notes.empty());
}

TEST(LaunchOptions, OfAnUnknownOptionItsNameDecides) {
  EXPECT_EQ(judged("--my-word").notes.at(0), "left out, unknown to Headway: --my-word");
  for (const char* name : {"--my-parallel-size", "table.recompute", "--use_fp8"}) {
    const Judged out = judged(name);
    ASSERT_EQ(out.problems.size(), 1u) << name;
    EXPECT_EQ(where_text(out.problems[0]), std::string("f:1: ") + name);
  }
  EXPECT_NE(judged("--a b").problems.at(0).message.find("one word of the shell"),
            std::string::npos);
}

}  // namespace
}  // namespace headway::launch
