// The engines that are known, by name.
#pragma once

#include <string>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// From data/serving/engines.toml, in its order; the first stands where none is named.
const Result<std::vector<Engine>>& engines();

}  // namespace headway
