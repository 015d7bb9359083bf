// The lists of a recording: what was recorded, to be run again on a machine.
#pragma once

#include "base/result.hpp"
#include "simulate/live/list.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// [LIVE-3] Calls begin in their order and are waited for where they were found done; between two
/// such times the rank computes for as long as its kernels ran there, or nothing ran at all. Of a
/// source without kernels it computes except while a call that blocks runs. Problems: all that
/// keeps it from being run: calls without a start, a duration or a size, ranks that are not
/// recorded.
Result<LiveList> list_of_recording(const Recording& recording);

}  // namespace headway
