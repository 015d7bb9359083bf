#include "api/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "api/answer.hpp"
#include "api/json_request.hpp"
#include "base/document/document.hpp"

namespace headway {
namespace {

// Every command that is none of others, with what stands before its name.
void leaves(std::span<const CommandRow> rows, const std::string& before,
            std::vector<std::pair<std::string, Command>>& out) {
  for (const CommandRow& row : rows) {
    Command command = row.make();
    const std::string name = before + std::string(row.name);
    EXPECT_EQ(command.name, row.name);
    leaves(command.commands, name + " ", out);
    if (is_asked(command)) out.emplace_back(name, std::move(command));
  }
}

std::vector<std::pair<std::string, Command>> all_leaves() {
  std::vector<std::pair<std::string, Command>> out;
  leaves(command_rows(), "", out);
  return out;
}

TEST(Command, EachHasHelpAnExampleOfItselfAndOptionsThatAreNamedOnceAtEachDoor) {
  EXPECT_GE(all_leaves().size(), 15U);
  for (const auto& [name, command] : all_leaves()) {
    EXPECT_FALSE(command.help.empty()) << name;
    ASSERT_FALSE(command.examples.empty()) << name;
    for (const std::string& example : command.examples) {
      EXPECT_TRUE(example.starts_with("headway " + name)) << example;
    }
    std::set<std::string_view> flags, members;
    Circumstances circumstances;
    std::vector<Option> options = common_options(circumstances);
    options.insert(options.end(), command.options.begin(), command.options.end());
    for (const Option& option : options) {
      EXPECT_FALSE(option.help.empty()) << name << " " << option.name;
      if (is_flag(option)) {
        EXPECT_TRUE(flags.insert(option.name).second) << option.name;
      }
    }
    for (const Option& option : command.options) {
      if (option.door == Door::command_line) continue;
      EXPECT_TRUE(members.insert(option.name).second) << name << " " << option.name;
    }
  }
}

// What only a command line may be told are files and folders of this machine, and switches of
// commands that are asked nowhere else.
TEST(Command, WhatADocumentCannotSayNamesAFileOrIsOfACommandOfTheCommandLineAlone) {
  const std::set<std::string_view> files = {
      "save",     "csv",      "csv-steps", "csv-kernels", "plot",        "report",   "rows",
      "corpus",   "data",     "trace",     "compare",     "calibration",
      "cluster",  // of a file of collectives
      "replay",   "profile",  "stages",    "svg",         "perfetto",    "chrome",   "chakra",
      "requests", "arrivals", "phases",    "points",      "laws",        "measured", "parts"};
  for (const auto& [name, command] : all_leaves()) {
    for (const Option& option : command.options) {
      if (option.door != Door::command_line || command.door == Door::command_line) continue;
      EXPECT_TRUE(files.contains(option.name) || !option.operand.empty())
          << name << " " << option.name;
    }
  }
}

// No document makes this machine read a file: what a command line may name one for a document
// describes in place, or it is a number, or one of the names that are built in.
TEST(Command, WhatMayNameAFileIsToldFromTextInADocument) {
  int looked_at = 0;
  const auto look = [&](const Command& command) {
    for (const Option& option : command.options) {
      if (option.door == Door::command_line) continue;
      if (option.value.find("FILE") == std::string_view::npos) continue;
      ++looked_at;
      const bool built_in = !option.built_in.empty();
      const bool described =
          std::holds_alternative<NameOrDescription*>(option.target) ||
          (option.takes != nullptr &&
           (option.takes->or_file || option.takes->kind != FieldForm::Kind::text));
      EXPECT_TRUE(built_in || described) << command.name << " " << option.name;
    }
  };
  for (const CommandRow& row : answered_commands()) {
    const Command asked = row.make();
    look(asked);
    for (const CommandRow& below : answered(asked.commands)) look(below.make());
  }
  EXPECT_GE(looked_at, 20);
}

TEST(Command, EveryOptionOfADocumentStandsInItsSchemaAndIsTakenFromIt) {
  for (const CommandRow& row : answered_commands()) {
    const auto schema = parse_json(*schema_json(row.name), "schema");
    ASSERT_TRUE(schema.ok());
    const Command asked = row.make();
    const Node* request = schema->root.find("request");
    const auto look = [](const Command& command, const Node& form) {
      const Node* properties = form.find("properties");
      ASSERT_NE(properties, nullptr);
      std::set<std::string_view> members;
      for (const Option& option : command.options) {
        if (option.door != Door::command_line) members.insert(option.name);
      }
      for (const Option& option : command.options) {
        EXPECT_EQ(properties->find(option.name) != nullptr, members.contains(option.name))
            << command.name << " " << option.name;
      }
    };
    if (asked.commands.empty()) {
      look(asked, *request);
      continue;
    }
    const Node::Array& forms = *request->find("oneOf")->array();
    const std::vector<CommandRow> below = answered(asked.commands);
    ASSERT_EQ(forms.size(), below.size() + (is_asked(asked) ? 1 : 0));
    if (is_asked(asked)) look(asked, forms.back());
    for (std::size_t i = 0; i < below.size(); ++i) look(below[i].make(), forms[i]);
  }
}

// A command of its own, with an option of each kind.
struct Wishes {
  bool loud = false;
  std::int64_t cups = 1;
  std::string leaf = "black";
  std::optional<double> sugar;
  std::vector<std::string> guests, fixed;
  RunRequest fields;
};

std::vector<Option> tea_options(Wishes& wishes) {
  return {{.name = "loud", .help = "sing", .target = &wishes.loud},
          {.name = "cups", .help = "how many", .target = &wishes.cups, .range = Range{1, 12}},
          {.name = "leaf",
           .help = "black or green",
           .target = &wishes.leaf,
           .names =
               [] {
                 return std::vector<std::string>{"black", "green"};
               }},
          {.name = "sugar", .help = "spoons", .target = &wishes.sugar},
          {.name = "guest", .help = "who comes", .target = &wishes.guests},
          {.name = "fix", .help = "a wish", .target = &wishes.fixed, .form = Form::pairs},
          {.name = "max-tp",
           .value = "N",
           .help = "at most",
           .target = &wishes.fields,
           .form = Form::number_or_text,
           .field = "tp"}};
}

Problems read(Wishes& wishes, const std::string& body) {
  const auto document = parse_json(body, "request");
  Problems problems;
  JsonRequest json(document->root, problems);
  for (const Option& option : tea_options(wishes)) read_member(option, json);
  json.reject_unknown();
  return problems;
}

TEST(Option, IsSetFromTheMemberOfItsNameByTheTypeOfItsTarget) {
  Wishes wishes;
  EXPECT_TRUE(read(wishes, R"({"loud": true, "cups": 3, "leaf": "green", "sugar": 1.5,
                               "guest": ["ann", "bob"], "fix": {"milk": true, "tp": 8},
                               "max-tp": 4})")
                  .empty());
  EXPECT_TRUE(wishes.loud);
  EXPECT_EQ(wishes.cups, 3);
  EXPECT_EQ(wishes.leaf, "green");
  EXPECT_EQ(wishes.sugar, 1.5);
  EXPECT_EQ(wishes.guests, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(wishes.fixed, (std::vector<std::string>{"milk=true", "tp=8"}));
  ASSERT_EQ(wishes.fields.size(), 1U);
  EXPECT_EQ(wishes.fields[0].name, "tp");
  EXPECT_EQ(wishes.fields[0].text, "4");
}

TEST(Option, LeavesItsTargetAsItIsWhereNothingOrSomethingWrongIsGiven) {
  Wishes wishes;
  EXPECT_TRUE(read(wishes, "{}").empty());
  const Problems problems =
      read(wishes, R"({"loud": "yes", "cups": 13, "leaf": "blue", "sugar": "two", "guest": 7,
                       "fix": [], "max-tp": true, "milk": 1})");
  EXPECT_EQ(problems.size(), 8U);  // one for each member
  EXPECT_FALSE(wishes.loud);
  EXPECT_EQ(wishes.cups, 1);
  EXPECT_EQ(wishes.leaf, "black");
  EXPECT_FALSE(wishes.sugar);
  EXPECT_TRUE(wishes.guests.empty() && wishes.fixed.empty() && wishes.fields.empty());
}

std::string problem_of(const std::vector<std::string>& arguments) {
  return argument_problem("what the parser said", arguments, command_rows());
}

TEST(ArgumentProblem, NamesTheNearestCommandOrFlag) {
  EXPECT_EQ(problem_of({"predit"}), "'predit' is not a command; did you mean 'predict'?");
  EXPECT_TRUE(
      problem_of({"scale", "sideways"}).starts_with("'sideways' is not a command of scale"));
  EXPECT_EQ(problem_of({"plan", "--hedroom", "3"}),
            "what the parser said; '--hedroom': did you mean '--headroom'?");
  EXPECT_EQ(problem_of({"plan", "--top=x"}), "what the parser said");
}

// As they stand on the line, by what they are called here where other tools call them so.
TEST(ArgumentProblem, NamesEachUnknownFlagInItsPlace) {
  EXPECT_EQ(argument_problem("",
                             std::vector<std::string>{"infer", "--clients", "8", "--tp", "2",
                                                      "--tensor-parallel-size=2", "--hedroom"},
                             command_rows()),
            "'--clients' is not known of infer; here it is '--concurrency' (clients of each copy "
            "of attention)\n"
            "headway: '--tensor-parallel-size' is not known of infer; here it is '--tp'\n"
            "headway: '--hedroom' is not known of infer");
  EXPECT_EQ(argument_problem("", std::vector<std::string>{"list", "models", "too"}, command_rows()),
            "");
}

}  // namespace
}  // namespace headway
