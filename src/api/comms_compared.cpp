#include "api/comms_compared.hpp"

#include <utility>

#include "api/comms.hpp"
#include "cost/calibration/calibration.hpp"
#include "platform/output.hpp"

namespace headway {
namespace {

// What is asked of the two together that only one of them can answer.
Problems check_flags(const CommsRequest& request) {
  Problems problems;
  if (!request.save.empty()) {
    problems.push_back(
        {FieldName("save"), "keeps what was measured; ask for it with traces and no run"});
  }
  if (!request.plot.empty()) {
    problems.push_back(
        {FieldName("plot"), "draws expected or measured calls; ask for one of them alone"});
  }
  if (request.trace_steps < 0) {
    problems.push_back({FieldName("trace-steps"), "must be a number of steps above 0"});
  }
  return problems;
}

}  // namespace

CommandOutput comms_compared(const GivenRun& given, const std::vector<std::string>& traces,
                             const CommsRequest& request) {
  // The run with the constants that price it, and the recording; or all that is wrong with either.
  Problems problems = check_flags(request);
  const auto fields = fields_of(given);
  if (!fields) append(problems, fields.problems());
  const auto run = make_run(fields ? *fields : given.fields);
  if (!run && problems.empty()) append(problems, run.problems());
  RunRecording read = read_run_traces(traces, request.progress);
  if (read.stopped) return {.problems = {{"comms", "was stopped", Trouble::stopped}}};
  if (read.files.empty()) append(problems, read.unread);
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto calibration = calibration_for(run->cluster, run->job.software);
  if (!calibration) return {.problems = calibration.problems()};

  // The comparison, and what a person should look at.
  Problems warnings = warnings_of(read);
  Compared compared{*run, std::move(read.recording), {}, {}};
  const ExpectedRun expected{run->model, run->job, run->layout, run->cluster, *calibration};
  compared.reconciliation = reconcile(compared.recording, expected, request.trace_steps);
  compared.verdict = verdict_of(compared.reconciliation, compared.recording, run->cluster);

  if (!request.csv.empty()) {
    problems = write_files({{request.csv, compared_csv(compared)}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? compared_json(compared) : compared_text(compared),
          .warnings = std::move(warnings)};
}

}  // namespace headway
