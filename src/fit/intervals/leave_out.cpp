#include "fit/intervals/leave_out.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/corpus/forecast.hpp"

namespace headway {
namespace {

using Name = std::function<std::string(const MeasuredRun&)>;

Forecast forecast_with(const StepConstants& constants, const MeasuredRun& run) {
  const Machine& machine = *run.run.machine;
  return forecast(run.run, in_step(machine.alone, constants, machine.cluster, machine.software));
}

// A group of runs that a fit does without.
struct LeftOutGroup {
  Name name_of;
  std::string name;
  std::vector<Forecast>* into;
};

}  // namespace

std::optional<LeftOutForecasts> leave_out(const std::vector<MeasuredRun>& runs,
                                          const StepConstants& estimates, int threads,
                                          const Progress& progress) {
  const QuickFits fits(runs, estimates, threads);
  LeftOutForecasts out;
  for (const MeasuredRun& run : runs) out.fitted.push_back(forecast_of(run.run));
  out.by_source.resize(runs.size());
  out.by_accelerator.resize(runs.size());
  out.by_framework.resize(runs.size());

  std::vector<LeftOutGroup> groups;
  const auto add = [&](const Name& name_of, std::vector<Forecast>& into) {
    std::set<std::string> names;
    for (const MeasuredRun& run : runs) names.insert(name_of(run));
    for (const std::string& name : names) groups.push_back({name_of, name, &into});
  };
  add([](const MeasuredRun& run) { return run.source; }, out.by_source);
  add([](const MeasuredRun& run) { return run.accelerator; }, out.by_accelerator);
  add([](const MeasuredRun& run) { return std::string(name_of(run.run.job.framework)); },
      out.by_framework);
  const bool done = for_each_index(
      groups.size(), threads,
      [&](std::size_t g, std::size_t) {
        const LeftOutGroup& group = groups[g];
        std::vector<bool> gone;
        for (const MeasuredRun& run : runs) gone.push_back(group.name_of(run) == group.name);
        const StepConstants constants = fits.without(gone);
        for (std::size_t i = 0; i < runs.size(); ++i) {
          if (gone[i]) (*group.into)[i] = forecast_with(constants, runs[i]);
        }
      },
      progress, /*grain=*/1);
  if (!done) return std::nullopt;
  return out;
}

std::string to_csv(const std::vector<MeasuredRun>& runs, const LeftOutForecasts& left_out) {
  std::string out =
      "id,source_key,accelerator,framework,software,architecture,recipe,ranks,parameters,sequence,"
      "measured_step_time_s,fitted_s,source_left_out_s,"
      "accelerator_left_out_s,framework_left_out_s,least_s,measured_memory_b,memory_left_out_b,"
      "experts";
  for (const PartRow& row : kParts) out += "," + std::string(row.name);
  out += ",assumed\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const MeasuredRun& run = runs[i];
    if (!run.step_time) continue;
    const Forecast& f = left_out.by_source[i];
    out += csv_cell(run.id) + "," + csv_cell(run.source) + "," + csv_cell(run.accelerator) + "," +
           std::string(name_of(run.run.job.framework)) + "," +
           formatted("%.6g", run.run.job.software) + "," +
           run.run.cluster.accelerator.architecture + "," + std::string(run.run.job.recipe->name) +
           "," + std::to_string(run.run.layout.ranks()) + "," +
           std::to_string(parameters(run.run.model).total) + "," +
           std::to_string(run.run.job.sequence);
    for (const double x :
         {*run.step_time, left_out.fitted[i].step_time.value(), f.step_time.value(),
          left_out.by_accelerator[i].step_time.value(), left_out.by_framework[i].step_time.value(),
          f.least_time.value(), run.memory.value_or(0), reported_memory(run.run, f).value(),
          run.run.model.kinds.back().experts ? 1.0 : 0.0}) {
      out += formatted(",%.9g", x);
    }
    for (const PartRow& row : kParts) out += formatted(",%.4g", f.parts[row.part] / f.step_time);
    out += "," + csv_cell(join(run.run.assumed, "; ")) + "\n";
  }
  return out;
}

}  // namespace headway
