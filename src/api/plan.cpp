// plan: from a request to the best layouts and what there is to say of them.
#include "api/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "api/predict.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "launch/launch.hpp"
#include "study/plan/fields.hpp"

namespace headway {
namespace {

// Fields of a run that the search chooses: those of the space, and what runs call them otherwise.
bool is_searched(std::string_view name) {
  const auto fields = plan_fields();
  return plan_field(name) != nullptr ||
         std::any_of(fields.begin(), fields.end(),
                     [&](const PlanField& field) { return field.row->field.name == name; });
}

// What of the request is fixed or limited, as filters of the space.
std::vector<PlanFilter> filters_of(const PlanRequest& request, Problems& problems) {
  std::vector<PlanFilter> out;
  for (const std::string& text : request.fixed) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      problems.push_back({FieldName("fix"), "'" + printable(text) + "' must be NAME=VALUE, as tp=8",
                          Trouble::malformed});
      continue;
    }
    out.push_back({text.substr(0, equals), text.substr(equals + 1), false,
                   FieldName("fix", printable(text))});
  }
  for (const GivenField& field : request.most) {
    PlanFilter filter{field.name, field.text, true, field.where};
    for (FieldName& name : filter.where.fields) name.given = printable(field.text);
    out.push_back(std::move(filter));
  }
  return out;
}

PlanObjective objective_of(std::string_view name, Problems& problems) {
  if (name == "memory") return PlanObjective::memory;
  if (name == "energy") return PlanObjective::energy;
  if (std::find(kObjectiveNames.begin(), kObjectiveNames.end(), name) == kObjectiveNames.end()) {
    problems.push_back(
        {FieldName("objective"),
         "'" + printable(name) + "' is not known; legal: " +
             join(std::vector<std::string>(kObjectiveNames.begin(), kObjectiveNames.end()), ", "),
         Trouble::unknown});
  }
  // Of a given number of accelerators tokens/s of each and money follow the step time.
  return PlanObjective::time;
}

// "10%" or "0.1".
double headroom_of(std::string_view text, Problems& problems) {
  if (text.empty()) return 0;
  const bool hundredths = text.ends_with('%');
  std::string_view digits = hundredths ? text.substr(0, text.size() - 1) : text;
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  double value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (hundredths) value /= 100;
  if (error != std::errc() || end != digits.data() + digits.size() || !(value >= 0 && value < 1)) {
    problems.push_back({FieldName("headroom"),
                        "'" + printable(text) +
                            "' must be a share of the memory from "
                            "0 up to, but not including, 100%, as 10%",
                        Trouble::malformed});
    return 0;
  }
  return value;
}

// A layout with its whole forecast.
Result<PlannedLayout> planned(const Run& base, std::uint64_t index, const Layout& layout) {
  PlannedLayout out{.index = index, .run = base, .forecast = {}, .dollars = 0, .undecided = false};
  out.run.layout = layout;
  const RunRequest fields = layout_fields(layout);
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
  std::vector<PlanBound> out = {{"compute", f.parts.compute / f.step_time},
                                {"pipeline bubble", f.parts.bubble / f.step_time},
                                {"optimizer", f.parts.optimizer / f.step_time}};
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

std::optional<PlanChange> one_generation_older(const Cluster& cluster) {
  if (cluster.accelerator.previous.empty()) return std::nullopt;
  auto older = load_accelerator(cluster.accelerator.previous);
  if (!older) return std::nullopt;
  PlanChange out{"the generation before (" + older->name + ")", cluster, false};
  out.cluster.accelerator = std::move(older).value();
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
constexpr double kFloored = 0.25, kSearched = 0.35, kWithout = 0.55, kRoomy = 0.6, kChanged = 0.8;

// What follows from the best layout.
void explain(Plan& plan, const PlanQuestion& question, const PlanFloors& floors,
             const PlanSearch& whole) {
  const Layout& winner = plan.best.front().run.layout;
  plan.bounds = bounds_of(plan.best.front());
  const auto part = [&](double from, double to) { return part_of(whole, plan.layouts, from, to); };
  plan.without = without_features(question, floors, winner, part(kSearched, kWithout));

  Cluster endless = question.cluster;
  endless.accelerator.memory = Bytes(1e18);
  PlanSearch one = part(kWithout, kRoomy);
  one.top = 1;
  const PlanQuestion of_endless{question.model,       question.job,   endless,
                                question.calibration, question.space, 0};
  const PlanBest roomy = search(of_endless, PlanFloors(of_endless, one.threads, {}, &floors), one);
  if (!roomy.points.empty() && roomy.points.front().index != plan.best.front().index) {
    plan.roomy =
        PlannedPoint{roomy.points.front(), question.space.layout_at(roomy.points.front().index)};
  }

  std::vector<PlanChange> changes = small_changes(question.cluster);
  if (auto older = one_generation_older(question.cluster)) changes.push_back(std::move(*older));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const PlanChange& change = changes[i];
    const double each = (kChanged - kRoomy) / static_cast<double>(changes.size());
    const double from = kRoomy + each * static_cast<double>(i);
    const PlanSearch how = part(from, from + each);
    const auto calibration = calibration_for(change.cluster, question.job.software);
    if (!calibration || !is_legal(question.model, question.job, winner, change.cluster)) continue;
    if (auto sensitivity = under_change(question, floors, change, *calibration, winner, how)) {
      plan.sensitivity.push_back(std::move(*sensitivity));
    }
  }
  const PlanFront front = pareto_front(question, floors, part(kChanged, 1));
  for (const PlanPoint& point : front.points) {
    plan.front.push_back({point, question.space.layout_at(point.index)});
  }
}

}  // namespace

std::vector<std::string> plan_counts() {
  std::vector<std::string> out;
  for (const PlanField& field : plan_fields()) {
    if (field.counts()) out.emplace_back(field.name);
  }
  return out;
}

Result<Plan> make_plan(const PlanRequest& request) {
  Problems problems;
  auto given = read_run_request(request.run_file, request.fields);
  if (!given) return given.problems();
  RunRequest& fields = given.value();
  // A run's own layout is what is searched anew.
  Plan plan;
  std::string ignored;
  std::erase_if(fields, [&](const GivenField& field) {
    const bool searched = is_searched(field.name);
    if (searched) ignored += (ignored.empty() ? "" : ", ") + field.name;
    return searched;
  });
  if (!ignored.empty()) {
    plan.notes.push_back("searched anew, though given: " + ignored +
                         "; --fix NAME=VALUE keeps one");
  }
  const auto gpus = std::find_if(fields.begin(), fields.end(),
                                 [](const GivenField& field) { return field.name == "gpus"; });
  if (gpus == fields.end()) {
    problems.push_back(
        {FieldName("gpus"), "is missing: on how many accelerators", Trouble::missing});
  }
  const std::vector<PlanFilter> filters = filters_of(request, problems);
  append(problems, filter_problems(filters));
  PlanSearch how;
  how.objective = objective_of(request.objective, problems);
  how.top = request.top;
  how.exhaustive = request.exhaustive;
  how.threads = request.threads;
  how.progress = request.progress;
  plan.objective = request.objective;
  plan.headroom = headroom_of(request.headroom, problems);
  if (request.top < 1 || request.top > 100) {
    problems.push_back({FieldName("top"), "must be from 1 to 100"});
  }
  auto run = make_unsplit_run(fields);
  if (!run) append(problems, run.problems());
  if (!problems.empty()) return problems;
  plan.run = std::move(run).value();
  plan.accelerators = plan.run.layout.ranks();
  if (plan.accelerators > plan.run.cluster.accelerators) {
    return Problem{FieldName("gpus"),
                   count_text(static_cast<double>(plan.accelerators)) + " are more than the " +
                       count_text(static_cast<double>(plan.run.cluster.accelerators)) +
                       " accelerators of cluster " + plan.run.cluster.name};
  }

  const auto calibration = calibration_for(plan.run.cluster, plan.run.job.software);
  if (!calibration) return calibration.problems();
  const auto space = PlanSpace::make(plan.run.model, plan.run.job, plan.run.cluster,
                                     plan.accelerators, filters, plan.run.layout);
  if (!space) return space.problems();
  plan.layouts = space->size();
  const PlanQuestion question{plan.run.model, plan.run.job, plan.run.cluster,
                              *calibration,   *space,       plan.headroom};
  const PlanFloors floors(question, how.threads, part_of(how, plan.layouts, 0, kFloored).progress);
  const PlanSearch first = part_of(how, plan.layouts, kFloored, kSearched);
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
  if (plan.best.empty()) {
    plan.remedies = remedies(question, filters, plan.accelerators,
                             part_of(how, plan.layouts, kSearched, kSearched));
  } else {
    explain(plan, question, floors, how);
  }
  return plan;
}

}  // namespace headway
