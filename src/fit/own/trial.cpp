#include "fit/own/trial.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/random/random.hpp"
#include "fit/statistics.hpp"
#include "forecast/intervals/intervals.hpp"

namespace headway {
namespace {

constexpr int kRounds = 1;  // of a search without a source
constexpr std::size_t kFewestOthers = 3;
constexpr double kNormal = 1.4826;  // standard deviation of a normal law over its median deviation

Forecast forecast_with(const StepConstants& constants, const MeasuredRun& run) {
  const Machine& machine = *run.run.machine;
  Forecast out =
      forecast(run.run, in_step(machine.alone, constants, machine.cluster, machine.software));
  if (const auto& intervals = embedded_interval_model()) add_intervals(*intervals, run.run, out);
  return out;
}

// The runs with a time, by their setup.
std::vector<TriedSetup> by_setup(const std::vector<MeasuredRun>& runs,
                                 const std::vector<Forecast>& forecasts) {
  std::map<std::string, std::vector<TriedRun>> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MeasuredRun& run = runs[i];
    if (!run.step_time) continue;
    const Setup setup = setup_of(run.run.cluster.accelerator, run.run.job);
    const double time = forecasts[i].step_time.value();
    TriedRun tried{std::log(*run.step_time / time), 0, 0};
    if (const auto& interval = forecasts[i].step_time_interval) {
      tried.low = std::log(interval->low.value() / time);
      tried.high = std::log(interval->high.value() / time);
    }
    out[run.source + ": " + to_text(setup)].push_back(tried);
  }
  std::vector<TriedSetup> list;
  for (auto& [name, tried] : out) list.push_back({name, std::move(tried)});
  return list;
}

double median_of(std::vector<double> values) {
  return quantile(std::move(values), 0.5).value_or(0);
}

// Draws of `count` of `of`, the same everywhere.
class Draws {
 public:
  std::vector<std::size_t> shuffled(std::size_t of) {
    std::vector<std::size_t> out(of);
    for (std::size_t i = 0; i < of; ++i) out[i] = i;
    for (std::size_t i = 0; i + 1 < of; ++i) std::swap(out[i], out[i + below(of - i)]);
    return out;
  }

 private:
  std::size_t below(std::size_t most) { return static_cast<std::size_t>(numbers_.next() % most); }
  SplitMix numbers_{1};
};

// One draw's share of a trial: the others without and with what the given runs say.
void add_draw(OwnTrial& out, const OwnPrior& prior, const std::vector<TriedRun>& runs,
              const std::vector<std::size_t>& order, std::size_t given) {
  std::vector<double> residuals;
  for (std::size_t i = 0; i < given; ++i) residuals.push_back(runs[order[i]].residual);
  const Shrunk said = shrink(prior, residuals);
  const double factor = std::log(said.factor), others = static_cast<double>(runs.size() - given);
  std::vector<double> errors[2], widths[2];
  for (std::size_t i = given; i < runs.size(); ++i) {
    const TriedRun& run = runs[order[i]];
    for (const bool with : {false, true}) {
      const double left = run.residual - (with ? factor : 0), share = with ? said.interval : 1;
      errors[with].push_back(std::abs(std::expm1(-left)));
      widths[with].push_back(std::exp((run.high - run.low) * share));
      const bool inside = left >= run.low * share && left <= run.high * share;
      (with ? out.inside_with : out.inside_without) += inside ? 1 / others : 0;
    }
  }
  out.without += median_of(std::move(errors[0]));
  out.with += median_of(std::move(errors[1]));
  out.width_without += median_of(std::move(widths[0]));
  out.width_with += median_of(std::move(widths[1]));
}

constexpr double OwnTrial::*kNumbers[] = {&OwnTrial::without,        &OwnTrial::with,
                                          &OwnTrial::inside_without, &OwnTrial::inside_with,
                                          &OwnTrial::width_without,  &OwnTrial::width_with};

}  // namespace

std::vector<TriedSetup> setups_as_fitted(const std::vector<MeasuredRun>& runs) {
  std::vector<Forecast> forecasts;
  for (const MeasuredRun& run : runs) forecasts.push_back(forecast_with(*step_constants(), run));
  return by_setup(runs, forecasts);
}

std::optional<std::vector<TriedSetup>> setups_left_out(const std::vector<MeasuredRun>& runs,
                                                       const StepConstants& estimates, int threads,
                                                       const Progress& progress) {
  std::set<std::string> all;
  for (const MeasuredRun& run : runs) all.insert(run.source);
  const std::vector<std::string> sources(all.begin(), all.end());
  std::vector<Forecast> forecasts(runs.size());
  const bool done = for_each_index(
      sources.size(), threads,
      [&](std::size_t source, std::size_t) {
        std::vector<MeasuredRun> others;
        for (const MeasuredRun& run : runs) {
          if (run.source != sources[source]) others.push_back(run);
        }
        const StepConstants constants =
            fit_steps(others, estimates, /*threads=*/1, kRounds).constants;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          if (runs[i].source == sources[source]) forecasts[i] = forecast_with(constants, runs[i]);
        }
      },
      progress, /*grain=*/1);
  if (!done) return std::nullopt;
  return by_setup(runs, forecasts);
}

OwnPrior fit_own_prior(const OwnPrior& start, const std::vector<TriedSetup>& setups) {
  OwnPrior out = start;
  std::vector<double> centres, spreads;
  for (const TriedSetup& setup : setups) {
    if (setup.runs.size() < 2 * kFewestOthers) continue;
    std::vector<double> residuals, deviations;
    for (const TriedRun& run : setup.runs) residuals.push_back(run.residual);
    const double centre = median_of(residuals);
    for (const double residual : residuals) deviations.push_back(std::abs(residual - centre));
    centres.push_back(std::abs(centre));
    spreads.push_back(kNormal * median_of(std::move(deviations)));
  }
  if (centres.empty()) return out;
  out.between = kNormal * median_of(std::move(centres));
  out.within = median_of(std::move(spreads));
  return out;
}

OwnTrials try_own_runs(const OwnPrior& prior, const std::vector<TriedSetup>& setups,
                       std::size_t given, std::size_t draws) {
  OwnTrials out{given, draws, {}, {}};
  Draws drawn;
  for (const TriedSetup& setup : setups) {
    if (setup.runs.size() < given + kFewestOthers) continue;
    OwnTrial trial{.name = setup.name, .runs = setup.runs.size()};
    for (std::size_t i = 0; i < draws; ++i) {
      add_draw(trial, prior, setup.runs, drawn.shuffled(setup.runs.size()), given);
    }
    for (const auto number : kNumbers) trial.*number /= static_cast<double>(draws);
    out.all.runs += trial.runs;
    out.setups.push_back(std::move(trial));
  }
  out.all.name = "median setup";
  for (const auto number : kNumbers) {
    std::vector<double> values;
    for (const OwnTrial& trial : out.setups) values.push_back(trial.*number);
    out.all.*number = median_of(std::move(values));
  }
  return out;
}

std::string to_text(const OwnTrials& trials) {
  std::vector<std::vector<std::string>> table = {
      {"setup", "runs", "error", "with own", "change", "in 80 %", "with own", "width", "with own"},
      {"", "", "%", "%", "points", "%", "%", "", ""}};
  const auto add = [&](const OwnTrial& each) {
    table.push_back({each.name, std::to_string(each.runs), in_percent(each.without),
                     in_percent(each.with), in_percent(each.with - each.without, "%+.1f"),
                     in_percent(each.inside_without, "%.0f"), in_percent(each.inside_with, "%.0f"),
                     formatted("%.2f", each.width_without), formatted("%.2f", each.width_with)});
  };
  for (const OwnTrial& trial : trials.setups) add(trial);
  add(trials.all);
  return std::to_string(trials.given) + " runs of each setup given, " +
         std::to_string(trials.draws) + " draws, median error of its others\n" + aligned(table);
}

}  // namespace headway
