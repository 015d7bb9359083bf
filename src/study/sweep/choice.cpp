#include "study/sweep/choice.hpp"

#include <vector>

#include "cost/calibration/calibration.hpp"
#include "study/plan/search.hpp"

namespace headway {
namespace {

constexpr std::int64_t kLargestMicroBatch = 64;  // beyond it no product gets faster

}  // namespace

LayoutChoice fastest_that_fits(LayoutFreedom free) {
  return [free](const Run& run) -> Result<Run> {
    const auto calibration = calibration_for(run.cluster, run.job.software);
    if (!calibration) return calibration.problems();
    std::vector<std::int64_t> micro_batches = {run.layout.micro_batch};
    if (free.micro_batch) {
      micro_batches.clear();
      for (std::int64_t size = 1; size <= kLargestMicroBatch; size *= 2) {
        micro_batches.push_back(size);
      }
    }
    std::vector<Recompute> modes = {run.layout.recompute};
    if (free.recompute) modes = {Recompute::none, Recompute::selective, Recompute::full};

    Run best = run;
    best.layout.micro_batch = micro_batches.front();  // says what is wrong where nothing is legal
    Seconds time;
    Bytes memory;
    bool found = false, fits = false;
    Run trial = run;
    for (const std::int64_t micro_batch : micro_batches) {
      for (const Recompute mode : modes) {
        trial.layout.micro_batch = micro_batch;
        trial.layout.recompute = mode;
        if (!check(trial.model, trial.job, trial.layout, trial.cluster).empty()) continue;
        const Forecast made = forecast(trial.model, trial.job, trial.layout, trial.cluster,
                                       *calibration, run.convention);
        const bool better = !found || (made.fits && !fits) ||
                            (made.fits && fits && made.step_time < time) ||
                            (!made.fits && !fits && made.memory.total() < memory);
        if (!better) continue;
        best.layout = trial.layout;
        time = made.step_time;
        memory = made.memory.total();
        fits = made.fits;
        found = true;
      }
    }
    return best;
  };
}

LayoutChoice best_of_all() {
  return [](const Run& run) -> Result<Run> {
    const auto calibration = calibration_for(run.cluster, run.job.software);
    if (!calibration) return calibration.problems();
    const auto space =
        PlanSpace::make(run.model, run.job, run.cluster, run.layout.ranks(), {}, run.layout);
    if (!space) return space.problems();
    const PlanBest best = search({run.model, run.job, run.cluster, *calibration, *space}, {});
    if (best.points.empty()) return Problem{{}, "no layout fits"};
    Run out = run;
    out.layout = space->layout_at(best.points.front().index);
    return out;
  };
}

}  // namespace headway
