#include "study/sweep/answer.hpp"

#include <algorithm>
#include <numeric>

#include "model/count.hpp"
#include "study/sweep/plans.hpp"

namespace headway {
namespace {

SameLoss same_loss_as(const SweepQuestion& question) {
  const RequestedRun& base = question.base;
  const GivenAssumptions& given = question.given;
  const double held = static_cast<double>(parameters(base.model).active);
  const double loss = loss_reached(given, held);
  SameLoss out;
  out.critical_batch = critical_batch_of(given, loss, base.job.sequence);
  out.batch = static_cast<double>(base.job.global_batch) * static_cast<double>(base.job.sequence);
  out.tokens = given.tokens;
  return out;
}

// Counts points over all series; where the time to a loss is found too, each point twice.
class PointCount {
 public:
  PointCount(const std::vector<SweepPlan>& plans, bool twice, const Progress& progress)
      : progress_(progress) {
    for (const SweepPlan& plan : plans) of_ += plan.cases.size() * (twice ? 2 : 1);
  }
  Progress callback() {
    if (!progress_) return {};
    return [this](std::size_t done, std::size_t) {
      if (!progress_(before_ + done, of_)) stopped_ = true;
      return !stopped_;
    };
  }
  void pass(std::size_t points) { before_ += points; }
  bool stopped() const { return stopped_; }

 private:
  const Progress& progress_;
  std::size_t before_ = 0, of_ = 0;
  bool stopped_ = false;
};

// Points of a plan take the virtual stages that it says.
LayoutFreedom freedom_of(const SweepQuestion& question, const SweepPlan& plan) {
  LayoutFreedom out = question.free;
  out.virtual_stages = plan.virtual_stages;
  return out;
}

// Beside all degrees of a sweep of layouts.
SweepCase best_case(const RequestedRun& base) {
  return {"of all", 1, base};
}

void add_crossover(SweepAnswer& answer, const SweepSettings& settings) {
  const RequestedRun& base = answer.question.base;
  constexpr std::int64_t kMost = 65'536;  // as large as any run yet
  const std::int64_t most = std::min(kMost, base.cluster.accelerators);
  // Every layout must be possible at every number of accelerators that is looked at.
  std::int64_t unit = base.cluster.levels.front().size;
  std::vector<Degrees> split;
  for (const Degrees& degrees : split_layouts(answer.question)) {
    const std::int64_t shared = std::lcm(unit, degrees.tp * degrees.cp * degrees.pp);
    if (shared > most) continue;
    unit = shared;
    split.push_back(degrees);
  }
  answer.crossover_from = unit;
  answer.crossover_to = most / unit * unit;
  if (answer.crossover_to < unit || split.empty()) return;
  answer.crossover =
      crossover(base, answer.crossover_from, answer.crossover_to, unit, split, settings);
}

Result<SweepAnswer> sweep_of(const std::vector<SweepPlan>& plans, SweepQuestion question,
                             const LayoutChoice& best, int threads, const Progress& progress) {
  const auto& constants = step_constants();
  if (!constants) return constants.problems();
  PointCount points(plans, is_over_accelerators(question.axis), progress);
  // The layout as it stands, and as it is chosen: layouts are set against each other, and other
  // batches tried on a point's own layout, as they stand.
  SweepSettings standing = {.layout = fastest_that_fits(question.free),
                            .given = question.given,
                            .power = constants->power,
                            .threads = threads,
                            .progress = points.callback()};
  SweepSettings chosen = standing;
  if (best) chosen.layout = best;
  SweepAnswer out;
  out.question = std::move(question);
  out.same_loss = same_loss_as(out.question);
  const bool layouts = out.question.axis == SweepAxis::layout;
  for (const SweepPlan& plan : plans) {
    if (layouts) standing.layout = fastest_that_fits(freedom_of(out.question, plan));
    out.series.push_back(sweep(plan.name, plan.cases, layouts ? standing : chosen));
    points.pass(plan.cases.size());
    if (points.stopped()) break;
    if (!is_over_accelerators(out.question.axis)) continue;
    add_marginal_returns(out.series.back(), out.question.threshold);
    add_time_to_loss(out.series.back(), out.same_loss, standing);
    points.pass(plan.cases.size());
  }
  if (points.stopped()) return Problem{"scale", "was stopped", Trouble::stopped};
  if (!layouts) return out;
  standing.progress = chosen.progress = {};
  standing.layout = fastest_that_fits(out.question.free);
  if (best) out.series.push_back(sweep("best", {best_case(out.question.base)}, chosen));
  add_crossover(out, standing);
  return out;
}

}  // namespace

Result<SweepAnswer> make_sweep(SweepQuestion question, const LayoutChoice& best, int threads,
                               const Progress& progress) {
  const std::vector<SweepPlan> plans = sweep_plans(question);
  return sweep_of(plans, std::move(question), best, threads, progress);
}

Result<SweepAnswer> make_sweep_in_parts(SweepQuestion question, const Division& division,
                                        int threads, const Progress& progress) {
  std::vector<SweepPlan> plans = sweep_plans(question);
  std::vector<SweepCase*> cases;
  for (SweepPlan& plan : plans) {
    for (SweepCase& at : plan.cases) cases.push_back(&at);
  }
  const auto lines = divide(
      division,
      {.name = "points",
       .count = cases.size(),
       .make = [&](std::size_t i) { return cases[i]->run ? best_line(*cases[i]->run) : "-"; }},
      threads, progress);
  if (!lines) return lines.problems();
  if (division.only) {
    SweepAnswer none;
    none.question = std::move(question);
    return none;
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i]->run) continue;
    auto best = run_of_best(*cases[i]->run, *(*lines)[i]);
    if (!best && best.problems().front().kind == Trouble::malformed) return best.problems();
    cases[i]->run = std::move(best);
  }
  const LayoutChoice chosen = [](const RequestedRun& run) { return Result<RequestedRun>(run); };
  return sweep_of(plans, std::move(question), chosen, threads, {});
}

}  // namespace headway
