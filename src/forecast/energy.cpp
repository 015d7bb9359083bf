#include "forecast/energy.hpp"

#include <algorithm>

namespace headway {

// [FORECAST-6] P = min(cap · TDP, idle + TDP · (resident + products · u)); E = P · ranks · time.
// u: rate of products over the peak of their format, over the whole step. A rank that waits spins
// in a kernel of the communication library at full clock, which is why power hardly falls where
// throughput does. Known error: memory-bound and network traffic are not counted apart; a chip at
// its cap lowers its clock, and the forecast's rates hold that already.
Watts training_power(const PowerConstants& power, const Accelerator& accelerator,
                     double utilisation) {
  const Watts wanted =
      accelerator.idle_power + accelerator.tdp * (power.resident + power.products * utilisation);
  return std::min(wanted, accelerator.tdp * power.cap);
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

Joules step_energy(const StepWork& work, const Job& job, const PowerConstants& power,
                   const Accelerator& accelerator) {
  return training_power(power, accelerator, work.utilisation(job, accelerator)) *
         static_cast<double>(work.ranks) * work.time;
}

}  // namespace headway
