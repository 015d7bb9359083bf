// The models that a sweep over models takes where none are named.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "run/run.hpp"

namespace headway {

/// Those of the scaling study where the run's is one of them; else the built-in ones of its family,
/// "llama-3.1-" of "llama-3.1-8b", by size; the model alone where its name has no size at its end.
Result<std::vector<std::string>> family_of(const RequestedRun& base);

}  // namespace headway
