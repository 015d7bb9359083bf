// What the commands that read traces share. Internal to src/api/comms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "run/run.hpp"
#include "trace/files.hpp"

namespace headway {

/// What was lost on the way from traces to a recording, for stderr.
Problems warnings_of(const RunRecording& run);

/// The files that a request names to be written, each with what names it; some are empty: none.
using NamedOutputs = std::vector<std::pair<FieldName, std::string>>;
NamedOutputs outputs_of(const CommsRequest& request);

/// Outputs of which the later would take the place of the earlier.
Problems named_twice(const NamedOutputs& outputs);

/// Outputs that would take the place of what is read.
Problems over_inputs(const RunRecording& run, const NamedOutputs& outputs);

/// Leaves of a recording the steps "10..20", or "7"; empty: all. Problems: no such steps.
Problems cut_to_steps(Recording& recording, const std::string& steps);

/// A run, and what was recorded of it.
struct RunAndTraces {
  RequestedRun run;
  RunRecording read;
};
/// The run of `file` (empty: none) and `fields`, and the `steps` of its traces. `problems`: found
/// before; with all that is wrong with either.
Result<RunAndTraces> read_run_and_traces(const std::string& command, Problems problems,
                                         const std::string& file, const RunRequest& fields,
                                         const std::vector<std::string>& traces,
                                         const std::string& steps, const Progress& progress);

/// The options that say how many steps traces hold, and which of them are looked at.
std::vector<Option> step_options(double& count, std::string& some);

/// Refuses the tables of times where traces alone are not what is asked about.
void refuse_timings(const CommsRequest& request, const std::string& why, Problems& problems);

/// Two recordings, before and after. `others`: a run or further traces are named as well.
CommandOutput comms_change(const CommsRequest& request, bool others);

}  // namespace headway
