// The fitted constants that price a step on one cluster.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/calibration/step_constants.hpp"
#include "cost/collective/collective.hpp"
#include "cost/kernels/kernels.hpp"
#include "layout/run.hpp"

namespace headway {

struct Calibration {
  KernelParameters kernels;
  LevelParameters levels;
  SharedConstants shared;
  PowerConstants power;
  std::vector<FrameworkConstants> frameworks;  // by Framework
  double passes_8_bit = 1;  // bytes of passes in 8- and 4-bit recipes over those of fused ones
  double own = 1;           // every time of a step over what these come to, by own runs [OWN-1]

  const FrameworkConstants& of(Framework framework) const {
    return frameworks[static_cast<std::size_t>(framework)];
  }
};

/// The constants of kernels and calls as measured alone.
struct Benchmarked {
  KernelParameters kernels;
  LevelParameters levels;
};

/// The same from the embedded data/calibration: kernels by the accelerator's architecture, each
/// level by its network class; a class without measurements takes those of the "default" entry.
Result<Benchmarked> benchmarked_for(const Cluster& cluster);
Result<KernelParameters> kernel_parameters_for(const Accelerator& accelerator);
/// Whether products and passes were measured on the accelerator or others of its architecture.
bool kernels_measured(const Accelerator& accelerator);
Result<NetworkParameters> network_parameters_for(const Level& level);

/// [FORECAST-12] Products and attention run at the clock that the board's power allows: a board of
/// another power than the benchmarked one, or that is set to another than its own, runs at (power /
/// benchmarked power)^exponent of its rates, which this is.
double powered(const StepConstants& constants, const Accelerator& accelerator);

/// What a step makes of them [FORECAST-11]. `software`: the date of frameworks and libraries in
/// years (2025.5); 0: today's, which have made up for all immaturity.
Calibration in_step(const Benchmarked& alone, const StepConstants& constants,
                    const Cluster& cluster, double software = 0);

/// in_step of the embedded constants.
Result<Calibration> calibration_for(const Cluster& cluster, double software = 0);
/// The same for a run, with what own runs say of its setup.
Result<Calibration> calibration_for(const Run& run);

}  // namespace headway
