#include "cost/calibration.hpp"

namespace headway {

Result<Calibration> calibration_for(const Cluster& cluster) {
  Calibration calibration;
  Problems problems;
  const auto kernels = kernel_parameters_for(cluster.accelerator);
  if (kernels) {
    calibration.kernels = *kernels;
  } else {
    append(problems, kernels.problems());
  }
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const auto network = network_parameters_for(cluster.levels[i]);
    if (network) {
      calibration.levels[i] = *network;
    } else {
      append(problems, network.problems());
    }
  }
  const auto step = step_parameters();
  if (step) {
    calibration.step = *step;
  } else {
    append(problems, step.problems());
  }
  if (!problems.empty()) return problems;
  return calibration;
}

}  // namespace headway
