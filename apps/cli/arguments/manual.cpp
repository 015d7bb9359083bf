#include "manual.hpp"

namespace headway {
namespace {

// Text as it stands: no request, no hyphen that may be broken at.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n') {
      out += ' ';
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

void add_option(std::string& out, const Option& option) {
  if (!is_flag(option)) return;
  const std::string letter = option.letter ? std::string{'-', option.letter, ',', ' '} : "";
  out += ".TP\n" + bold(letter + "--" + std::string(option.name));
  if (!option.value.empty()) out += " " + italic(option.value);
  out += "\n" + plain(help_of(option)) + "\n";
}

void add_command(std::string& out, const CommandRow& row, const std::string& before) {
  const Command command = row.make();
  const std::string name = before + std::string(command.name);
  if (!command.commands.empty()) {
    for (const CommandRow& below : command.commands) add_command(out, below, name + " ");
    if (!is_asked(command)) return;
  }
  out += ".SS " + plain(name);
  for (const Option& option : command.options) {
    if (option.operand.empty()) continue;
    out += option.required ? " " + std::string(option.operand)
                           : " [" + std::string(option.operand) + "]";
  }
  out += "\n" + plain(command.help) + "\n";
  for (const Option& option : command.options) {
    if (option.operand.empty()) continue;
    out += ".TP\n" + italic(option.operand) + "\n" + plain(help_of(option)) + "\n";
  }
  for (const Option& option : command.options) add_option(out, option);
  if (command.divides) {
    out += ".TP\n" + bold(kShardFlag) + "\n" + plain(kShardHelp) + "\n";
  }
  for (const std::string& example : command.examples) {
    out += ".PP\n.EX\n";
    std::size_t begin = 0;
    while (begin < example.size()) {
      const std::size_t end = std::min(example.find('\n', begin), example.size());
      out += plain(example.substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    out += ".EE\n";
  }
}

}  // namespace

std::string manual(std::span<const CommandRow> rows, const std::string& version) {
  std::string out = ".TH HEADWAY 1 \"\" \"headway " + plain(version) +
                    "\" \"User Commands\"\n"
                    ".SH NAME\n"
                    "headway \\- performance model of large\\-scale training\n"
                    ".SH SYNOPSIS\n" +
                    bold("headway") + " " + italic("COMMAND") + " [" + italic("OPTION") +
                    "...]\n"
                    ".SH DESCRIPTION\n"
                    "How long a step of training takes, where the time goes, whether it fits in "
                    "memory, which layout is best, what each communication costs, and what a whole "
                    "run costs; computed, not measured.\n.PP\n"
                    "A file named " +
                    bold("-") +
                    " is the standard input. Of a flag given twice the last counts. Counts may be "
                    "written as 2048, 2,048 or 2k (k: 1,024).\n"
                    ".SH COMMANDS\n";
  for (const CommandRow& row : rows) add_command(out, row, "");
  Circumstances circumstances;
  out += ".SS every command that answers\n";
  for (const Option& option : common_options(circumstances)) add_option(out, option);
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n0\ndone\n"
      ".TP\n1\nno feasible answer: it does not fit, no layout is legal\n"
      ".TP\n2\nbad input; what is wrong stands on the standard error\n"
      ".SH SEE ALSO\n"
      ".B headway help\n"
      ".I COMMAND\n";
  return out;
}

}  // namespace headway
