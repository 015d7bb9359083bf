#include "fit/intervals/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/draw/table.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/intervals/guesses.hpp"
#include "fit/intervals/spread.hpp"
#include "fit/statistics.hpp"

namespace headway {
namespace {

using GroupsOf = std::function<std::vector<std::string>(const MeasuredRun&)>;

double step_error(const Forecast& forecast, const MeasuredRun& run) {
  return forecast.step_time.value() / *run.step_time - 1;
}

// One line for each group of runs that `groups_of` names.
std::vector<Generalisation> generalisations(const std::vector<MeasuredRun>& runs,
                                            const std::vector<Forecast>& fitted,
                                            const std::vector<Forecast>& left_out,
                                            const GroupsOf& groups_of) {
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

// What is left of runs by constants, and as far from measured runs, as if what `name_of` names were
// not known. `value_of` picks the logarithm of measured over predicted, where there is one.
using ValueOf = std::function<std::optional<double>(const MeasuredRun&, const Forecast&)>;
void add_residuals(const std::vector<MeasuredRun>& runs, const std::vector<Forecast>& left_out,
                   const std::function<std::string(const MeasuredRun&)>& name_of, double share,
                   const ValueOf& value_of, std::vector<Residual>& into) {
  std::map<std::string, Reach> elsewhere;
  for (const MeasuredRun& run : runs) elsewhere[name_of(run)];
  for (auto& [name, reach] : elsewhere) {
    for (const MeasuredRun& run : runs) {
      if (name_of(run) != name) reach.add(run.run);
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MeasuredRun& run = runs[i];
    const auto value = value_of(run, left_out[i]);
    if (!value) continue;
    const std::string name = name_of(run);
    const double least = std::log(left_out[i].least_time / left_out[i].step_time);
    into.push_back({run.source, name, *value,
                    difficulties(elsewhere.at(name), run.run, left_out[i], guesses_of(run.run)),
                    least, share});
  }
}

// Of runs without their source, those first, then without their accelerator or framework, which
// count half: they tell what is new of software and of machines.
std::vector<Residual> residuals(const std::vector<MeasuredRun>& runs,
                                const LeftOutForecasts& left_out, const ValueOf& value_of) {
  std::vector<Residual> out;
  add_residuals(
      runs, left_out.by_source, [](const MeasuredRun& run) { return run.source; }, 1, value_of,
      out);
  add_residuals(
      runs, left_out.by_accelerator,
      [](const MeasuredRun& run) { return "accelerator " + run.accelerator; }, 0.5, value_of, out);
  add_residuals(
      runs, left_out.by_framework,
      [](const MeasuredRun& run) {
        return "framework " + std::string(name_of(run.run.job.framework));
      },
      0.5, value_of, out);
  return out;
}

IntervalQuality quality_of(const std::vector<Held>& held, const std::vector<Held>& by_others) {
  IntervalQuality out;
  std::vector<double> widths;
  const auto rows = static_cast<double>(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    widths.push_back(std::exp(held[i].width));
    out.coverage += held[i].inside / rows;
    out.coverage_by_others += by_others[i].inside / rows;
    out.score += held[i].score / rows;
    out.score_by_others += by_others[i].score / rows;
  }
  out.width = quantile(widths, 0.5).value_or(0);
  out.width_p90 = quantile(widths, 0.9).value_or(0);
  return out;
}

std::vector<std::string> classes_of(const MeasuredRun& run) {
  if (is_tuned(run.source)) return {"all", "tuned"};
  return {"all"};
}

}  // namespace

bool is_tuned(std::string_view source) {
  const std::vector<std::string>& tuned = corpus_rules().tuned;
  return std::find(tuned.begin(), tuned.end(), source) != tuned.end();
}

IntervalFit fit_intervals(const std::vector<MeasuredRun>& runs, const LeftOutForecasts& left_out) {
  // The errors of each group.
  const GroupsOf by_class = classes_of,
                 by_source = [](const MeasuredRun&run) { return std::vector{run.source}; },
                 by_scale =
                     [](const MeasuredRun&run) {
                       return std::vector{scale_of(run.run.layout.ranks()).second};
                     },
                 by_accelerator = [](const MeasuredRun&run) {
                   return std::vector{run.accelerator};
                 };
  IntervalFit out;
  out.classes = generalisations(runs, left_out.fitted, left_out.by_source, by_class);
  out.scales = generalisations(runs, left_out.fitted, left_out.by_source, by_scale);
  out.sources = generalisations(runs, left_out.fitted, left_out.by_source, by_source);
  out.accelerators =
      generalisations(runs, left_out.fitted, left_out.by_accelerator, by_accelerator);

  // The spread of what constants leave of what they did not see.
  const auto times = residuals(
      runs, left_out, [](const MeasuredRun& run, const Forecast& f) -> std::optional<double> {
        if (!run.step_time) return std::nullopt;
        return std::log(*run.step_time / f.step_time.value());
      });
  const auto memories = residuals(
      runs, left_out, [](const MeasuredRun& run, const Forecast& f) -> std::optional<double> {
        if (!run.memory) return std::nullopt;
        return std::log(*run.memory / reported_memory(run.run, f).value());
      });
  out.model.step_time = fit_spread(times);
  out.model.memory = fit_spread(memories);
  for (const MeasuredRun& run : runs) {
    out.model.reach.add(run.run, run.step_time.has_value());
  }

  // How the intervals hold the runs whose source was left out: by that spread, and by the spread
  // that did not see them either.
  const std::vector<Held> held = held_by(out.model.step_time, times);
  const std::vector<Held> by_others = held_by_others(out.model.step_time, times);
  const auto add_quality = [&](std::vector<Generalisation>& groups, const GroupsOf& groups_of) {
    std::map<std::string, std::array<std::vector<Held>, 2>> members;
    std::size_t next = 0;  // those without their source stand first, in the order of the runs
    for (const MeasuredRun& run : runs) {
      if (!run.step_time) continue;
      for (const std::string& name : groups_of(run)) {
        members[name][0].push_back(held[next]);
        members[name][1].push_back(by_others[next]);
      }
      ++next;
    }
    for (Generalisation& group : groups) {
      const auto& [own, others] = members.at(group.name);
      group.intervals = quality_of(own, others);
    }
  };
  add_quality(out.classes, by_class);
  add_quality(out.scales, by_scale);
  add_quality(out.sources, by_source);
  return out;
}

std::string to_text(const IntervalFit& fit) {
  std::vector<std::vector<std::string>> table = {
      {"left out", "rows", "fitted", "p90", "left out", "p90", "bias", "in 80 %", "by others",
       "width", "p90", "score", "by others"},
      {"", "", "%", "%", "%", "%", "%", "%", "%", "", "", "", ""}};
  const auto add = [&](const std::vector<Generalisation>& groups, const std::string& kind) {
    for (const Generalisation& group : groups) {
      std::vector<std::string> line = {kind + group.name,
                                       std::to_string(group.rows),
                                       in_percent(group.fitted.median),
                                       in_percent(group.fitted.p90),
                                       in_percent(group.left_out.median),
                                       in_percent(group.left_out.p90),
                                       in_percent(group.left_out.bias, "%+.1f")};
      add_qualities(
          group.intervals, [](double share) { return in_percent(share); }, line);
      table.push_back(std::move(line));
    }
  };
  add(fit.sources, "source ");
  add(fit.accelerators, "accelerator ");
  add(fit.scales, "ranks ");
  add(fit.classes, "each source of: ");
  return aligned(table);
}

}  // namespace headway
