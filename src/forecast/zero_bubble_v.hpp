// The slots of ZB-V (arXiv 2405.15362), placed in time: its idle time has no short closed form
// where stages differ, transfers take time or there are few micro-batches.
#pragma once

#include <cstdint>
#include <vector>

#include "forecast/pipeline_time.hpp"

namespace headway {

/// Seconds from the first slot of any rank to the end of the last [FORECAST-3]. `ranks`: what each
/// of at least two ranks takes for one micro-batch, in both of its chunks together; a chunk takes
/// half of it. `send`: one transfer between neighbours, which runs beside computation.
Seconds zero_bubble_v_time(const std::vector<StageTime>& ranks, std::int64_t micro_batches,
                           Seconds send);

}  // namespace headway
