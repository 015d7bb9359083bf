// Programs and files that stand beside this one, and words for a shell.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace headway {

/// The file at the first of `places`, seen from the program's folder, that has it. Where it is
/// installed stands before the build tree: an installation below the sources sees that, too.
std::optional<std::string> find_beside(std::initializer_list<const char*> places,
                                       const std::string& file);

/// Whether a shell would find it.
bool can_be_run(const std::string& program);

struct Said {
  bool started = false;
  bool failed = false;  // where it ended with another code than 0
  std::string text;     // on its standard output and error
};
/// What a command of a shell says that is given no input.
Said said_by(const std::string& command);

/// As one word of a shell.
std::string shell_quoted(const std::string& word);
/// As one line.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace headway
