// Scripts that a command hands to another shell, and files that it makes of others. Internal to the
// shell reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/shell/shell.hpp"

namespace headway::shell {

/// What a command hands to another shell: a text ("bash -c TEXT", "eval WORDS", "sbatch --wrap
/// TEXT"), a file ("sbatch job.sh", "./job.sh"), or its input.
struct Handed {
  std::optional<std::string> text;
  std::string file;
  bool input = false;
  ShellCommand before;  // the words that start the shell: "srun --nodes 4"
};
Handed handed_script(const ShellCommand& command);

/// The file that a pipeline of sed makes of another, without its name; nothing where it is no such
/// pipeline, or does more than to replace words.
std::optional<ShellFile> edited_file(const std::vector<ShellCommand>& pipeline);

}  // namespace headway::shell
