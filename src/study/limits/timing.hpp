// How long the published comparisons of the limits study take, and what is asked beyond them.
#pragma once

#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

struct LimitsTiming {
  struct Row {
    std::string what;
    std::size_t models = 0;  // of sensitivity, the numbers that are varied
    Seconds median;          // of the repetitions
  };
  std::vector<Row> rows;
  std::size_t repetitions = 0, threads = 0;
};

/// On `threads` threads; 0: all cores.
Result<LimitsTiming> time_limits(int threads);

}  // namespace headway
