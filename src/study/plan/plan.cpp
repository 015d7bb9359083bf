#include "study/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "run/network_fields.hpp"
#include "step/frameworks/habits.hpp"
#include "study/plan/networks/networks.hpp"
#include "study/plan/setup.hpp"
#include "study/plan/space/fields.hpp"

namespace headway {
namespace {

constexpr std::uint64_t kMostExhaustive = 5'000'000;  // layouts of a network tried on request

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

// Searches all of it.
PlanWalks searching_all(const PlanSetup& setup, const PlanQuestion& question,
                        const PlanFloors& floors) {
  const auto part = [&setup](double from, double to) {
    PlanSearch how = setup.how;
    how.exhaustive = false;
    return part_of(how, setup.space.size(), from, to);
  };
  PlanWalks out;
  out.best = [&setup, &question, &floors] {
    const PlanSearch how = part_of(setup.how, setup.space.size(), kFloorsDone, kSearchDone);
    return how.exhaustive ? search(question, how) : search(question, floors, how);
  };
  out.alternatives = [&question, &floors, part](const std::vector<PlanPoint>& best) {
    return alternatives(question, floors, best, part(kSearchDone, kAlternativesDone));
  };
  out.roomy = [&question, &floors, part](const std::vector<PlanPoint>& best) {
    const Run run = with_endless_memory(question.run);
    return find({run, question.calibration, question.space, 0}, floors,
                {.limits = {PlanLimit{}}, .known = best}, part(kAlternativesDone, kRoomyDone))
        .best.front();
  };
  out.under_change = [&question, &floors, part](const PlanChange& change,
                                                const Calibration& calibration, std::size_t which,
                                                std::size_t of) {
    const double each = (1 - kRoomyDone) / static_cast<double>(of);
    const double from = kRoomyDone + each * static_cast<double>(which);
    return under_change(question, floors, change, calibration, part(from, from + each));
  };
  out.of_remedies = part(kSearchDone, kSearchDone);
  return out;
}

// What follows from the best layout.
void explain(Plan& plan, const PlanQuestion& question, const std::vector<PlanPoint>& best,
             const PlanWalks& walks) {
  plan.bounds = bounds_of(plan.best.front());
  PlanAlternatives others = walks.alternatives(best);
  plan.without = std::move(others.without);
  for (const PlanPoint& point : others.front) {
    plan.front.push_back({point, question.space.layout_at(point.index)});
  }
  const std::optional<PlanPoint> roomy = walks.roomy(best);
  if (roomy && roomy->index != best.front().index) {
    plan.roomy = PlannedPoint{*roomy, question.space.layout_at(roomy->index)};
  }
  const std::vector<PlanChange> changes = changes_of(plan.best.front().run);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const PlanChange& change = changes[i];
    const auto calibration = calibration_for(change.run);
    if (!calibration || !is_legal(change.run)) continue;
    if (auto sensitivity = walks.under_change(change, *calibration, i, changes.size())) {
      plan.sensitivity.push_back(std::move(*sensitivity));
    }
  }
}

}  // namespace

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

std::vector<PlanChange> changes_of(const Run& run) {
  std::vector<PlanChange> out = small_changes(run);
  if (auto older = one_generation_older(run)) out.push_back(std::move(*older));
  return out;
}

bool may_be_legal(const PlanSpace& space, Run changed) {
  return std::any_of(space.tuples().begin(), space.tuples().end(), [&](const DegreeTuple& tuple) {
    changed.layout = space.layout_at(tuple.first);
    return is_legal(changed);
  });
}

static Problem too_many(const Run& run, std::int64_t accelerators) {
  return Problem{FieldName("gpus"), count_text(static_cast<double>(accelerators)) +
                                        " are more than the " +
                                        count_text(static_cast<double>(run.cluster.accelerators)) +
                                        " accelerators of cluster " + run.cluster.name};
}

Result<PlanSetup> set_up(PlanTask task) {
  const std::int64_t accelerators = task.run.layout.ranks();
  if (accelerators > task.run.cluster.accelerators) return too_many(task.run, accelerators);
  auto calibration = calibration_for(task.run);
  if (!calibration) return calibration.problems();
  auto space = PlanSpace::make(task.run, accelerators, task.filters);
  if (!space) return space.problems();
  PlanSearch how = task.how;
  how.objective = objective_of(task.objective);
  return PlanSetup{std::move(task), std::move(how), std::move(calibration).value(),
                   std::move(space).value()};
}

Run with_endless_memory(const Run& run) {
  Run out = run;
  out.cluster.accelerator.memory = Bytes(1e18);
  return out;
}

namespace {

// The best layouts with their forecasts, and nothing that follows from them.
Result<Plan> plan_with(const PlanSetup& setup, const PlanBest& best) {
  const PlanTask& task = setup.task;
  Plan plan;
  plan.run = task.run;
  plan.objective = task.objective;
  plan.headroom = task.headroom;
  plan.notes = task.notes;
  plan.accelerators = setup.accelerators();
  plan.layouts = setup.space.size();
  plan.proven = best.proven;
  for (const PlanPoint& point : best.points) {
    auto layout = planned(plan.run, point.index, setup.space.layout_at(point.index));
    if (!layout) return layout.problems();
    plan.best.push_back(std::move(layout).value());
    plan.best.back().undecided =
        plan.best.size() > 1 && meet(plan.best.front().forecast.step_time_interval,
                                     plan.best.back().forecast.step_time_interval);
  }
  return plan;
}

// Tells of the best of a part of a space that takes long: places far from each other, so that kinds
// of layouts of all degrees are among them. The part takes its share of the time beside the whole.
void tell_of_a_part(const PlanSetup& setup) {
  const PlanTask& task = setup.task;
  constexpr std::uint64_t kSearchedInAMoment = 20'000'000, kLeastParts = 16;
  if (!task.found || !task.sooner || setup.space.size() <= kSearchedInAMoment) return;
  const std::uint64_t parts = std::max(kLeastParts, setup.space.size() / kSearchedInAMoment);
  const PlanQuestion question = setup.question({.index = 0, .of = parts});
  PlanSearch how = part_of(setup.how, setup.space.size(), 0, 0);
  how.exhaustive = false;
  PlanBest best = search(question, how);
  if (!best.proven || best.points.empty()) return;  // stopped, or nothing of the part fits
  best.proven = false;
  if (const auto plan = plan_with(setup, best)) task.found(*plan);
}

}  // namespace

Result<Plan> plan_by(const PlanSetup& setup, const PlanQuestion& question, const PlanWalks& walks) {
  const PlanTask& task = setup.task;
  const PlanBest best = walks.best();
  auto begun = plan_with(setup, best);
  if (!begun) return begun.problems();
  Plan plan = std::move(begun).value();
  if (!plan.proven) return plan;
  if (task.found && !plan.best.empty()) task.found(plan);
  if (plan.best.empty()) {
    plan.remedies = remedies(question, task.filters, plan.accelerators, walks.of_remedies);
  } else {
    explain(plan, question, best.points, walks);
  }
  return plan;
}

PlanObjective objective_of(std::string_view name) {
  if (name == "memory") return PlanObjective::memory;
  if (name == "energy") return PlanObjective::energy;
  return PlanObjective::time;
}

namespace {

// What a network is planned from: copies of it on all ranks, as its usual framework trains them.
RequestedRun plain_network(const RequestedRun& asked, std::int64_t accelerators) {
  RequestedRun run = asked;
  const bool said = std::any_of(run.given.begin(), run.given.end(),
                                [](const GivenField& field) { return field.name == "framework"; });
  if (!said) {
    run.job.framework = framework_of_networks();
    run.job.fused = !habits(run.job).kernels.eager;
  }
  run.layout.dp = accelerators;
  run.layout.micro_batch = std::max<std::int64_t>(1, run.job.global_batch / accelerators);
  run.layout.zero = 0;
  spread_tables(run.model, run.cluster, run.layout);
  return run;
}

// Filters as choices of one number; problems of those that are none.
Problems keep(const std::vector<PlanFilter>& filters, std::vector<NetworkChoice>& choices) {
  Problems problems;
  for (const PlanFilter& filter : filters) {
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
      return choice.row->field.name == filter.field;
    });
    const auto number = found == choices.end() || filter.most
                            ? std::nullopt
                            : number_of(found->row->field.form, filter.value);
    if (number) {
      found->numbers = {*number};
    } else {
      problems.push_back({filter.where,
                          filter.field + " is not searched of networks of modules; of these "
                                         "micro-batch, zero and recompute can be kept, and what "
                                         "splits classes and tables is given as in predict",
                          Trouble::unsupported});
    }
  }
  return problems;
}

std::string said_of(const NetworkPlan& found, std::uint64_t layouts, const std::string& objective) {
  if (found.exact) return "all layouts of the space were tried";
  std::string out = "of " + count_text(static_cast<double>(layouts)) + " layouts " +
                    count_text(static_cast<double>(found.tried)) +
                    " were tried: one choice after the other from three starts, so that a better "
                    "one is not excluded";
  if (found.best.empty() || (objective != "time" && objective != "throughput") ||
      !(found.floor > Seconds(0))) {
    return out;
  }
  return out + "; none can take less than " + to_text(found.floor) +
         " for its products at the peak rate, the best takes " +
         percent_text(found.best.front().value / found.floor.value()) + " of that";
}

// A network's space, and how it is searched.
struct NetworkTask {
  std::int64_t accelerators;
  Calibration calibration;
  RequestedRun run;
  std::vector<NetworkChoice> choices;
  NetworkSearch how;
};

Result<NetworkTask> task_of_network(const PlanTask& task) {
  const std::int64_t accelerators = task.run.layout.ranks();
  if (accelerators > task.run.cluster.accelerators) return too_many(task.run, accelerators);
  const auto calibration = calibration_for(task.run);
  if (!calibration) return calibration.problems();
  NetworkTask out{.accelerators = accelerators,
                  .calibration = *calibration,
                  .run = plain_network(task.run, accelerators),
                  .choices = {},
                  .how = {.headroom = task.headroom,
                          .top = static_cast<std::size_t>(task.how.top),
                          .threads = task.how.threads,
                          .progress = task.how.progress}};
  out.choices = network_choices(out.run);
  Problems problems = keep(task.filters, out.choices);
  if (!problems.empty()) return problems;
  if (task.how.exhaustive) out.how.most = kMostExhaustive;
  if (task.objective == "memory") out.how.by = NetworkSearch::By::memory;
  if (task.objective == "energy") out.how.by = NetworkSearch::By::energy;
  if (task.objective == kTablePlanner) out.how.by = NetworkSearch::By::planner;
  return out;
}

// Searched, or brought together from parts.
Result<NetworkPlan> found_of(const NetworkTask& of, const std::vector<PlanPart>& parts) {
  if (parts.empty()) return plan_network(of.run, of.choices, of.calibration, of.how);
  std::vector<NetworkPart> known;
  for (const PlanPart& part : parts) {
    if (part.network) known.push_back(*part.network);
  }
  auto out = known.size() == parts.size()
                 ? plan_network_of_parts(of.run, of.choices, of.calibration, of.how, known)
                 : std::nullopt;
  if (!out) return parts_of_another_space();
  return *std::move(out);
}

Result<Plan> plan_of_network(const PlanTask& task) {
  const auto of = task_of_network(task);
  if (!of) return of.problems();
  const auto found = found_of(*of, task.parts);
  if (!found) return found.problems();
  Plan plan;
  plan.run = of->run;
  plan.objective = task.objective;
  plan.headroom = task.headroom;
  plan.notes = task.notes;
  plan.accelerators = of->accelerators;
  plan.layouts = layouts_of(of->choices);
  plan.proven = !found->stopped;
  plan.all = found->exact;
  plan.notes.push_back(said_of(*found, plan.layouts, task.objective));
  for (const FoundLayout& each : found->best) {
    auto layout = planned(of->run, each.index, each.layout);
    if (!layout) return layout.problems();
    plan.best.push_back(std::move(layout).value());
    plan.best.back().undecided =
        plan.best.size() > 1 && meet(plan.best.front().forecast.step_time_interval,
                                     plan.best.back().forecast.step_time_interval);
  }
  if (plan.best.empty()) {
    plan.notes.push_back("the least that a rank holds of any is " + to_text(found->least_memory));
  } else {
    plan.bounds = bounds_of(plan.best.front());
  }
  return plan;
}

// What is refused before a space is made.
Problems unplannable(const PlanTask& task) {
  Problems problems = fields_of_other_models(task.run);
  if (!problems.empty()) return problems;
  if (task.objective == kTablePlanner && !has_tables(task.run.model)) {
    problems.push_back({FieldName("objective"),
                        "table-planner is of tables of embeddings, of which the model has none",
                        Trouble::unsupported});
  }
  return problems;
}

}  // namespace

Problem stopped_part() {
  return {"plan", "was stopped: of a part that is not whole nothing is written", Trouble::stopped};
}

Problem parts_of_another_space() {
  return {"merge",
          "what the parts say is not of this space: they were not made by this version of headway, "
          "or were changed since"};
}

Result<PlanPart> plan_part(PlanTask task, const Shard& part, std::shared_ptr<PlanPartsKept>& kept) {
  const Problems problems = unplannable(task);
  if (!problems.empty()) return problems;
  if (!task.run.model.is_network()) return plan_part_of_space(std::move(task), part, kept);
  const auto of = task_of_network(task);
  if (!of) return of.problems();
  auto found = plan_network_part(of->run, of->choices, of->calibration, of->how, part);
  if (!found) return stopped_part();
  PlanPart out;
  out.network = std::move(found);
  return out;
}

Result<Plan> plan_of(PlanTask task) {
  const Problems problems = unplannable(task);
  if (!problems.empty()) return problems;
  if (task.run.model.is_network()) return plan_of_network(task);
  const auto setup = set_up(std::move(task));
  if (!setup) return setup.problems();
  if (!setup->task.parts.empty()) return plan_of_parts(*setup);
  tell_of_a_part(*setup);
  const PlanQuestion question = setup->question();
  const PlanFloors floors(question, setup->how.threads,
                          part_of(setup->how, setup->space.size(), 0, kFloorsDone).progress);
  return plan_by(*setup, question, searching_all(*setup, question, floors));
}

}  // namespace headway
