// Starts the programs of `headway replay`.
#pragma once

#include "api/live/replay.hpp"

namespace headway {

ReplayStarter replay_starter();

}  // namespace headway
