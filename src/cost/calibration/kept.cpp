#include "cost/calibration/kept.hpp"

#include <algorithm>

namespace headway {
namespace {

double own_factor(const Run& run) {
  const OwnSetup* own = own_setup(run);
  return own != nullptr ? own->factor : 1;
}

}  // namespace

KeptCalibration::Read::Read(const Run& run)
    : accelerator(run.cluster.accelerator.name),
      architecture(run.cluster.accelerator.architecture),
      tdp(run.cluster.accelerator.tdp),
      limit(run.cluster.accelerator.power_limit()),
      software(run.job.software),
      own(own_factor(run)) {
  for (const Level& level : run.cluster.levels) networks.push_back(level.network);
}

bool KeptCalibration::Read::is_of(const Run& run) const {
  const Accelerator& now = run.cluster.accelerator;
  const std::vector<Level>& levels = run.cluster.levels;
  return accelerator == now.name && architecture == now.architecture && tdp == now.tdp &&
         limit == now.power_limit() && software == run.job.software && own == own_factor(run) &&
         std::equal(networks.begin(), networks.end(), levels.begin(), levels.end(),
                    [](const std::string& name, const Level& level) {
                      return name == level.network && level.constants.root.table() == nullptr;
                    });
}

const Result<Calibration>& KeptCalibration::of(const Run& run) {
  if (read_ && read_->is_of(run)) return kept_;
  kept_ = calibration_for(run);
  read_.emplace(run);
  if (!read_->is_of(run)) read_.reset();  // levels with constants of their own
  return kept_;
}

}  // namespace headway
