// From a request to whole runs.
#include <algorithm>
#include <cmath>

#include "api/predict.hpp"
#include "api/scale.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

// A run whose step and settings are known.
Result<WholeRun> finished(Run run, Forecast forecast, ScaleSettings settings) {
  const auto& constants = step_constants();
  if (!constants) return constants.problems();
  WholeRun out{.run = std::move(run),
               .forecast = std::move(forecast),
               .settings = std::move(settings),
               .cost = {}};
  out.cost = run_cost(out.run.model, out.run.job, out.run.layout, out.run.cluster, out.forecast,
                      out.settings.assumed, constants->power);
  const double held = static_cast<double>(parameters(out.run.model).active);
  out.loss = loss_of(out.settings.loss, held, out.settings.assumed.tokens);
  out.critical_batch =
      out.settings.critical_batch.value_or(critical_batch(out.settings.critical_law, out.loss));
  out.batch =
      static_cast<double>(out.run.job.global_batch) * static_cast<double>(out.run.job.sequence);
  return out;
}

}  // namespace

void refuse_unknown(RunRequest& run, std::span<const RunField> more, Problems& problems) {
  std::vector<std::string> names;
  for (const auto fields : {run_fields(), scale_run_fields(), more}) {
    for (const RunField& field : fields) names.emplace_back(field.name);
  }
  std::erase_if(run, [&](const GivenField& given) {
    const bool known = std::find(names.begin(), names.end(), given.name) != names.end();
    if (!known) {
      problems.push_back(
          {given.where, "is not a known field" + suggestion(given.name, names), Trouble::unknown});
    }
    return !known;
  });
}

Result<WholeRun> whole_run(const RunRequest& request) {
  SplitRequest parts = split(request);
  Problems problems;
  refuse_unknown(parts.run, {}, problems);
  // Everything that is wrong, of the run and of the assumptions.
  auto run = make_run(parts.run);
  if (!run) append(problems, run.problems());
  const Cluster cluster = run ? run->cluster : Cluster();
  auto settings = scale_settings(parts.scale, cluster, run ? run->layout.ranks() : 1);
  if (!settings) append(problems, settings.problems());
  if (!problems.empty()) return problems;

  auto forecast = predict(*run);
  if (!forecast) return forecast.problems();
  return finished(std::move(run).value(), std::move(forecast).value(), std::move(settings).value());
}

ScaledRuns by_accelerators(const RunRequest& request, const WholeRun& base) {
  ScaledRuns out;
  const Layout& layout = base.run.layout;
  for (const bool grown : {false, true}) {
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
      const auto scaled = [&](std::int64_t value) {
        return static_cast<std::int64_t>(std::llround(static_cast<double>(value) * factor));
      };
      const std::int64_t dp = scaled(layout.dp);
      if (static_cast<double>(dp) != static_cast<double>(layout.dp) * factor || dp < 1) continue;
      if (dp * (layout.ranks() / layout.dp) > base.run.cluster.accelerators) continue;
      RunRequest changed = request;
      changed.push_back({"dp", std::to_string(dp)});
      changed.push_back({"gpus", std::to_string(dp * (layout.ranks() / layout.dp))});
      if (grown) {
        changed.push_back(
            {"global-batch", std::to_string(scaled(base.run.job.global_batch)), Where()});
        const double batch = base.batch * factor;
        const double more = token_factor(batch, base.critical_batch) /
                            token_factor(base.batch, base.critical_batch);
        char tokens[32];
        std::snprintf(tokens, sizeof tokens, "%.17g", base.settings.assumed.tokens * more);
        changed.push_back({"tokens", tokens, Where()});
      }
      auto whole = whole_run(changed);
      const std::string which =
          short_count_text(static_cast<double>(dp * (layout.ranks() / layout.dp))) +
          " accelerators" + (grown ? " with a grown batch " : " with the same batch ");
      if (!whole) {
        out.left_out.push_back(which + "(" + printable(where_text(whole.problems().front())) + " " +
                               printable(whole.problems().front().message, 200) + ")");
      } else if (!whole->forecast.fits) {
        out.left_out.push_back(which + "(do not fit in memory)");
      } else if (whole->cost.hopeless) {
        out.left_out.push_back(which + "(fail before a checkpoint)");
      } else {
        out.runs.push_back({factor, grown, std::move(whole).value()});
      }
    }
  }
  return out;
}

}  // namespace headway
