// Forecasts of many runs, one after the other, make the constants of a machine once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/calibration/calibration.hpp"

namespace headway {

/// What calibration_for() gave last, for runs of which it would give the same. For one thread.
class KeptCalibration {
 public:
  /// calibration_for(run). The reference is good until the next call.
  const Result<Calibration>& of(const Run& run);

 private:
  /// All that calibration_for() reads of a run whose levels state no constants of their own.
  struct Read {
    std::string accelerator, architecture;
    Watts tdp, limit;
    std::vector<std::string> networks;
    double software = 0, own = 1;

    explicit Read(const Run& run);
    bool is_of(const Run& run) const;
  };

  std::optional<Read> read_;  // none: nothing that another run may use
  Result<Calibration> kept_ = Problems{};
};

}  // namespace headway
