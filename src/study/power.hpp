// What an accelerator draws, by what it does.
#pragma once

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"

namespace headway {

/// Shares of the TDP that its parts add to idle power when they work all the time.
struct PowerModel {
  double resident = 0;  // kernels are on the chip and clocks are up, computing or waiting in a call
  double products = 0;  // products at the peak rate, with the memory and link traffic they bring
  double cap = 1;       // of the TDP, that the board's firmware holds it under
  double host = 1;      // of the host's largest power, that it draws while training
};

/// data/economics/power.toml.
Result<PowerModel> embedded_power_model();

/// The mean power of an accelerator over a step whose products run at `utilisation` of the peak,
/// recomputed ones included (HFU) [SCALE-20].
Watts training_power(const PowerModel& model, const Accelerator& accelerator, double utilisation);
/// While it waits in a call or writes a checkpoint: clocks up, no products [SCALE-20].
Watts waiting_power(const PowerModel& model, const Accelerator& accelerator);
/// Idle: restarts, waiting for repair.
Watts idle_power(const Accelerator& accelerator);
/// An accelerator's share of its host.
Watts host_power(const PowerModel& model, const Cluster& cluster);

}  // namespace headway
