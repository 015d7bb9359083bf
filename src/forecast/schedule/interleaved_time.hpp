// Internal to src/forecast/schedule: interleaved 1F1B, all ranks at once.
#pragma once

#include "forecast/schedule/placement.hpp"

namespace headway {

/// Whether interleaved_time() tells how long a pipeline takes: 1F1B of at least two chunks a rank,
/// micro-batches a multiple of the ranks, transfers that nobody waits for.
bool is_interleaved_evenly(const Pipeline& pipeline, const SlotTimes& times);

/// Seconds from the first slot of any rank to the end of the last, as placed_slots() says.
Seconds interleaved_time(const Pipeline& pipeline, const SlotTimes& times);

}  // namespace headway
