// What can be said of a run some of whose fields were refused. Internal to src/run.
#pragma once

#include "run/request_reader.hpp"

namespace headway {

/// The rules that are broken whatever the refused fields turn out to be.
Problems independent_problems(const Run& run, const RequestReader& reader);

}  // namespace headway
