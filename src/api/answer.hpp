// Commands asked by a JSON document instead of flags: what HTTP and other programs use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "report/problems.hpp"

namespace headway {

/// The commands that answer() knows.
const std::vector<std::string>& answered_names();

/// What the asker does not choose.
struct AnswerOptions {
  std::string data = {};                 // folder with measurements/; empty: the binary's
  std::vector<std::string> traces = {};  // files for comms
  int threads = 0;                       // 0: all cores
  Progress progress = {};                // told of the parts that progress_unit() names
  Begun begun = {};                      // told of a first document of plan, before the whole one
  /// Asked by who runs this program, as on the command line: every command and flag, files by their
  /// names, no bound on the work. Operands are the member `files`.
  bool own = false;
  bool as_text = false;  // as for a terminal instead
};

/// Answers the JSON object `body`, a request of one of answered_names(), as `headway COMMAND
/// --json` does, to the byte. Its members are the command's flags without dashes, and docs/serve.md
/// lists what else each command takes. Problems are where a member stands ("tp", "cluster.levels").
/// No path that the body holds is read or written, but of one's own.
CommandOutput answer(std::string_view command, std::string_view body,
                     const AnswerOptions& options = {});

/// Whether the command may take seconds, so that few of them should run at a time; comms does with
/// traces.
bool is_long(std::string_view command);

/// {"request": S, "response": S}, JSON Schema 2020-12, of one of answered_names(), else nothing.
/// The request's is made from the table of commands; the response's is data/schema/COMMAND.json.
std::optional<std::string> schema_json(std::string_view command);
/// {"commands": {"predict": {...}, ...}}: those of all commands. `own`: of requests of who runs
/// this program (AnswerOptions::own); what stands on a command line without its name has "operand"
/// there.
std::string schemas_json(bool own = false);

/// What the progress of a command counts, "layouts".
std::string_view progress_unit(std::string_view command);

}  // namespace headway
