// Every field of the table, by every way in which a run is given.
#include "layout/fields.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/source_dir_for_test.hpp"
#include "layout/any_field_for_test.hpp"
#include "platform/files.hpp"
#include "run/network_fields.hpp"
#include "run/run.hpp"

namespace headway {
namespace {

using Kind = FieldForm::Kind;

RunRequest base() {
  return {
      {"model", "mixtral-8x7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"global-batch", "64"}};
}

// What of a request is read, whether legal together or not.
RequestedRun read(const RunRequest& request) {
  auto run = make_unsplit_run(request);
  EXPECT_TRUE(run.ok()) << (run ? "" : where_text(run.problems()[0]) + run.problems()[0].message);
  return run ? std::move(run).value() : RequestedRun();
}

RequestedRun read_file_text(const std::string& text) {
  const auto document = parse_toml(text, "run.toml");
  EXPECT_TRUE(document.ok()) << text;
  return document ? read(*run_request_from(document->root, "run.toml")) : RequestedRun();
}

const FieldRow& row_of(std::string_view name) {
  return *field_row(name);
}

// The default of a field that nothing was given for is what a run has by itself, or, where the
// framework or hardware decides, no wish.
RC_GTEST_PROP(Fields, GivenAsAFlagAreReadAsWhatWasGiven, ()) {
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row)) continue;
    const double number = testing::any_number(row.field.form);
    RunRequest request = base();
    request.emplace_back(std::string(row.field.name), text_of(row.field.form, number));
    const RequestedRun run = read(request);
    RC_ASSERT(std::abs(*number_of(run, row) - number) < 1e-9);
  }
}

RC_GTEST_PROP(Fields, GivenTogetherComeBackFromTheRunFileThatIsWritten, ()) {
  RunRequest request = base();
  for (const FieldRow& row : field_rows()) {
    const bool given = can_be_set(row) && *rc::gen::arbitrary<bool>();
    if (!given) continue;
    const bool degree = row.member == "tp" || row.member == "cp" || row.member == "pp";
    const double number = degree ? 2 : testing::any_number(row.field.form);
    request.emplace_back(std::string(row.field.name), text_of(row.field.form, number));
  }
  const RequestedRun run = read(request);
  const RequestedRun again = read_file_text(run_file_text(run));
  for (const FieldRow& row : field_rows()) {
    RC_ASSERT(number_of(run, row) == number_of(again, row));
  }
  RC_ASSERT(run.layout == again.layout);
}

// A value in a document, read as the value of a run file, is the same number.
RC_GTEST_PROP(Fields, GivenAsAValueOfADocumentAreReadAsWhatWasGiven, ()) {
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row) || row.field.form.kind == Kind::names) continue;  // lists are of requests
    const double number = testing::any_number(row.field.form);
    Node table{Node::Table{}, 1};
    auto& members = std::get<Node::Table>(table.value);
    for (const GivenField& field : base()) members.emplace_back(field.name, Node{field.text, 1});
    const Node value = value_of(row.field.form, number);
    if (value.is_null()) continue;
    std::erase_if(members, [&](const auto& member) { return member.first == row.field.name; });
    members.emplace_back(std::string(row.field.name), value);
    const RequestedRun run = read(*run_request_from(table, "f"));
    RC_ASSERT(std::abs(*number_of(run, row) - number) < 1e-9);
  }
}

TEST(Fields, AreThemselvesAfterSettingThemToWhatTheyWere) {
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row)) continue;
    const RequestedRun run = with(RequestedRun(), row, *number_of(RequestedRun(), row));
    EXPECT_EQ(run.layout, Layout()) << row.field.name;
    EXPECT_EQ(number_of(run, row), number_of(RequestedRun(), row)) << row.field.name;
  }
}

// Setting one changes no other, so that no two rows stand for the same member.
TEST(Fields, StandForMembersOfTheirOwn) {
  for (const FieldRow& row : field_rows()) {
    if (!can_be_set(row)) continue;
    const double before = *number_of(RequestedRun(), row);
    const double changed = row.field.form.kind == Kind::flag ? 1 - before : before == 1 ? 2 : 1;
    const RequestedRun run = with(RequestedRun(), row, changed);
    EXPECT_NE(*number_of(run, row), before) << row.field.name;
    for (const FieldRow& other : field_rows()) {
      if (other.field.name == row.field.name || other.field.name == "gpus") continue;
      EXPECT_EQ(number_of(run, other), number_of(RequestedRun(), other))
          << row.field.name << " " << other.field.name;
    }
  }
}

TEST(Fields, HaveNamesAndMembersOfTheirOwn) {
  std::set<std::string_view> names, members;
  for (const FieldRow& row : field_rows()) {
    EXPECT_TRUE(names.insert(row.field.name).second) << row.field.name;
    const bool of_layout = std::holds_alternative<FieldAccess<Layout>>(row.access);
    EXPECT_EQ(of_layout, !row.member.empty()) << row.field.name;
    const bool own = !of_layout || members.insert(row.member).second;
    EXPECT_TRUE(own) << row.member;
  }
}

// What help calls the default is what a run is of that nothing else is said of.
TEST(Fields, HaveTheDefaultThatHelpNames) {
  const RequestedRun run = read(base());
  int named = 0;
  for (const RunField& field : run_fields()) {
    const std::size_t at = field.help.find(" (default)");
    if (at == std::string::npos) continue;
    const std::string before = field.help.substr(0, at);
    const std::string word = before.substr(before.find_last_of(' ') + 1);
    EXPECT_EQ(text_of(field.form, *number_of(run, row_of(field.name))), word) << field.name;
    ++named;
  }
  EXPECT_GE(named, 11);
}

TEST(Fields, SayInHelpEveryNameThatTheyTakeAndWhatStandsWhereNothingIsGiven) {
  for (const RunField& field : run_fields()) {
    const std::string said = field.help + " " + std::string(field.value);
    for (std::size_t i = 0; i < field.form.names.size() && field.form.lists; ++i) {
      if (static_cast<double>(i) == field.form.none) continue;
      EXPECT_NE(said.find(field.form.names[i]), std::string::npos) << said;
    }
    const bool must_be_given = field.name == "model" || field.name == "cluster" ||
                               field.name == "seq" || field.name == "global-batch";
    EXPECT_EQ(said.find("default") == std::string::npos, must_be_given || field.value.empty())
        << said;
  }
}

TEST(Fields, StandUnderOneOfTheHeadings) {
  std::set<std::string_view> seen;
  for (const RunField& field : run_fields()) seen.insert(field.group);
  EXPECT_EQ(seen, (std::set<std::string_view>(kFieldGroups.begin(), kFieldGroups.end())));
}

TEST(Fields, OfASwitchThatTurnsSomethingOffAreShownAsWhatStaysOn) {
  Layout layout;
  layout.tp = 2;
  EXPECT_EQ(std::get<bool>(shown_value(row_of("no-sp"), layout).value), true);
  layout.sequence_parallel = false;
  EXPECT_EQ(std::get<bool>(shown_value(row_of("no-sp"), layout).value), false);
  EXPECT_EQ(std::get<bool>(shown_value(row_of("no-reshard"), layout).value), true);
  EXPECT_EQ(std::get<bool>(shown_value(row_of("keep-gathered"), layout).value), false);
  EXPECT_TRUE(shown_value(row_of("shard"), layout).is_null());
}

// The type that the page gives a member of a layout.
std::string type_of(const FieldRow& row) {
  const std::string or_null = std::isnan(row.field.form.none) ? "" : " | null";
  switch (row.field.form.kind) {
    case Kind::flag:
      return "boolean";
    case Kind::names:
      return "readonly string[]";
    case Kind::name:
      return or_null.empty() ? "string" : "OnOff";
    default:
      return "number" + or_null;
  }
}

std::string page(const std::string& file) {
  return read_file(source_dir() + "/web/src/lib/" + file).value();
}

TEST(Fields, OfALayoutAreTheMembersOfThePagesType) {
  std::string expected;
  for (const FieldRow& row : field_rows()) {
    if (row.member.empty()) continue;
    const bool told = !is_of_networks(row.field.name);  // else where they are not as usual
    expected +=
        "  readonly " + std::string(row.member) + (told ? ": " : "?: ") + type_of(row) + ";\n";
    if (row.member == "micro_batch") expected += "  readonly micro_batches: number;\n";
  }
  EXPECT_NE(page("documents.ts").find("interface LayoutDocument {\n" + expected + "}\n"),
            std::string::npos)
      << expected;
}

}  // namespace
}  // namespace headway
