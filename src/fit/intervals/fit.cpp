#include "fit/intervals/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/draw/table.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/intervals/spread.hpp"
#include "fit/statistics.hpp"

namespace headway {
namespace {

constexpr int kRounds = 1;  // of a search without a group, where there are some thirty of them

using Name = std::function<std::string(const MeasuredRun&)>;

Forecast forecast_with(const StepConstants& constants, const MeasuredRun& run) {
  const Machine& machine = *run.run.machine;
  return forecast(run.run, in_step(machine.alone, constants, machine.cluster, machine.software));
}

std::set<std::string> names_of(const std::vector<MeasuredRun>& runs, const Name& name_of) {
  std::set<std::string> out;
  for (const MeasuredRun& run : runs) out.insert(name_of(run));
  return out;
}

// Every run by constants fitted without its group. Nothing where `go_on` says to stop.
std::optional<std::vector<Forecast>> left_out_forecasts(const std::vector<MeasuredRun>& runs,
                                                        const StepConstants& estimates,
                                                        const Name& name_of, int threads,
                                                        const Progress& go_on) {
  const std::set<std::string> all = names_of(runs, name_of);
  const std::vector<std::string> names(all.begin(), all.end());
  std::vector<Forecast> out(runs.size());
  const bool done = for_each_index(
      names.size(), threads,
      [&](std::size_t group, std::size_t) {
        std::vector<MeasuredRun> others;
        for (const MeasuredRun& run : runs) {
          if (name_of(run) != names[group]) others.push_back(run);
        }
        const StepConstants constants =
            fit_steps(others, estimates, /*threads=*/1, kRounds).constants;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          if (name_of(runs[i]) == names[group]) out[i] = forecast_with(constants, runs[i]);
        }
      },
      go_on, /*grain=*/1);
  if (!done) return std::nullopt;
  return out;
}

double step_error(const Forecast& forecast, const MeasuredRun& run) {
  return forecast.step_time.value() / *run.step_time - 1;
}

// One line for each group of runs that `groups_of` names.
std::vector<Generalisation> generalisations(
    const std::vector<MeasuredRun>& runs, const std::vector<Forecast>& fitted,
    const std::vector<Forecast>& left_out,
    const std::function<std::vector<std::string>(const MeasuredRun&)>& groups_of) {
  std::map<std::string, std::array<std::vector<double>, 2>> errors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].step_time) continue;
    for (const std::string& name : groups_of(runs[i])) {
      errors[name][0].push_back(step_error(fitted[i], runs[i]));
      errors[name][1].push_back(step_error(left_out[i], runs[i]));
    }
  }
  std::vector<Generalisation> out;
  for (const auto& [name, both] : errors) {
    out.push_back({name, both[0].size(), summarise(both[0]), summarise(both[1]), {}});
  }
  return out;
}

// What is left of runs by constants, and as far from measured runs, as if their source were not
// known. `value_of` picks the logarithm of measured over predicted, where there is one.
std::vector<Residual> residuals(
    const std::vector<MeasuredRun>& runs, const std::vector<Forecast>& left_out,
    const std::function<std::optional<double>(const MeasuredRun&, const Forecast&)>& value_of) {
  std::map<std::string, Reach> elsewhere;
  for (const MeasuredRun& run : runs) elsewhere[run.source];
  for (auto& [source, reach] : elsewhere) {
    for (const MeasuredRun& run : runs) {
      if (run.source != source) reach.add(run.run);
    }
  }
  std::vector<Residual> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto value = value_of(runs[i], left_out[i]);
    if (!value) continue;
    out.push_back({runs[i].source, *value,
                   difficulties(elsewhere.at(runs[i].source), runs[i].run, left_out[i])});
  }
  return out;
}

}  // namespace

bool is_tuned(std::string_view source) {
  const std::vector<std::string>& tuned = corpus_rules().tuned;
  return std::find(tuned.begin(), tuned.end(), source) != tuned.end();
}

std::optional<IntervalFit> fit_intervals(const std::vector<MeasuredRun>& runs,
                                         const StepConstants& estimates, int threads,
                                         const Progress& progress) {
  const Name source_of = [](const MeasuredRun& run) { return run.source; };
  const Name accelerator_of = [](const MeasuredRun& run) { return run.accelerator; };
  // Sources come first, accelerators after them.
  const std::size_t sources = names_of(runs, source_of).size();
  const std::size_t fits = sources + names_of(runs, accelerator_of).size();
  const auto from = [&](std::size_t first) -> Progress {
    if (!progress) return {};
    return [&, first](std::size_t done, std::size_t) { return progress(first + done, fits); };
  };

  // Every run by constants fitted on all, without its source, without its accelerator.
  const StepConstants constants = fit_steps(runs, estimates, threads).constants;
  std::vector<Forecast> fitted;
  for (const MeasuredRun& run : runs) fitted.push_back(forecast_with(constants, run));
  const auto by_source = left_out_forecasts(runs, estimates, source_of, threads, from(0));
  if (!by_source) return std::nullopt;
  const auto by_accelerator =
      left_out_forecasts(runs, estimates, accelerator_of, threads, from(sources));
  if (!by_accelerator) return std::nullopt;

  // The errors of each group.
  IntervalFit out;
  out.sources = generalisations(runs, fitted, *by_source,
                                [](const MeasuredRun& run) { return std::vector{run.source}; });
  out.accelerators = generalisations(runs, fitted, *by_accelerator, [](const MeasuredRun& run) {
    return std::vector{run.accelerator};
  });
  out.classes = generalisations(runs, fitted, *by_source, [](const MeasuredRun& run) {
    return is_tuned(run.source) ? std::vector<std::string>{"all", "tuned"}
                                : std::vector<std::string>{"all"};
  });

  // The spread of what constants that did not see a source leave of it.
  const auto times = residuals(
      runs, *by_source, [](const MeasuredRun& run, const Forecast& f) -> std::optional<double> {
        if (!run.step_time) return std::nullopt;
        return std::log(*run.step_time / f.step_time.value());
      });
  const auto memories = residuals(
      runs, *by_source, [](const MeasuredRun& run, const Forecast& f) -> std::optional<double> {
        if (!run.memory) return std::nullopt;
        return std::log(*run.memory / reported_memory(run.run, f).value());
      });
  out.model.step_time = fit_spread(times);
  out.model.memory = fit_spread(memories);
  for (const MeasuredRun& run : runs) {
    const CorpusRun& r = run.run;
    out.model.reach.add(r);
  }
  const std::map<std::string, double> coverage = left_out_coverage(times);
  for (Generalisation& group : out.sources) {
    const auto found = coverage.find(group.name);
    if (found != coverage.end()) group.coverage = found->second;
  }
  for (Generalisation& group : out.classes) {
    double inside = 0;
    for (const Generalisation& source : out.sources) {
      if (group.name == "all" || is_tuned(source.name)) {
        inside += *source.coverage * static_cast<double>(source.rows);
      }
    }
    group.coverage = inside / static_cast<double>(group.rows);
  }
  return out;
}

std::string to_text(const IntervalFit& fit) {
  std::vector<std::vector<std::string>> table = {
      {"left out", "rows", "fitted", "p90", "left out", "p90", "bias", "in 80 %"},
      {"", "", "%", "%", "%", "%", "%", "%"}};
  const auto add = [&](const std::vector<Generalisation>& groups, const std::string& kind) {
    for (const Generalisation& group : groups) {
      table.push_back({kind + group.name, std::to_string(group.rows),
                       in_percent(group.fitted.median), in_percent(group.fitted.p90),
                       in_percent(group.left_out.median), in_percent(group.left_out.p90),
                       in_percent(group.left_out.bias, "%+.1f"),
                       group.coverage ? in_percent(*group.coverage) : "-"});
    }
  };
  add(fit.sources, "source ");
  add(fit.accelerators, "accelerator ");
  add(fit.classes, "each source of: ");
  return aligned(table);
}

}  // namespace headway
