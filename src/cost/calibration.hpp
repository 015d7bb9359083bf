// The fitted constants that price a step on one cluster.
#pragma once

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/collective.hpp"
#include "cost/kernels.hpp"

namespace headway {

/// Constants of a step that belong to no single kernel or call (data/calibration/step.toml).
struct StepParameters {
  double interference = 0;   // slowing of kernels while communication runs beside them, a share
                             // of the communication's time, 0 ... 1
  double straggling = 0;     // growth of a step's time with each doubling of its ranks: the
                             // slowest of many sets the pace; a share, 0 ... 0.1
  Seconds step_overhead;     // once a step: data, logging, host synchronisation
  double compute_power = 1;  // mean power while computing, of the TDP, (0, 1]
  double waiting_power = 1;  // and while communication or a bubble is exposed, (0, 1]
};

struct Calibration {
  KernelParameters kernels;
  LevelParameters levels;
  StepParameters step;
};

/// The constants for a cluster from the embedded data/calibration: kernels by the accelerator's
/// architecture, each level by its network class; a class without measurements takes those of the
/// "default" entry, which says so.
Result<Calibration> calibration_for(const Cluster& cluster);

/// Parts of calibration_for.
Result<KernelParameters> kernel_parameters_for(const Accelerator& accelerator);
Result<NetworkParameters> network_parameters_for(const Level& level);
Result<StepParameters> step_parameters();

}  // namespace headway
