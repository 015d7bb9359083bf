// Ways to split a serving over accelerators. Internal to src/study/infer/search.
#pragma once

#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// Every legal tp, pp, cp, dp and ep that make `accelerators`.
std::vector<ServingSplit> legal_splits(const Serving& base, std::int64_t accelerators);

}  // namespace headway
