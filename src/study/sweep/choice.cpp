#include "study/sweep/choice.hpp"

#include <vector>

#include "cost/calibration/calibration.hpp"
#include "platform/shard.hpp"
#include "study/plan/search.hpp"

namespace headway {
namespace {

constexpr std::string_view kNone = "-";          // no layout fits
constexpr std::int64_t kLargestMicroBatch = 64;  // beyond it no product gets faster

std::vector<std::int64_t> micro_batches_to_try(const Run& run, bool free) {
  if (!free) return {run.layout.micro_batch};
  std::vector<std::int64_t> out;
  if (run.model.is_network()) {  // of a sample of one token a rank's part is seldom too much
    for (std::int64_t parts = 1; run.job.global_batch % (run.layout.dp * parts) == 0; parts *= 2) {
      out.push_back(run.job.global_batch / run.layout.dp / parts);
    }
    if (out.empty()) out.push_back(1);
    return out;
  }
  for (std::int64_t size = 1; size <= kLargestMicroBatch; size *= 2) out.push_back(size);
  return out;
}

// Those that spread the layers evenly; where none do, all.
std::vector<std::int64_t> virtual_stages_to_try(const Run& run, VirtualStages free) {
  if (free == VirtualStages::given) return {run.layout.vpp};
  std::vector<std::int64_t> even, all;
  const std::int64_t layers = run.model.layers(), pp = run.layout.pp;
  for (std::int64_t vpp = 2; pp > 1 && pp * vpp <= layers; ++vpp) {
    all.push_back(vpp);
    if (layers % (pp * vpp) == 0) even.push_back(vpp);
  }
  std::vector<std::int64_t> out = even.empty() ? all : even;
  if (free == VirtualStages::any) out.insert(out.begin(), 1);
  if (out.empty()) out.push_back(2);  // illegal, and check() says why
  return out;
}

struct Fastest {
  RequestedRun run;
  bool fits = false;
};

Fastest fastest(const RequestedRun& run, LayoutFreedom free, const Calibration& calibration) {
  const std::vector<std::int64_t> sizes = micro_batches_to_try(run, free.micro_batch);
  const std::vector<std::int64_t> virtual_stages = virtual_stages_to_try(run, free.virtual_stages);
  std::vector<Recompute> modes = {run.layout.recompute};
  if (free.recompute) modes = {Recompute::none, Recompute::selective, Recompute::full};

  Fastest best = {run};  // says what is wrong where nothing is legal
  spread_tables(run.model, run.cluster, best.run.layout);
  best.run.layout.micro_batch = sizes.front();
  best.run.layout.vpp = virtual_stages.front();
  settle_ends(best.run);
  Seconds time;
  Bytes memory;
  bool found = false;
  RequestedRun trial = run;
  spread_tables(run.model, run.cluster, trial.layout);
  const auto consider = [&] {
    if (!is_legal(trial)) return;
    const Forecast made = forecast(trial, calibration);
    const bool better = !found || (made.fits && !best.fits) ||
                        (made.fits && best.fits && made.step_time < time) ||
                        (!made.fits && !best.fits && made.memory.total() < memory);
    if (!better) return;
    best.run.layout = trial.layout;
    best.fits = made.fits;
    time = made.step_time;
    memory = made.memory.total();
    found = true;
  };
  for (const std::int64_t vpp : virtual_stages) {
    trial.layout.vpp = vpp;
    settle_ends(trial);
    for (const std::int64_t size : sizes) {
      trial.layout.micro_batch = size;
      for (const Recompute mode : modes) {
        trial.layout.recompute = mode;
        consider();
      }
    }
  }
  return best;
}

}  // namespace

LayoutChoice fastest_that_fits(LayoutFreedom free) {
  return [free](const RequestedRun& run) -> Result<RequestedRun> {
    const auto calibration = calibration_for(run);
    if (!calibration) return calibration.problems();
    Fastest kept = fastest(run, free, *calibration);
    const bool may_drop = free.reshard && !kept.fits && !run.layout.reshard_after_forward;
    if (!may_drop) return std::move(kept.run);
    RequestedRun dropping = run;
    dropping.layout.reshard_after_forward = true;
    Fastest dropped = fastest(dropping, free, *calibration);
    return std::move(dropped.fits ? dropped.run : kept.run);
  };
}

LayoutChoice best_of_all() {
  return [](const RequestedRun& run) { return run_of_best(run, best_line(run)); };
}

std::string best_line(const RequestedRun& run) {
  const auto calibration = calibration_for(run);
  const auto space = PlanSpace::make(run, run.layout.ranks());
  if (!calibration || !space) return std::string(kNone);
  const PlanBest best = search({run, *calibration, *space}, {});
  return best.points.empty() ? std::string(kNone) : std::to_string(best.points.front().index);
}

Result<RequestedRun> run_of_best(const RequestedRun& run, std::string_view line) {
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  const auto space = PlanSpace::make(run, run.layout.ranks());
  if (!space) return space.problems();
  if (line == kNone) return Problem{{}, "no layout fits"};
  const auto index = exact_count(line);
  if (!index || *index >= space->size()) {
    return Problem{"merge", "the parts name a layout that is none", Trouble::malformed};
  }
  RequestedRun out = run;
  out.layout = space->layout_at(*index);
  return out;
}

}  // namespace headway
