// plan: from a request to the best layouts and what there is to say of them.
#include "api/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "api/launch.hpp"
#include "api/predict.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "study/plan_fields.hpp"

namespace headway {
namespace {

// Fields of a run that the search chooses: those of the space, and what runs call them otherwise.
bool is_searched(std::string_view name) {
  return plan_field(name) != nullptr || name == "no-sp" || name == "no-reshard";
}

// What of the request is fixed or limited, as filters of the space.
std::vector<PlanFilter> filters_of(const PlanRequest& request, Problems& problems) {
  std::vector<PlanFilter> out;
  for (const std::string& text : request.fixed) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      problems.push_back({"--fix", "'" + printable(text) + "' must be NAME=VALUE, as tp=8"});
      continue;
    }
    out.push_back(
        {text.substr(0, equals), text.substr(equals + 1), false, "--fix " + printable(text)});
  }
  for (const GivenField& field : request.most) {
    out.push_back({field.name, field.text, true, field.where + " " + printable(field.text)});
  }
  return out;
}

PlanObjective objective_of(std::string_view name, Problems& problems) {
  if (name == "memory") return PlanObjective::memory;
  if (name == "energy") return PlanObjective::energy;
  if (std::find(kObjectiveNames.begin(), kObjectiveNames.end(), name) == kObjectiveNames.end()) {
    problems.push_back(
        {"--objective",
         "'" + printable(name) + "' is not known; legal: " +
             join(std::vector<std::string>(kObjectiveNames.begin(), kObjectiveNames.end()), ", ")});
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
    problems.push_back({"--headroom", "'" + printable(text) +
                                          "' must be a share of the memory from "
                                          "0 up to, but not including, 100%, as 10%"});
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

// The generation before, of the same vendor.
constexpr std::pair<std::string_view, std::string_view> kOlder[] = {
    {"b300", "b200"},
    {"gb300", "gb200"},
    {"b200", "h200"},
    {"gb200", "gh200"},
    {"h200", "h100-sxm"},
    {"h100-sxm", "a100-80gb"},
    {"h100-pcie", "a100-pcie-80gb"},
    {"a100-80gb", "v100-32gb"},
    {"a100-40gb", "v100-32gb"},
    {"mi355x", "mi325x"},
    {"mi325x", "mi300x"},
    {"mi300x", "mi250x-gcd"},
    {"tpu7x", "tpu-v6e"},
    {"tpu-v5p", "tpu-v4"},
    {"tpu-v4", "tpu-v3"},
    {"trainium-2", "trainium-1"},
    {"gaudi-3", "gaudi-2"},
};

std::optional<PlanChange> one_generation_older(const Cluster& cluster) {
  for (const auto& [newer, older] : kOlder) {
    if (cluster.accelerator.name != newer) continue;
    auto accelerator = load_accelerator(std::string(older));
    if (!accelerator) return std::nullopt;
    PlanChange out{"the generation before (" + std::string(older) + ")", cluster};
    out.cluster.accelerator = std::move(accelerator).value();
    return out;
  }
  return std::nullopt;
}

// What follows from the best layout.
void explain(Plan& plan, const PlanQuestion& question, const std::vector<PlanFilter>& filters,
             const PlanSearch& how) {
  const Layout& winner = plan.best.front().run.layout;
  plan.bounds = bounds_of(plan.best.front());
  plan.without = without_features(question, filters, winner, how);

  Cluster endless = question.cluster;
  endless.accelerator.memory = Bytes(1e18);
  PlanSearch one = how;
  one.top = 1;
  const PlanBest roomy =
      search({question.model, question.job, endless, question.calibration, question.space, 0}, one);
  if (!roomy.points.empty() && roomy.points.front().index != plan.best.front().index) {
    plan.roomy =
        PlannedPoint{roomy.points.front(), question.space.layout_at(roomy.points.front().index)};
  }

  std::vector<PlanChange> changes = small_changes(question.cluster);
  if (auto older = one_generation_older(question.cluster)) changes.push_back(std::move(*older));
  for (const PlanChange& change : changes) {
    const auto calibration = calibration_for(change.cluster, question.job.software);
    if (!calibration || !is_legal(question.model, question.job, winner, change.cluster)) continue;
    if (auto sensitivity = under_change(question, change, *calibration, winner, how)) {
      plan.sensitivity.push_back(std::move(*sensitivity));
    }
  }
  const PlanFront front = pareto_front(question, how);
  for (const PlanPoint& point : front.points) {
    plan.front.push_back({point, question.space.layout_at(point.index)});
  }
}

}  // namespace

std::vector<std::string> plan_counts() {
  std::vector<std::string> out;
  for (const PlanField& field : plan_fields()) {
    if (field.counts) out.emplace_back(field.name);
  }
  return out;
}

Result<Plan> make_plan(const PlanRequest& request) {
  Problems problems;
  RunRequest fields;
  if (!request.run_file.empty()) {
    auto from_file = read_run_file(request.run_file);
    if (!from_file) return from_file.problems();
    fields = std::move(from_file).value();
  }
  fields.insert(fields.end(), request.fields.begin(), request.fields.end());
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
    problems.push_back({"--gpus", "is missing: on how many accelerators"});
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
    problems.push_back({"--top", "must be from 1 to 100"});
  }
  auto run = make_unsplit_run(fields);
  if (!run) append(problems, run.problems());
  if (!problems.empty()) return problems;
  plan.run = std::move(run).value();
  std::erase_if(plan.run.assumptions,
                [](const std::string& text) { return text.starts_with("zero "); });
  plan.accelerators = plan.run.layout.ranks();
  if (plan.accelerators > plan.run.cluster.accelerators) {
    return Problem{"--gpus", count_text(static_cast<double>(plan.accelerators)) +
                                 " are more than the " +
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
  const PlanBest best = search(question, how);
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
    plan.remedies = remedies(question, filters, plan.accelerators, how);
  } else {
    explain(plan, question, filters, how);
  }
  return plan;
}

}  // namespace headway
