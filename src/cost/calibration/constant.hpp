// What a constant of data/calibration may be.
#pragma once

#include <limits>

namespace headway {

/// From `least` to `most`, SI; `above`: not `least` itself.
struct AllowedRange {
  double least, most;
  bool above = false;

  bool holds(double value) const {
    return (above ? value > least : value >= least) && value <= most;
  }
};
inline constexpr AllowedRange kFraction{0, 1, true};
inline constexpr AllowedRange kShare{0, 1};
inline constexpr AllowedRange kPositive{0, std::numeric_limits<double>::max(), true};
inline constexpr AllowedRange kNotNegative{0, std::numeric_limits<double>::max()};
inline constexpr AllowedRange kMultiple{1e-4, 1e4};  // of another time or size

}  // namespace headway
