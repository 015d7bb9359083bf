#include "arguments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <variant>

namespace headway {
namespace {

Arguments read(std::span<const CommandRow> rows, std::vector<const char*> given) {
  given.insert(given.begin(), "headway");
  return read_arguments(rows, "1.2", static_cast<int>(given.size()), given.data());
}

// A text that an option takes.
std::string example_of(const Option& option) {
  if (std::holds_alternative<std::string*>(option.target) ||
      std::holds_alternative<std::optional<std::string>*>(option.target) ||
      std::holds_alternative<std::vector<std::string>*>(option.target)) {
    return "x";
  }
  if (std::holds_alternative<bool*>(option.target)) return {};
  if (std::holds_alternative<RunRequest*>(option.target)) return option.value.empty() ? "" : "x";
  return "1";
}

// Every flag of a command on one line.
void expect_every_flag(const CommandRow& row, std::span<const CommandRow> top,
                       std::vector<std::string> line) {
  const Command command = row.make();
  line.emplace_back(row.name);
  for (const CommandRow& below : command.commands) expect_every_flag(below, top, line);
  if (!command.commands.empty()) return;
  for (const Option& option : command.options) {
    if (!option.operand.empty() && option.required) line.emplace_back(option.names().front());
    if (!is_flag(option)) continue;
    line.push_back("--" + std::string(option.name));
    if (const std::string value = example_of(option); !value.empty()) line.push_back(value);
  }
  std::vector<const char*> given;
  for (const std::string& word : line) given.push_back(word.c_str());
  EXPECT_TRUE(read(top, given).command.has_value()) << command.name;
}

TEST(Arguments, EveryOptionOfEveryCommandIsTaken) {
  for (const CommandRow& row : command_rows()) expect_every_flag(row, {&row, 1}, {});
}

struct Wishes {
  bool loud = false;
  std::int64_t cups = 1;
  std::vector<std::string> guests;
  RunRequest fields;
};

// Of one command that nobody else has.
std::vector<CommandRow> tea(Wishes& wishes) {
  return {{"tea", [&wishes] {
             return Command{
                 .name = "tea",
                 .help = "makes tea",
                 .examples = {"headway tea"},
                 .options = {{.help = "who comes", .target = &wishes.guests, .operand = "GUEST"},
                             {.name = "loud", .help = "sing", .target = &wishes.loud},
                             {.name = "cups",
                              .help = "how many",
                              .target = &wishes.cups,
                              .range = Range{1, 12},
                              .checked = true,
                              .counted = "cups"},
                             {.name = "max-tp",
                              .value = "N",
                              .help = "at most",
                              .target = &wishes.fields,
                              .field = "tp"},
                             {.name = "described",
                              .help = "only in a document",
                              .target = &wishes.loud,
                              .door = Door::document}},
                 .run = [](const Circumstances&) -> CommandOutput { return {.text = "tea"}; },
                 .things = "leaves"};
           }}};
}

TEST(Arguments, FillTheTargetsOfTheRows) {
  Wishes wishes;
  const auto rows = tea(wishes);
  const Arguments found =
      read(rows, {"tea", "ann", "bob", "--loud", "--cups", "3", "--max-tp", "8", "--json"});
  ASSERT_TRUE(found.command.has_value());
  EXPECT_EQ(found.command->run(found.circumstances).text, "tea");
  EXPECT_TRUE(found.circumstances.json);
  EXPECT_EQ(found.things, "cups");
  EXPECT_TRUE(wishes.loud);
  EXPECT_EQ(wishes.cups, 3);
  EXPECT_EQ(wishes.guests, (std::vector<std::string>{"ann", "bob"}));
  ASSERT_EQ(wishes.fields.size(), 1U);
  EXPECT_EQ(wishes.fields[0].name, "tp");
  EXPECT_EQ(wishes.fields[0].text, "8");
  EXPECT_EQ(read(rows, {"tea"}).things, "leaves");
}

TEST(Arguments, RefuseWhatNoRowTakes) {
  Wishes wishes;
  const auto rows = tea(wishes);
  for (const std::vector<const char*>& given :
       {std::vector{"tea", "--milk"}, std::vector{"tea", "--cups", "13"},
        std::vector{"tea", "--described"}, std::vector{"coffee"}, std::vector<const char*>{}}) {
    const Arguments found = read(rows, given);
    EXPECT_FALSE(found.command.has_value());
    EXPECT_EQ(found.exit_code, 2);
  }
  EXPECT_EQ(read(rows, {"--version"}).exit_code, 0);
  EXPECT_EQ(read(rows, {"tea", "--help"}).exit_code, 0);
}

}  // namespace
}  // namespace headway
