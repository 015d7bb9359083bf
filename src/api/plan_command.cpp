// headway plan: what it prints and writes.
#include <algorithm>

#include "api/plan.hpp"
#include "base/text.hpp"
#include "launch/launch.hpp"
#include "platform/output.hpp"
#include "report/launch.hpp"

namespace headway {
namespace {

// The launcher that is asked for; it tells the framework of a run without one.
Result<std::optional<Launcher>> launcher_of(PlanRequest& request) {
  if (request.emit.empty()) return std::optional<Launcher>();
  const auto found = std::find(kLauncherNames.begin(), kLauncherNames.end(), request.emit);
  if (found == kLauncherNames.end()) {
    return Problem{
        FieldName("emit"),
        "'" + printable(request.emit) + "' is not known; legal: " +
            join(std::vector<std::string>(kLauncherNames.begin(), kLauncherNames.end()), ", "),
        Trouble::unknown};
  }
  const auto launcher = static_cast<Launcher>(found - kLauncherNames.begin());
  const bool given = std::any_of(request.fields.begin(), request.fields.end(),
                                 [](const GivenField& field) { return field.name == "framework"; });
  if (!given && request.run_file.empty()) {
    const std::string_view framework = kLauncherFrameworks[static_cast<std::size_t>(launcher)];
    request.fields.push_back({"framework", std::string(framework), FieldName("emit")});
  }
  return std::optional(launcher);
}

}  // namespace

CommandOutput run_plan(const PlanRequest& asked) {
  PlanRequest request = asked;
  const auto launcher = launcher_of(request);
  if (!launcher) return {.problems = launcher.problems()};
  const auto plan = make_plan(request);
  if (!plan) return {.problems = plan.problems()};

  // What was asked for beside the answer.
  std::vector<OutputFile> files;
  if (!request.plot.empty() && !plan->front.empty()) {
    files.push_back({request.plot + "/plan.svg", plan_svg(*plan)});
  }
  if (!request.save.empty() && !plan->best.empty()) {
    files.push_back({request.save, run_file_text(plan->best.front().run, request.save)});
  }
  std::string text = request.json ? plan_json(*plan) : plan_text(*plan);
  if (*launcher && !plan->best.empty()) {
    const auto written = launch_files(plan->best.front().run, **launcher);
    if (!written) return {.problems = written.problems()};
    text = request.json ? launch_json(**launcher, *written) : launch_text(*written);
  }
  Problems problems = write_files(files, request.plot);
  if (!problems.empty()) return {.problems = std::move(problems)};
  Problems warnings;
  if (!plan->proven && (*launcher || !request.save.empty())) {
    warnings.push_back({"plan", "stopped: what is written is the best so far, not proven"});
  }
  return {.text = std::move(text),
          .exit_code = plan->best.empty() ? 1 : 0,
          .warnings = std::move(warnings)};
}

}  // namespace headway
