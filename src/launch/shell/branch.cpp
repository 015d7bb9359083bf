#include "launch/shell/branch.hpp"

#include <utility>

#include "base/whole_number.hpp"

namespace headway::shell {
namespace {

using Tri = std::optional<bool>;

Tri negated(Tri value) {
  return value ? Tri(!*value) : value;
}
Tri both(Tri a, Tri b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Tri(true) : std::nullopt;
}
Tri either(Tri a, Tri b) {
  return negated(both(negated(a), negated(b)));
}

// What stands as it is written is the running shell's.
bool is_known(std::string_view text) {
  return text.find_first_of("$`") == std::string_view::npos;
}

// "${NAME}" of a name that the script does not set: unset, where it is run as it stands, unless the
// queue or the login sets it.
bool is_unset(std::string_view text) {
  if (!text.starts_with("${") || !text.ends_with('}')) return false;
  const std::string_view name = text.substr(2, text.find_first_of("+}", 2) - 2);
  for (const std::string_view set : {"SLURM_", "PBS_", "LSB_", "HOME", "PWD", "USER", "HOSTNAME",
                                     "PATH", "RANK", "WORLD_SIZE", "LOCAL_RANK"}) {
    if (name.starts_with(set)) return false;
  }
  return name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
         std::string_view::npos;
}

Tri compared(std::string_view left, std::string_view how, std::string_view right, bool patterns) {
  if (!is_known(left) || !is_known(right)) return std::nullopt;
  const bool equal = how == "=" || how == "==";
  if (equal || how == "!=") {
    if (patterns && right.find_first_of("*?[") != std::string_view::npos) return std::nullopt;
    return (left == right) == equal;
  }
  const auto a = whole_number(left), b = whole_number(right);
  if (!a || !b) return std::nullopt;
  if (how == "-eq") return *a == *b;
  if (how == "-ne") return *a != *b;
  if (how == "-gt") return *a > *b;
  if (how == "-ge") return *a >= *b;
  if (how == "-lt") return *a < *b;
  if (how == "-le") return *a <= *b;
  return std::nullopt;
}

}  // namespace

bool is_test(const ShellCommand& command) {
  if (command.empty()) return false;
  const std::string& name = command[0].text;
  return name == "[" || name == "[[" || name == "test" || name == "true" || name == "false";
}

std::optional<bool> test_of(const ShellCommand& command) {
  if (!is_test(command)) return std::nullopt;
  const std::string& name = command[0].text;
  if (name == "true" || name == "false") return name == "true";
  std::size_t end = command.size();
  if (name != "test") {
    if (command.back().text != (name == "[" ? "]" : "]]")) return std::nullopt;
    --end;
  }
  std::size_t begin = 1;
  bool negates = false;
  while (begin < end && command[begin].text == "!") {
    negates = !negates;
    ++begin;
  }
  const auto word = [&](std::size_t at) -> const std::string& { return command[begin + at].text; };
  Tri out;
  if (end - begin == 3) {
    out = compared(word(0), word(1), word(2), name == "[[");
  } else if (end - begin == 2 && (word(0) == "-z" || word(0) == "-n") &&
             (is_known(word(1)) || is_unset(word(1)))) {
    out = (word(1).empty() || is_unset(word(1))) == (word(0) == "-z");
  }
  return negates ? negated(out) : out;
}

bool Branches::active() const {
  if (open_.empty()) return true;
  const Branch& branch = open_.back();
  return branch.outer && (branch.condition ? !branch.taken : branch.runs);
}

void Branches::open(std::optional<bool> holds, int line) {
  const bool outer = active();
  open_.push_back({});
  Branch& branch = open_.back();
  branch.outer = outer;
  branch.line = line;
  branch.condition = false;
  branch.runs = holds.value_or(true);
  if (outer && !holds && unknown_line_ == 0) unknown_line_ = line;
}

void Branches::close() {
  if (!open_.empty()) open_.pop_back();
}

bool Branches::keyword(std::string_view word, int line) {
  if (word == "for") {
    open(std::nullopt, line);
    return true;
  }
  if (word == "if" || word == "while" || word == "until") {
    const bool outer = active();
    open_.push_back({});
    open_.back().outer = outer;
    open_.back().line = line;
    open_.back().until = word == "until";
    join_ = '\0';
    return true;
  }
  if (word == "do" && !in_condition()) return true;  // of a for
  if (word == "do") word = "then";
  if (word == "done") word = "fi";
  if (word == "!" && in_condition()) return negates_ = true;
  if (word != "then" && word != "elif" && word != "else" && word != "fi") return false;
  if (open_.empty()) return true;
  Branch& branch = open_.back();
  if (word == "then") {
    branch.condition = false;
    if (branch.until) branch.holds = negated(branch.holds);
    branch.runs = !branch.taken && branch.holds.value_or(true);
    if (branch.outer && !branch.taken && !branch.holds && unknown_line_ == 0) {
      unknown_line_ = branch.line;
    }
    branch.taken = branch.taken || branch.holds.value_or(false);
  } else if (word == "elif") {
    branch.condition = true;
    branch.holds = std::nullopt;
    branch.line = line;
    join_ = '\0';
  } else if (word == "else") {
    branch.condition = false;
    branch.runs = !branch.taken;
  } else {
    open_.pop_back();
  }
  return true;
}

void Branches::command(const ShellCommand& command) {
  if (!in_condition()) return;
  Tri result = test_of(command);
  if (std::exchange(negates_, false)) result = negated(result);
  Branch& branch = open_.back();
  branch.holds = join_ == '&'   ? both(branch.holds, result)
                 : join_ == '|' ? either(branch.holds, result)
                                : result;
  join_ = '\0';
}

}  // namespace headway::shell
