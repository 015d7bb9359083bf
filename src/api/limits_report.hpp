// headway limits --report: the page DIR/limits.md with its tables, and the drawings beside it.
// Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/commands.hpp"
#include "base/result.hpp"
#include "platform/output.hpp"

namespace headway {

/// The page and its drawings, renewed; every number on the page that a command can find comes from
/// here. `progress` is told of tables.
Result<std::vector<OutputFile>> limits_report_files(const std::string& folder, int threads,
                                                    const Progress& progress);

/// `headway limits --report DIR`.
CommandOutput run_limits_report(const LimitsRequest& request);

}  // namespace headway
