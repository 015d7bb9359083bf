// Fields that another field leaves without a reader. Internal to src/run.
#pragma once

#include "run/request_reader.hpp"

namespace headway {

/// What is given there and would change nothing is refused, unless it is the default.
void refuse_idle(RequestReader& reader, const Run& run);

}  // namespace headway
