#include "study/reconcile/compared.hpp"

#include <utility>

#include "cost/calibration/calibration.hpp"

namespace headway {

Result<Compared> compare(const RequestedRun& run, Recording recording, double steps) {
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  Compared out{run, std::move(recording), {}, {}};
  out.reconciliation = reconcile(out.recording, run, *calibration, steps);
  out.verdict = verdict_of(out.reconciliation, out.recording, run.cluster);
  return out;
}

}  // namespace headway
