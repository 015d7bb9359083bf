// What a request says of stages on another machine.
#pragma once

#include "run/request_reader.hpp"

namespace headway {

/// The fields of a run and those of stages on another machine.
std::span<const RunField> all_fields();

/// Sets run.far where it is asked for; what is wrong with that becomes problems. The run's own
/// fields have been read.
void read_far_stages(RequestReader& reader, Types types, RequestedRun& run);

/// What check() says of the run on each of its machines, and whether each has room for its stages.
Problems check_on_both(const RequestedRun& run);

}  // namespace headway
