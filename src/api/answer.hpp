// Commands asked by a JSON document instead of flags: what HTTP and other programs use.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/commands.hpp"
#include "report/problems.hpp"

namespace headway {

/// The commands that answer() knows.
constexpr std::array<std::string_view, 7> kAnsweredCommands = {
    "predict", "plan", "comms", "scale", "limits", "validate", "list"};

/// What the asker does not choose.
struct AnswerOptions {
  std::string data = {};                 // folder with measurements/; empty: the binary's
  std::vector<std::string> traces = {};  // files for comms
  int threads = 0;                       // 0: all cores
  Progress progress = {};                // told of the parts that progress_unit() names
};

/// Answers the JSON object `body` as `headway COMMAND --json` does, to the byte. Its members are
/// the command's flags without dashes, and docs/serve.md lists what else each command takes.
/// Problems are where a member stands ("tp", "cluster.levels"). No path that the body holds is read
/// or written.
CommandOutput answer(std::string_view command, std::string_view body,
                     const AnswerOptions& options = {});

/// Whether the command may take seconds, so that few of them should run at a time; comms does with
/// traces.
bool is_long(std::string_view command);

/// What the progress of a command counts, "layouts".
std::string_view progress_unit(std::string_view command);

}  // namespace headway
