// What an accelerator draws, by what it does, and what a step takes.
#pragma once

#include "base/quantity.hpp"
#include "cluster/cluster.hpp"
#include "cost/calibration/step_constants.hpp"
#include "layout/job.hpp"

namespace headway {

/// The mean power of an accelerator over a step whose products run at `utilisation` of the peak,
/// recomputed ones included and attention counted in full [FORECAST-6].
Watts training_power(const PowerConstants& power, const Accelerator& accelerator,
                     double utilisation);
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
  double utilisation(const Job& job, const Accelerator& accelerator) const {
    return flops / time / static_cast<double>(ranks) / accelerator.peak_of(job.recipe->matmul);
  }
};
Joules step_energy(const StepWork& work, const Job& job, const PowerConstants& power,
                   const Accelerator& accelerator);

}  // namespace headway
