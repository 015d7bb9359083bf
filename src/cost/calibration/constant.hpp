// What a constant of data/calibration may be.
#pragma once

#include <limits>

namespace headway {

/// From `least` to `most`, SI; `above`: not `least` itself.
struct Range {
  double least, most;
  bool above = false;

  bool holds(double value) const {
    return (above ? value > least : value >= least) && value <= most;
  }
};
inline constexpr Range kFraction{0, 1, true};
inline constexpr Range kShare{0, 1};
inline constexpr Range kPositive{0, std::numeric_limits<double>::max(), true};
inline constexpr Range kNotNegative{0, std::numeric_limits<double>::max()};
inline constexpr Range kMultiple{1e-4, 1e4};  // of another time or size

}  // namespace headway
