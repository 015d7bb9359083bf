// What an accelerator draws, by what it does, and what a step takes.
#pragma once

#include "base/quantity.hpp"
#include "cluster/cluster.hpp"
#include "cost/calibration/calibration.hpp"
#include "layout/job.hpp"

namespace headway {

/// The mean power of an accelerator over a step of which its products take the share `busy` at the
/// rate that they sustain, recomputed ones included and attention counted in full [FORECAST-6].
Watts training_power(const PowerConstants& power, const Accelerator& accelerator, double busy);
/// While it waits in a call or writes a checkpoint: clocks up, no products [FORECAST-6].
Watts waiting_power(const PowerConstants& power, const Accelerator& accelerator);
/// Idle: restarts, waiting for repair.
Watts idle_power(const Accelerator& accelerator);
/// An accelerator's share of its host.
Watts host_power(const PowerConstants& power, const Cluster& cluster);

/// A step of `ranks` accelerators, without their hosts, in which they compute `flops` together:
/// those of the model and those computed again, attention in full [FORECAST-6].
struct StepWork {
  Seconds time;
  Flops flops;
  std::int64_t ranks = 1;
  /// The share of the step that they take at the rate that long products sustain.
  double busy(const Job& job, const Calibration& calibration, const Accelerator& accelerator) const;
};
Joules step_energy(const StepWork& work, const Job& job, const Calibration& calibration,
                   const Accelerator& accelerator);

}  // namespace headway
