// The pipeline of a configuration of torchtitan. Internal to src/launch.
#pragma once

#include <cstdint>

#include "launch/parts.hpp"

namespace headway::launch {

/// Schedule, stages and micro-batches as fields of a run; none without a pipeline. `layers`: of the
/// network, 0 where it is not known. `early`: the configuration has words of releases before 0.1.
LaunchRequest pipeline_fields(const Document& document, std::int64_t layers, bool early,
                              Problems& problems);

}  // namespace headway::launch
