#include "study/plan/plan.hpp"

#include <algorithm>

#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

// A layout with its whole forecast.
Result<PlannedLayout> planned(const RequestedRun& base, std::uint64_t index, const Layout& layout) {
  PlannedLayout out{.index = index, .run = base, .forecast = {}, .dollars = 0, .undecided = false};
  out.run.layout = layout;
  const RunRequest fields = layout_fields(base.model, base.job, layout);
  out.run.given.insert(out.run.given.end(), fields.begin(), fields.end());
  auto forecast = predict(out.run);
  if (!forecast) return forecast.problems();
  out.forecast = std::move(forecast).value();
  out.dollars = base.cluster.price_per_accelerator_hour * static_cast<double>(layout.ranks()) *
                out.forecast.step_time.value() / 3600;
  return out;
}

bool meet(const std::optional<Interval<Seconds>>& a, const std::optional<Interval<Seconds>>& b) {
  return a && b && a->low <= b->high && b->low <= a->high;
}

// Where the time of a step goes: computation, and exposed calls by group and level.
std::vector<PlanBound> bounds_of(const PlannedLayout& best) {
  const Forecast& f = best.forecast;
  std::vector<PlanBound> out;
  for (const PartRow& row : kParts) {
    if (row.is_communication || row.part == Part::other) continue;
    out.push_back({std::string(row.long_name), f.parts[row.part] / f.step_time});
  }
  for (const PricedCall& call : f.calls) {
    const std::string what = std::string(to_name(call.call.group)) + " over " +
                             best.run.cluster.levels[static_cast<std::size_t>(call.level)].name;
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const PlanBound& bound) { return bound.what == what; });
    const double share = call.exposed / f.step_time;
    if (same == out.end()) {
      out.push_back({what, share});
    } else {
      same->share += share;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PlanBound& a, const PlanBound& b) { return a.share > b.share; });
  std::erase_if(out, [](const PlanBound& bound) { return bound.share < 0.005; });
  return out;
}

std::optional<PlanChange> one_generation_older(const Run& run) {
  if (run.cluster.accelerator.previous.empty()) return std::nullopt;
  auto older = load_accelerator(run.cluster.accelerator.previous);
  if (!older) return std::nullopt;
  PlanChange out{"the generation before (" + older->name + ")", run, false};
  out.run.cluster.accelerator = std::move(older).value();
  if (own_setup(run) != nullptr && own_setup(out.run) == nullptr) out.what += ", without own runs";
  return out;
}

// A part of a longer piece of work, of which it takes the share from `from` to `to`, told as so
// many of the space's layouts.
PlanSearch part_of(PlanSearch how, std::uint64_t layouts, double from, double to) {
  if (!how.progress) return how;
  how.progress = [whole = how.progress, layouts, from, to](std::size_t done, std::size_t of) {
    const double share = of > 0 ? static_cast<double>(done) / static_cast<double>(of) : 1.0;
    return whole(
        static_cast<std::size_t>(static_cast<double>(layouts) * (from + (to - from) * share)),
        layouts);
  };
  return how;
}
// Their shares, by how long they take of published mixtures of experts (docs/plan.md).
constexpr double kFloorsDone = 0.1, kSearchDone = 0.2, kAlternativesDone = 0.65, kRoomyDone = 0.7;

// What follows from the best layout.
void explain(Plan& plan, const PlanQuestion& question, const PlanFloors& floors,
             const std::vector<PlanPoint>& best, const PlanSearch& whole) {
  const Run& winner = plan.best.front().run;
  plan.bounds = bounds_of(plan.best.front());
  const auto part = [&](double from, double to) { return part_of(whole, plan.layouts, from, to); };
  PlanAlternatives others =
      alternatives(question, floors, best, part(kSearchDone, kAlternativesDone));
  plan.without = std::move(others.without);
  for (const PlanPoint& point : others.front) {
    plan.front.push_back({point, question.space.layout_at(point.index)});
  }

  Run endless = question.run;
  endless.cluster.accelerator.memory = Bytes(1e18);
  const PlanSearch of_roomy = part(kAlternativesDone, kRoomyDone);
  const PlanQuestion of_endless{endless, question.calibration, question.space, 0};
  const std::optional<PlanPoint> roomy =
      find(of_endless, floors, {.limits = {PlanLimit{}}, .known = best}, of_roomy).best.front();
  if (roomy && roomy->index != best.front().index) {
    plan.roomy = PlannedPoint{*roomy, question.space.layout_at(roomy->index)};
  }

  std::vector<PlanChange> changes = small_changes(winner);
  if (auto older = one_generation_older(winner)) changes.push_back(std::move(*older));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const PlanChange& change = changes[i];
    const double each = (1 - kRoomyDone) / static_cast<double>(changes.size());
    const double from = kRoomyDone + each * static_cast<double>(i);
    const PlanSearch how = part(from, from + each);
    const auto calibration = calibration_for(change.run);
    if (!calibration || !is_legal(change.run)) continue;
    if (auto sensitivity = under_change(question, floors, change, *calibration, how)) {
      plan.sensitivity.push_back(std::move(*sensitivity));
    }
  }
}

}  // namespace

PlanObjective objective_of(std::string_view name) {
  if (name == "memory") return PlanObjective::memory;
  if (name == "energy") return PlanObjective::energy;
  return PlanObjective::time;
}

Result<Plan> plan_of(PlanTask task) {
  Plan plan;
  plan.run = std::move(task.run);
  plan.objective = task.objective;
  plan.headroom = task.headroom;
  plan.notes = std::move(task.notes);
  const std::vector<PlanFilter>& filters = task.filters;
  PlanSearch how = task.how;
  how.objective = objective_of(task.objective);
  plan.accelerators = plan.run.layout.ranks();
  if (plan.accelerators > plan.run.cluster.accelerators) {
    return Problem{FieldName("gpus"),
                   count_text(static_cast<double>(plan.accelerators)) + " are more than the " +
                       count_text(static_cast<double>(plan.run.cluster.accelerators)) +
                       " accelerators of cluster " + plan.run.cluster.name};
  }

  const auto calibration = calibration_for(plan.run);
  if (!calibration) return calibration.problems();
  const auto space = PlanSpace::make(plan.run, plan.accelerators, filters);
  if (!space) return space.problems();
  plan.layouts = space->size();
  const PlanQuestion question{plan.run, *calibration, *space, plan.headroom};
  const PlanFloors floors(question, how.threads,
                          part_of(how, plan.layouts, 0, kFloorsDone).progress);
  const PlanSearch first = part_of(how, plan.layouts, kFloorsDone, kSearchDone);
  const PlanBest best = how.exhaustive ? search(question, first) : search(question, floors, first);
  plan.proven = best.proven;
  for (const PlanPoint& point : best.points) {
    auto layout = planned(plan.run, point.index, space->layout_at(point.index));
    if (!layout) return layout.problems();
    plan.best.push_back(std::move(layout).value());
    plan.best.back().undecided =
        plan.best.size() > 1 && meet(plan.best.front().forecast.step_time_interval,
                                     plan.best.back().forecast.step_time_interval);
  }
  how.exhaustive = false;
  if (!plan.proven) return plan;
  if (task.found && !plan.best.empty()) task.found(plan);
  if (plan.best.empty()) {
    plan.remedies = remedies(question, filters, plan.accelerators,
                             part_of(how, plan.layouts, kSearchDone, kSearchDone));
  } else {
    explain(plan, question, floors, best.points, how);
  }
  return plan;
}

}  // namespace headway
