// The communication study as the command shows it. Internal to src/api.
#pragma once

#include "api/commands.hpp"
#include "study/traffic/communication.hpp"

namespace headway {

/// comms --study, and comms --report DIR.
CommandOutput comms_study(const CommsRequest& request);

/// {cluster, models: [...], runs: [...]}; the fields are listed in docs/communication.md.
std::string study_json(const CommunicationStudy& study);

}  // namespace headway
