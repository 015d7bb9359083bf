#include "cost/calibration/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// [FORECAST-11] Software for a new architecture starts with 1 - immaturity of the rates it reaches
// in the end and approaches them by a factor of e every `maturing` years.
double maturity(const StepConstants& constants, const std::string& architecture, double software) {
  const auto appeared = constants.appeared.find(architecture);
  if (software <= 0 || appeared == constants.appeared.end()) return 1;
  const double age = std::max(0.0, software - appeared->second);
  return 1 - constants.architecture(architecture).immaturity *
                 std::exp(-age / constants.shared.maturing);
}

// [FORECAST-13] Passes of 8-bit recipes (casts, scales, transposes) that the first releases left
// unfused, as a multiple of the bytes of fused ones; it falls as immaturity does, from an
// architecture's first year on.
double passes(const StepConstants& constants, const std::string& architecture, double software) {
  const auto appeared = constants.appeared.find(architecture);
  if (software <= 0 || appeared == constants.appeared.end()) return 1;
  const double age = std::max(0.0, software - appeared->second - 1);
  return 1 + constants.architecture(architecture).extra_passes *
                 std::exp(-age / constants.shared.maturing);
}

}  // namespace

double powered(const StepConstants& constants, const Accelerator& accelerator) {
  if (accelerator.tdp.value() <= 0) return 1;
  const auto& known = constants.benchmarked_power;
  auto found = known.find(accelerator.name);
  if (found == known.end()) found = known.find(accelerator.architecture);
  const Watts benchmarked = found != known.end() ? found->second : accelerator.tdp;
  return std::pow(accelerator.power_limit() / benchmarked,
                  constants.architecture(accelerator.architecture).power_exponent);
}

namespace {

// By Framework: the one whose constants it has.
const std::vector<std::string>& fitted_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < framework_names().size(); ++i) {
      out.emplace_back(name_of(base_of(static_cast<Framework>(i))));
    }
    return out;
  }();
  return all;
}

}  // namespace

Result<Benchmarked> benchmarked_for(const Cluster& cluster) {
  Benchmarked out;
  Problems problems;
  const auto kernels = kernel_parameters_for(cluster.accelerator);
  if (kernels) {
    out.kernels = *kernels;
  } else {
    append(problems, kernels.problems());
  }
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const auto network = network_parameters_for(cluster.levels[i]);
    if (network) {
      out.levels[i] = *network;
    } else {
      append(problems, network.problems());
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

Calibration in_step(const Benchmarked& alone, const StepConstants& constants,
                    const Cluster& cluster, double software) {
  Calibration out{alone.kernels, alone.levels, constants.shared, constants.power, {}};
  out.frameworks.reserve(fitted_names().size());
  for (const std::string& name : fitted_names()) {
    out.frameworks.push_back(constants.framework(name));
  }
  const std::string& architecture = cluster.accelerator.architecture;
  const ArchitectureConstants& own = constants.architecture(architecture);
  out.kernels.sustained *= own.sustained * maturity(constants, architecture, software) *
                           powered(constants, cluster.accelerator);
  out.kernels.eager_efficiency *= own.eager;
  for (const ProductFormat format : {ProductFormat::bits_8, ProductFormat::bits_8_blocks}) {
    out.kernels.of(format).ceiling *= own.sustained_8_bit / own.sustained;
  }
  out.kernels.of(ProductFormat::bits_4).ceiling *= own.sustained_4_bit / own.sustained;
  for (FlashParameters* flash : {&out.kernels.flash_forward, &out.kernels.flash_backward}) {
    for (double& ceiling : flash->ceiling) ceiling *= own.sustained_attention / own.sustained;
  }
  out.kernels.memory_efficiency *= own.sustained_passes;
  for (ProductParameters& product : out.kernels.products) {
    product.grouped_efficiency *= own.sustained_grouped;
  }
  out.passes_8_bit = passes(constants, architecture, software);
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const double reached = constants.network(cluster.levels[i].network).in_step;
    NetworkParameters& level = out.levels[i];
    level.bandwidth_efficiency *= reached;
    level.tree_efficiency *= reached;
    level.in_network_efficiency *= reached;
    level.short_fraction *= reached;
    level.ring_step = level.ring_step / reached;
    level.ring_step_through = level.ring_step_through / reached;
    level.ring_gap = level.ring_gap / reached;
    level.tree_fill = level.tree_fill / reached;
  }
  return out;
}

Result<Calibration> calibration_for(const Cluster& cluster, double software) {
  const auto alone = benchmarked_for(cluster);
  const auto& constants = step_constants();
  Problems problems;
  if (!alone) append(problems, alone.problems());
  if (!constants) append(problems, constants.problems());
  if (!problems.empty()) return problems;
  return in_step(*alone, *constants, cluster, software);
}

Result<Calibration> calibration_for(const Run& run) {
  auto out = calibration_for(run.cluster, run.job.software);
  if (!out) return out;
  if (const OwnSetup* own = own_setup(run)) out->own = own->factor;
  return out;
}

}  // namespace headway
