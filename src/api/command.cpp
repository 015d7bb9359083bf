#include "api/command.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "run/words.hpp"

namespace headway {
namespace {

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The flags of a command and of those that it may be instead.
void add_flags(const Command& command, std::set<std::string>& flags) {
  for (const Option& option : command.options) {
    if (is_flag(option)) flags.insert("--" + std::string(option.name));
  }
  for (const CommandRow& row : command.commands) add_flags(row.make(), flags);
}

}  // namespace

const CommandRow* command_row(std::span<const CommandRow> rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const CommandRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(std::span<const CommandRow> rows) {
  std::vector<std::string> out;
  for (const CommandRow& row : rows) out.emplace_back(row.name);
  return out;
}

std::vector<CommandRow> answered(std::span<const CommandRow> rows) {
  std::vector<CommandRow> out;
  for (const CommandRow& row : rows) {
    if (row.make().door != Door::command_line) out.push_back(row);
  }
  return out;
}

const std::vector<CommandRow>& answered_commands() {
  static const std::vector<CommandRow> rows = answered(command_rows());
  return rows;
}

std::vector<Option> common_options(Circumstances& at) {
  return {{.name = "json", .help = "print one JSON document and nothing else", .target = &at.json},
          {.name = "quiet", .help = "no progress", .target = &at.quiet},
          {.name = "threads",
           .help = "threads to use; default: all cores",
           .target = &at.threads,
           .range = Range{0, 1024},
           .checked = true}};
}

std::vector<const Option*> members_of(const std::vector<Option>& options, bool own) {
  std::vector<const Option*> out;
  for (const Option& option : options) {
    const bool taken = std::any_of(options.begin(), options.end(), [&](const Option& other) {
      return other.door == Door::document && other.name == option.name;
    });
    if (option.door != Door::command_line || (own && !taken)) out.push_back(&option);
  }
  return out;
}

std::string help_of(const Option& option) {
  std::string out(option.help);
  if (option.names == nullptr || !option.built_in.empty()) return out;
  std::string_view separator = out.empty() ? "" : ": ";
  for (const std::string& name : option.names()) {
    out.append(separator).append(name);
    const auto* text = std::get_if<std::string*>(&option.target);
    if (text != nullptr && **text == name) out += " (default)";
    separator = ", ";
  }
  return out;
}

namespace {

// The names of the flags of one command, without their dashes.
std::vector<std::string> flag_names(const Command& command) {
  std::set<std::string> flags;
  add_flags(command, flags);
  std::vector<std::string> out = {"help"};
  for (const std::string& flag : flags) out.push_back(flag.substr(2));
  Circumstances circumstances;
  if (command.answers) {
    for (const Option& option : common_options(circumstances)) out.emplace_back(option.name);
  }
  return out;
}

}  // namespace

std::string argument_problem(const std::string& what, std::span<const std::string> arguments,
                             std::span<const CommandRow> rows) {
  // A command that is none, or one that its command does not have.
  std::span<const CommandRow> known = rows;
  std::vector<CommandRow> below;
  std::string of;
  bool itself = false;  // what follows may be no command
  std::vector<std::string> flags = {"help", "version"};
  for (const std::string& argument : arguments) {
    if (known.empty() || argument.starts_with('-')) break;
    const CommandRow* row = command_row(known, argument);
    if (row == nullptr && itself) break;
    if (row == nullptr) {
      return "'" + printable(argument) + "' is not a command" + of +
             suggestion(argument, names_of(known));
    }
    of = " of " + argument;
    const Command command = row->make();
    flags = flag_names(command);
    itself = is_asked(command);
    below = command.commands;
    known = below;
  }
  std::string out = printable(what, 400);
  for (std::string_view argument : arguments) {
    const bool is_number = argument.find_first_not_of("-0123456789.") == std::string_view::npos;
    if (!argument.starts_with('-') || is_number) continue;
    argument = argument.substr(0, argument.find('='));
    if (argument.starts_with("--") && holds(flags, argument.substr(2))) continue;
    const std::string said = hint(argument, flags, "--");
    if (what.empty()) {
      out +=
          (out.empty() ? "'" : "\nheadway: '") + printable(argument) + "' is not known" + of + said;
    } else if (!said.empty()) {
      out += "; '" + printable(argument) + "': " + said.substr(2);
    }
  }
  return out;
}
namespace {

// A line for each command: what stands before it on the line, and what may stand next, between
// `open` and `close`.
struct CaseForm {
  std::string open, close;
};
void add_lines(std::span<const CommandRow> rows, const std::string& before, const CaseForm& form,
               std::string& out) {
  for (const CommandRow& row : rows) {
    const Command command = row.make();
    const std::string begin = before + std::string(row.name) + " ";
    add_lines(command.commands, begin, form, out);
    std::set<std::string> words = {"--help"};
    add_flags(command, words);
    if (command.answers) words.insert({"--json", "--quiet", "--threads"});
    if (command.divides) words.insert("--shard");
    if (!is_asked(command)) words.clear();
    for (const CommandRow& below : command.commands) words.emplace(below.name);
    for (const Option& option : command.options) {  // what stands there without a name
      if (option.operand.empty() || option.names == nullptr) continue;
      for (const std::string& name : option.names()) words.insert(name);
    }
    out += "    '" + begin + "'*) " + form.open +
           join(std::vector<std::string>(words.begin(), words.end()), " ") + form.close + " ;;\n";
  }
}

std::vector<std::string> shells() {
  return {"bash", "zsh"};
}

std::string bash_completion(std::span<const CommandRow> rows) {
  std::string lines;
  add_lines(rows, "", {"words='", "'"}, lines);
  return "# Completion of headway in bash: source <(headway completion bash)\n"
         "_headway() {\n"
         "  local words\n"
         "  case \"${COMP_WORDS[*]:1:COMP_CWORD-1} \" in\n" +
         lines + "    *) words='" + join(names_of(rows), " ") +
         "' ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _headway headway\n";
}

// $words is zsh's own: what stands on the line.
std::string zsh_completion(std::span<const CommandRow> rows) {
  std::string lines;
  add_lines(rows, "", {"known=(", ")"}, lines);
  return "#compdef headway\n"
         "# Completion of headway in zsh: source <(headway completion zsh), or as a file _headway\n"
         "# in a folder of $fpath\n"
         "_headway() {\n"
         "  local line=\"${(j: :)words[2,CURRENT-1]} \"\n"
         "  local -a known\n"
         "  case $line in\n" +
         lines + "    *) known=(" + join(names_of(rows), " ") +
         ") ;;\n"
         "  esac\n"
         "  compadd -- $known\n"
         "  _files\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _headway ]; then _headway \"$@\"; else compdef _headway "
         "headway; fi\n";
}

}  // namespace

Command completion(std::vector<CommandRow> rows) {
  auto shell = std::make_shared<std::string>();
  Command out{.name = "completion",
              .help = "a script that completes commands and flags in a shell",
              .examples = {"headway completion bash"},
              .door = Door::command_line,
              .answers = false};
  out.options = {{.name = "shell",
                  .help = "of which shell",
                  .target = shell.get(),
                  .names = shells,
                  .required = true,
                  .operand = "SHELL"}};
  out.run = [shell, rows = std::move(rows)](const Circumstances&) -> CommandOutput {
    if (*shell == "bash") return {.text = bash_completion(rows)};
    if (*shell == "zsh") return {.text = zsh_completion(rows)};
    return {.problems = {{"completion", not_known(*shell, shells()), Trouble::unknown}}};
  };
  return out;
}

}  // namespace headway
