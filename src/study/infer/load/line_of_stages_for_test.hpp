// A line of stages, by which pipelines are checked.
#pragma once

#include <algorithm>
#include <vector>

namespace headway::testing {

/// When the last of `passes` is through the last of so many stages, each of which takes its part of
/// one once it has done the one before and the stage before it this one. In units of `passes`.
inline double time_of_line(const std::vector<double>& passes, int stages) {
  std::vector<double> free(static_cast<std::size_t>(stages), 0.0);  // when each stage is
  for (const double pass : passes) {
    double done = 0;
    for (double& stage : free) done = stage = std::max(done, stage) + pass / stages;
  }
  return free.back();
}

}  // namespace headway::testing
