// Branches of a shell script: which lines run, where the script itself says it. Internal to the
// shell reader.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "launch/shell/shell.hpp"

namespace headway::shell {

/// What a test is, [ A = B ] and the like; nothing where only the running shell knows.
std::optional<bool> test_of(const ShellCommand& command);
bool is_test(const ShellCommand& command);

/// Follows if, elif, else and fi, loops from do to done, and arms of a case. A branch of which
/// nobody knows whether it runs is read, and so are those beside it; a loop is read once.
class Branches {
 public:
  /// Whether the lines here run, or may.
  bool active() const;
  bool in_condition() const { return !open_.empty() && open_.back().condition; }

  /// Whether the word is of a branch.
  bool keyword(std::string_view word, int line);
  /// Opens a branch that runs where `holds`, or may; close() ends it.
  void open(std::optional<bool> holds, int line);
  void close();
  /// A command of a condition has ended; the next one is joined by && or ||.
  void command(const ShellCommand& command);
  void join(char by) { join_ = by; }

  /// The first condition that only the running shell knows; 0: none.
  int unknown_line() const { return unknown_line_; }

 private:
  struct Branch {
    bool outer = true;                         // whether the lines around it run
    bool condition = true;                     // between if and then
    bool runs = true;                          // this branch, or it may
    bool taken = false;                        // one before it, for certain
    bool until = false;                        // its condition ends it
    std::optional<bool> holds = std::nullopt;  // its condition
    int line = 0;
  };

  std::vector<Branch> open_;
  char join_ = '\0';
  bool negates_ = false;
  int unknown_line_ = 0;
};

}  // namespace headway::shell
