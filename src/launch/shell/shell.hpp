// The part of the shell's language in which launch scripts are written: words, quotes, line
// continuations, comments, assignments of texts and lists, here-documents, ${NAME}, ${LIST[@]},
// ${NAME:-default}, $((sums)), and scripts in it that another shell is handed. Nothing is run.
// Internal to src/launch.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// A word of a command and the line it is written on. What only the shell that runs the script
/// knows stands as it is written: "${MASTER_ADDR}".
struct ShellWord {
  std::string text;
  int line = 0;
};

using ShellCommand = std::vector<ShellWord>;

/// A file that the script writes: a here-document, "cat <<EOF > ds_config.json", or another file
/// with words replaced, "sed s/BATCH/8/ template.json > ds_config.json".
struct ShellFile {
  std::string name;
  std::string text;  // with variables in place
  int line = 0;      // of its first line
  std::string from;  // the other file; empty: `text` is all
  std::vector<std::pair<std::string, std::string>> replaced;  // in it, one after the other
};

struct ShellScript {
  std::vector<ShellCommand> commands;           // in the order of the file, without assignments
  std::map<std::string, std::string> settings;  // variables as they stand at the end
  std::vector<ShellWord> batch;                 // words of #SBATCH lines
  std::vector<ShellFile> files;
  int branch_line = 0;  // of the first branch that nobody knows to run; 0: none
};

/// Bounds on hostile scripts: bytes of a script and of all that its variables expand to, nesting
/// of expansions in one another, and of scripts in scripts.
constexpr std::size_t kLargestScript = 1024 * 1024;
constexpr std::size_t kLargestExpansion = 1024 * 1024;
constexpr int kDeepestExpansion = 16;
constexpr int kDeepestScript = 4;

/// Reads a script as if every line ran once, from the first to the last, but those of branches
/// whose condition the script itself decides: [ "$DTYPE" = fp8 ] with DTYPE set before. Other
/// conditions and loops are not evaluated. What `bash -c`, `eval`, `sbatch --wrap` and a shell's
/// here-document hold, and a job file that the script writes and starts, are read where they stand,
/// behind the words that start them. `file` is shown in messages.
Result<ShellScript> read_shell(std::string_view text, const std::string& file);

/// The value of $((text)) where it is a sum of whole numbers; nothing else is.
bool shell_sum(std::string_view text, long long& value);

}  // namespace headway
