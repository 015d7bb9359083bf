#include "api/answer.hpp"

#include <algorithm>

#include "api/command.hpp"
#include "api/json_request.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// Room for any request by hand or by program; a whole model described in place takes kilobytes.
constexpr std::size_t kLargestRequest = std::size_t{1} << 20;

// The command that is asked: of those that stand for one, the one that a member names.
std::optional<Command> asked_command(const CommandRow& row, JsonRequest& json,
                                     const Problems& problems) {
  Command command = row.make();
  if (command.commands.empty()) return command;
  const std::vector<std::string> names =
      names_of(json.may_name_files() ? command.commands : answered(command.commands));
  const std::string which = json.name_of(command.selector, names);
  if (!which.empty()) return command_row(command.commands, which)->make();
  if (is_asked(command) && problems.empty()) return command;
  if (problems.empty()) json.fail(command.selector, "is missing; legal: " + join(names, ", "));
  return std::nullopt;
}

// What no reader of a run asks for.
void refuse_missing(const Command& command, JsonRequest& json) {
  for (const Option& option : command.options) {
    const auto* text = std::get_if<std::string*>(&option.target);
    if (!option.required || text == nullptr || !(*text)->empty()) continue;
    json.fail(option.name, "is missing; legal: " + join(option.names(), ", "));
  }
}

// Where the request is wrong already, the command only says what else is: it is stopped before it
// works.
Circumstances circumstances_of(const AnswerOptions& options, const Problems& problems) {
  Circumstances out;
  out.json = !options.as_text;
  out.bounded = !options.own;
  out.threads = options.threads;
  out.data = options.data;
  out.traces = options.traces;
  out.refused = !problems.empty();
  out.progress = options.progress;
  out.begun = options.begun;
  if (out.refused) out.progress = [](std::size_t, std::size_t) { return false; };
  return out;
}

CommandOutput ask(const CommandRow& row, JsonRequest& json, const Problems& problems,
                  const AnswerOptions& options) {
  const std::optional<Command> command = asked_command(row, json, problems);
  if (!command) return {};
  for (const Option* option : members_of(command->options, options.own)) read_member(*option, json);
  json.reject_unknown();
  if (problems.empty()) refuse_missing(*command, json);
  return command->run(circumstances_of(options, problems));
}

// What a request may describe in place, by which its problems are named.
std::vector<std::string> described_in(const Node& root) {
  std::vector<std::string> out;
  for (const auto& [name, node] : *root.table()) {
    if (node.table() != nullptr) out.push_back(name);
    const std::size_t count = node.array() != nullptr ? node.array()->size() : 0;
    for (std::size_t i = 0; i < count; ++i) out.push_back(name + "[" + std::to_string(i) + "]");
  }
  return out;
}

// What is known of a command before it is asked.
struct Work {
  std::string_view name, things;
  bool is_long;
};
const Work* work_of(std::string_view command) {
  static const std::vector<Work> all = [] {
    std::vector<Work> out;
    for (const CommandRow& row : answered_commands()) {
      const Command made = row.make();
      out.push_back({row.name, made.things, made.is_long});
    }
    return out;
  }();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Work& work) { return work.name == command; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<std::string>& answered_names() {
  static const std::vector<std::string> names = names_of(answered_commands());
  return names;
}

CommandOutput answer(std::string_view command, std::string_view body,
                     const AnswerOptions& options) {
  const CommandRow* asked = command_row(
      options.own ? command_rows() : std::span<const CommandRow>(answered_commands()), command);
  if (asked == nullptr) {
    const auto names = options.own ? names_of(command_rows()) : answered_names();
    return {.problems = {{"command", not_known(command, names), Trouble::unknown}}};
  }
  if (body.size() > kLargestRequest) return {.problems = {{"request", "is larger than 1 MiB"}}};
  const auto document = parse_json(body, "request");
  if (!document) return {.problems = document.problems()};
  Problems problems;
  JsonRequest json(document->root, problems, options.own ? Files::named : Files::refused);
  CommandOutput output = ask(*asked, json, problems, options);
  const auto described = described_in(document->root);
  output.problems = by_member(std::move(output.problems), described);
  if (problems.empty()) return output;
  // What the command says besides: not that it was stopped, nor that a refused member is missing.
  for (Problem& problem : output.problems) {
    const bool said = std::any_of(problems.begin(), problems.end(), [&](const Problem& other) {
      return other.where() == problem.where();
    });
    if (!said && problem.where() != Where(std::string(command)))
      problems.push_back(std::move(problem));
  }
  return {.problems = std::move(problems)};
}

bool is_long(std::string_view command) {
  const Work* work = work_of(command);
  return work != nullptr && work->is_long;
}

std::string_view progress_unit(std::string_view command) {
  const Work* work = work_of(command);
  return work != nullptr ? work->things : "";
}

}  // namespace headway
