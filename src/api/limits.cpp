// headway limits.
#include "api/limits.hpp"

#include <utility>

#include "api/limits_beyond.hpp"

namespace headway {

CommandOutput run_limits(const LimitsRequest& request) {
  // The settings that are asked about.
  auto comparison = limits_settings(request);
  if (!comparison) return {.problems = comparison.problems()};
  auto settings = with_beyond(comparison->settings, request);
  if (!settings) return {.problems = settings.problems()};
  if (request.sensitivity) return run_limits_sensitivity(request, *settings);

  // Their curves.
  auto curves = limits_curves(*settings, request.threads, request.progress);
  if (!curves) return {.problems = {{"limits", "was stopped"}}};
  const LimitsReport report{comparison->title, std::move(*curves)};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, limits_csv(report)});
  if (!request.plot.empty()) {
    for (OutputFile& file : limits_plots(report, request.plot)) files.push_back(std::move(file));
  }
  if (Problems problems = write_files(files, request.plot); !problems.empty()) {
    return {.problems = std::move(problems)};
  }

  // What is shown; no answer where no setting has any feasible run.
  bool feasible = false;
  for (const LimitsCurve& of : report.curves) feasible |= !of.curve.runs.empty();
  std::string text =
      request.json ? limits_json(report) : limits_text(report) + relaxations_text(*settings);
  if (request.explain && !request.json) text += limits_explanation(report);
  return {.text = std::move(text), .exit_code = feasible ? 0 : 1};
}

}  // namespace headway
