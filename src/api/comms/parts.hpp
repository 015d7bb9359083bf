// What the commands that read traces share. Internal to src/api/comms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/commands.hpp"
#include "api/options.hpp"
#include "trace/files.hpp"

namespace headway {

/// What was lost on the way from traces to a recording, for stderr.
Problems warnings_of(const RunRecording& run);

/// Outputs, each with what names it, that would take the place of what is read.
Problems over_inputs(const RunRecording& run,
                     const std::vector<std::pair<FieldName, std::string>>& outputs);

/// Leaves of a recording the steps "10..20", or "7"; empty: all. Problems: no such steps.
Problems cut_to_steps(Recording& recording, const std::string& steps);

/// The options that say how many steps traces hold, and which of them are looked at.
std::vector<Option> step_options(double& count, std::string& some);

/// Two recordings, before and after. `others`: a run or further traces are named as well.
CommandOutput comms_change(const CommsRequest& request, bool others);

}  // namespace headway
