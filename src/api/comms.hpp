// comms: the three questions about the calls of a step. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/commands.hpp"
#include "trace/files.hpp"

namespace headway {

/// The fields of a run as given by a run file (empty: none) and by flags, which override them.
struct GivenRun {
  std::string run_file;
  RunRequest fields;
};

/// All fields of the run, those of the file overridden by the flags.
Result<RunRequest> fields_of(const GivenRun& given);

CommandOutput comms_expected(const GivenRun& given, const CommsRequest& request);
CommandOutput comms_measured(const std::vector<std::string>& traces, const CommsRequest& request);
CommandOutput comms_compared(const GivenRun& given, const std::vector<std::string>& traces,
                             const CommsRequest& request);

/// What was lost on the way from traces to a recording, for stderr.
Problems warnings_of(const RunRecording& run);

}  // namespace headway
