// calibrate --collectives: a cluster's network fitted on its own logs. Internal to src/api.
#pragma once

#include "api/commands.hpp"

namespace headway {

CommandOutput calibrate_from_logs(const CalibrateRequest& request);

}  // namespace headway
