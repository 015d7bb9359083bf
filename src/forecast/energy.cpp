#include "forecast/energy.hpp"

#include <algorithm>

namespace headway {

// [FORECAST-6] P = idle + (TDP - idle) * (waiting + (1 - waiting) * busy); E = P * ranks * time.
// busy: share of the step that its products take at the rate that they sustain, where a board draws
// what it may (a product's rate is what its power allows); waiting: share of that span which all
// else draws. A rank that waits spins in a kernel of the communication library at full clock, which
// is why power hardly falls where throughput does. A board that is set to another power draws that
// at full rate, and waiting no more than that. Known error: one measured fall on one
// accelerator decides `waiting` for all; memory-bound passes and network traffic are not told from
// waiting.
Watts training_power(const PowerConstants& power, const Accelerator& accelerator, double busy) {
  const Watts idle = accelerator.idle_power, above = accelerator.tdp - idle;
  const double share = std::min(busy, 1.0);
  if (accelerator.board_power > Watts(0)) {
    const Watts waiting = std::min(accelerator.board_power, idle + above * power.waiting);
    return waiting + (accelerator.board_power - waiting) * share;
  }
  return idle + above * (power.waiting + (1 - power.waiting) * share);
}

Watts waiting_power(const PowerConstants& power, const Accelerator& accelerator) {
  return training_power(power, accelerator, 0);
}

Watts idle_power(const Accelerator& accelerator) {
  return accelerator.idle_power;
}

Watts host_power(const PowerConstants& power, const Cluster& cluster) {
  return cluster.host_power_per_accelerator * power.host;
}

double StepWork::busy(const Job& job, const Calibration& calibration,
                      const Accelerator& accelerator) const {
  const Recipe& recipe = *job.recipe;
  const ProductFormat format = format_of(recipe.matmul, scaling_of(recipe));
  return flops / time / static_cast<double>(ranks) /
         (accelerator.peak_of(recipe.matmul) * sustained_share(calibration.kernels, format));
}

Joules step_energy(const StepWork& work, const Job& job, const Calibration& calibration,
                   const Accelerator& accelerator) {
  return training_power(calibration.power, accelerator, work.busy(job, calibration, accelerator)) *
         static_cast<double>(work.ranks) * work.time;
}

}  // namespace headway
