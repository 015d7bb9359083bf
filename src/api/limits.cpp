// headway limits.
#include "api/limits.hpp"

#include <utility>

#include "api/limits_beyond.hpp"
#include "api/limits_real.hpp"
#include "api/limits_report.hpp"

namespace headway {
namespace {

// What stands in for settings that cannot be read, so that flags which edit them are judged too.
const char* const kStandIn = "h100-sxm";

// Flags without meaning beside one another.
Problems misplaced_flags(const LimitsRequest& request) {
  Problems out;
  const auto refuse = [&](bool given, const char* flag, const char* why) {
    if (given) out.push_back({FieldName(flag), why});
  };
  if (request.real) {
    refuse(request.sensitivity, "sensitivity", "has no meaning with --real: ask for one of them");
    refuse(request.explain, "explain",
           "has no meaning with --real: it explains the idealised model");
  } else {
    refuse(!request.cluster.empty(), "cluster", "is of --real, which is missing");
  }
  if (request.sensitivity) {
    refuse(!request.rows.empty(), "rows", "writes models of a curve; --sensitivity has none");
    refuse(request.explain, "explain", "explains a curve; --sensitivity has none");
  }
  return out;
}

// The settings that are asked about, as flags edit them; or everything that is wrong.
Result<limits::Comparison> asked_settings(const LimitsRequest& request) {
  Problems problems = misplaced_flags(request);
  auto comparison = limits_settings(request);
  if (!comparison) {
    append(problems, comparison.problems());
    LimitsRequest flags = request;
    flags.loose_level.reset();  // levels are the machine's
    const auto machine = limits::embedded_machine(kStandIn);
    const std::vector<limits::Setting> stand_in = {limits::setting_on(*machine)};
    const auto beyond = with_beyond(stand_in, flags);
    if (!beyond) append(problems, beyond.problems());
    if (request.real) append(problems, real_problems(request, stand_in));
    return problems;
  }
  auto settings = with_beyond(comparison->settings, request);
  if (!settings) append(problems, settings.problems());
  if (request.real) {
    append(problems, real_problems(request, settings ? *settings : comparison->settings));
  }
  if (!problems.empty()) return problems;
  return limits::Comparison{comparison->name, comparison->title, std::move(settings).value()};
}

CommandOutput run_limits_curves(const LimitsRequest& request, limits::Comparison comparison) {
  // The curves.
  auto curves = limits_curves(comparison.settings, request.threads, request.progress);
  if (!curves) return {.problems = {{"limits", "was stopped", Trouble::stopped}}};
  const LimitsReport report{std::move(comparison.title), std::move(*curves)};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.rows.empty()) files.push_back({request.rows, limits_csv(report)});
  if (!request.plot.empty()) {
    for (OutputFile& file : limits_plots(report, request.plot + "/")) {
      files.push_back(std::move(file));
    }
  }
  if (Problems problems = write_files(files, request.plot); !problems.empty()) {
    return {.problems = std::move(problems)};
  }

  // What is shown; no answer where no setting has any feasible run.
  bool feasible = false;
  for (const LimitsCurve& of : report.curves) feasible |= !of.curve.runs.empty();
  std::string text = request.json ? limits_json(report)
                                  : limits_text(report) + relaxations_text(comparison.settings);
  if (request.explain && !request.json) text += limits_explanation(report);
  return {.text = std::move(text), .exit_code = feasible ? 0 : 1};
}

}  // namespace

CommandOutput run_limits(const LimitsRequest& request) {
  if (!request.report.empty()) return run_limits_report(request);
  auto comparison = asked_settings(request);
  if (!comparison) return {.problems = comparison.problems()};
  if (request.real) return run_limits_real(request, *comparison);
  if (request.sensitivity) return run_limits_sensitivity(request, *comparison);
  return run_limits_curves(request, std::move(comparison).value());
}

}  // namespace headway
