// comms: the three questions about the calls of a step. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/commands.hpp"

namespace headway {

/// The fields of a run as given by a run file (empty: none) and by flags, which override them.
struct GivenRun {
  std::string run_file;
  RunRequest fields;
};

CommandOutput comms_expected(const GivenRun& given, const CommsRequest& request);
CommandOutput comms_measured(const std::vector<std::string>& traces, const CommsRequest& request);
CommandOutput comms_compared(const GivenRun& given, const std::vector<std::string>& traces,
                             const CommsRequest& request);

}  // namespace headway
