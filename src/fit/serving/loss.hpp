// How far predictions are from measurements, for the fits of serving.
#pragma once

#include <cmath>

namespace headway {

/// Of ln(predicted / measured): quadratic below 10 %, linear above, so that rows whose settings
/// nobody stated do not decide.
inline double robust_loss(double log_error) {
  constexpr double kKnee = 0.1;
  return (std::sqrt(1 + log_error * log_error / (kKnee * kKnee)) - 1) * kKnee;
}

}  // namespace headway
