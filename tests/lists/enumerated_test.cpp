// The lists whose rows are values of an enumeration, or the members of a struct: a loop over the
// table is at every door what the table says.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "api/command.hpp"
#include "base/source_dir_for_test.hpp"
#include "cluster/load.hpp"
#include "command_line.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/entries.hpp"
#include "cost/collective/collective.hpp"
#include "forecast/parts.hpp"
#include "layout/layout.hpp"
#include "platform/files.hpp"
#include "report/charts/operations.hpp"
#include "report/fields.hpp"
#include "study/plan/space/fields.hpp"
#include "trace/recording/operation.hpp"

namespace headway {

// Constants of the test's own, as those of kernels, networks and steps are told.
struct Mine {
  double strength = 0.5;
  Seconds delay{1e-6};
};
struct MineRow {
  AllowedRange range;
};
template <class Constants, class Visitor>
requires std::same_as<std::remove_const_t<Constants>, Mine>
void for_each_constant(Constants& mine, Visitor&& visit) {
  visit("strength", mine.strength, MineRow{kFraction});
  visit("delay", mine.delay, MineRow{kPositive});
}

namespace {

using Json = nlohmann::json;

std::string page(const char* file) {
  return read_file(source_dir() + "/web/src/views/comms/" + file).value();
}

TEST(EveryCollective, IsReadFromTracesPricedAndDrawnInAColourOfItsOwn) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  const auto calibrated = calibration_for(cluster).value();
  Layout layout;
  layout.dp = 8;
  const GroupSpan span = spans(layout, cluster).dp;
  const std::string volume = page("volume.ts");
  std::set<std::string_view> colours;
  for (const CollectiveRow& row : kCollectives) {
    const std::string name(row.name);
    const auto operation = operation_from(name);
    ASSERT_TRUE(operation) << name;
    EXPECT_EQ(row_of(*operation).collective, row.op) << name;
    EXPECT_EQ(colour_of(*operation), colour_of(row.op)) << name;
    EXPECT_TRUE(colours.insert(colour_of(row.op)).second) << name;
    const Seconds small = collective_time(row.op, Bytes(1e6), span, cluster, calibrated.levels);
    const Seconds large = collective_time(row.op, Bytes(1e9), span, cluster, calibrated.levels);
    EXPECT_GT(small, Seconds(0)) << name;
    EXPECT_GT(large, small) << name;
    EXPECT_NE(volume.find("\"" + name + "\""), std::string::npos) << name;
  }
}

// Runs that between them have calls of every group.
std::vector<std::string> grouped(int which) {
  std::vector<std::string> words = {"predict", "--model", "grok-1",         "--cluster", "dgx-h100",
                                    "--seq",   "8192",    "--global-batch", "256"};
  static const std::vector<std::vector<std::string>> more = {
      {"--gpus", "256", "--tp", "4", "--cp", "2", "--pp", "4", "--ep", "4", "--zero", "1",
       "--shard", "8"},
      {"--gpus", "64", "--tp", "8", "--pp", "8", "--zero", "0"},
      {"--gpus", "64", "--tp", "8", "--pp", "8", "--schedule", "dual-pipe"},
      {"--gpus", "64", "--model", "llama-2-7b", "--seq", "4096", "--framework", "deepspeed",
       "--zero", "3", "--secondary-shard", "8", "--quantized-gradients"},
      {"--gpus", "64", "--model", "llama-2-7b", "--seq", "4096", "--method", "diloco"}};
  const std::vector<std::string>& chosen = more[static_cast<std::size_t>(which)];
  words.insert(words.end(), chosen.begin(), chosen.end());
  return words;
}
Json answered(std::vector<std::string> words) {
  words.push_back("--json");
  return Json::parse(on_the_command_line(words).output.text);
}

TEST(EveryGroup, IsCalledUnderItsNameAndItsExposedTimeIsOfItsPart) {
  std::set<std::string> predicted, expected, names;
  for (const int which : {0, 1, 2, 3, 4}) {
    std::vector<std::string> words = grouped(which);
    const Json step = answered(words);
    for (const Json& call : step["calls"]) {
      const std::string name = call["group"];
      predicted.insert(name);
      const auto group = std::find_if(kGroups.begin(), kGroups.end(),
                                      [&](const GroupRow& row) { return row.name == name; });
      ASSERT_NE(group, kGroups.end()) << name;
      if (call["exposed_s"] == 0) continue;
      EXPECT_GT(step["parts_s"][std::string(row_of(group->part).name)], 0) << name;
    }
    words.front() = "comms";
    const Json traffic = answered(words);
    for (const Json& ranks : traffic["classes"]) {
      for (const Json& call : ranks["calls"]) expected.insert(call["group"]);
    }
  }
  for (const GroupRow& group : kGroups) names.insert(std::string(group.name));
  EXPECT_EQ(predicted, names);
  EXPECT_EQ(expected, names);
}

TEST(EveryPart, StandsInDocumentsAndWhereItTakesTimeInTheTable) {
  const Json step = answered(grouped(0));
  const std::string text = on_the_command_line(grouped(0)).output.text;
  double sum = 0;
  for (const PartRow& row : kParts) {
    const std::string name(row.name);
    ASSERT_TRUE(step["parts_s"].contains(name)) << name;
    const double seconds = step["parts_s"][name];
    sum += seconds;
    EXPECT_EQ(text.find("\n  " + name + " ") != std::string::npos, seconds > 0) << name;
  }
  EXPECT_NEAR(sum, step["step_time_s"].get<double>(), 1e-9 * sum);
}

TEST(EverySearchedField, IsARowOfTheLayoutThatCanBeSetKeptAndWhereItCountsLimited) {
  const Command plan = command_row(command_rows(), "plan")->make();
  const std::string page_of_fields = fields_markdown();
  for (const PlanField& field : plan_fields()) {
    const std::string name(field.name);
    ASSERT_NE(field.row, nullptr) << name;
    EXPECT_EQ(field.row, field_row(field.row->field.name)) << name;
    EXPECT_TRUE(can_be_set(*field.row) && !field.row->member.empty()) << name;
    const Layout layout;
    EXPECT_EQ(value_of(field, value_text(field, layout)), field.value(layout)) << name;
    const bool limited =
        std::any_of(plan.options.begin(), plan.options.end(),
                    [&](const Option& option) { return option.name == "max-" + name; });
    EXPECT_EQ(limited, field.counts()) << name;
    const std::size_t row = page_of_fields.find("| `" + std::string(field.row->field.name) + "` |");
    const std::size_t end = page_of_fields.find('\n', row);
    EXPECT_LT(page_of_fields.find("| yes |", row), end) << name;
  }
  EXPECT_EQ(plan_field("gpus"), nullptr);  // it follows from others
}

TEST(EveryConstant, IsReadBorrowedAndRefusedByItsRow) {
  const auto read = [](const char* text) {
    return entry_of<Mine>(parse_toml(text, "mine.toml").value(), "mine");
  };
  const auto own = read("[mine]\nstrength = 0.25\ndelay = \"3 us\"\n");
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->strength, 0.25);
  EXPECT_NEAR(own->delay.value(), 3e-6, 1e-18);
  const auto borrowed =
      read("[mine]\nfrom = \"yours\"\ndelay = \"3 us\"\n[yours]\nstrength = 0.75\n");
  ASSERT_TRUE(borrowed.ok());
  EXPECT_EQ(borrowed->strength, 0.75);
  const auto wrong = read("[mine]\nstrength = 2\ndelay = \"3 GB\"\nstrenght = 1\n");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.problems().size(), 3U);
}

}  // namespace
}  // namespace headway
