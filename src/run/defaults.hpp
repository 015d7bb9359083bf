// What a run is taken to have where nothing is said of it. Internal to src/run.
#pragma once

#include "run/request_reader.hpp"

namespace headway {

/// What a network of modules is trained with; what says nothing of one is refused.
void settle_network(RequestReader& reader, RequestedRun& run);

/// The framework's habits, the ends of a pipeline, formats and kernels of the machine, each told as
/// an assumption. `split`: the layout is that of the run, not one to be searched for.
void assume_defaults(const RequestReader& reader, RequestedRun& run, bool split);

}  // namespace headway
