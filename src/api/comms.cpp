#include "api/comms.hpp"

#include <algorithm>

#include "api/comms_expected_study.hpp"

namespace headway {

Result<RunRequest> fields_of(const GivenRun& given) {
  return read_run_request(given.run_file, given.fields);
}

CommandOutput run_comms(const CommsRequest& request) {
  // Files sorted into what describes a run and what was recorded.
  GivenRun given{.run_file = {}, .fields = request.fields};
  std::vector<std::string> traces = request.traces;
  for (const std::string& file : request.files) {
    if (!file.ends_with(".toml")) {
      traces.push_back(file);
    } else if (given.run_file.empty()) {
      given.run_file = file;
    } else {
      return {.problems = {{file, "is a second run file; one run can be asked about"}}};
    }
  }

  // Which of the questions is asked. A cluster alone is no run: with traces, it is the machine they
  // are of.
  const bool machine_only =
      !traces.empty() && std::all_of(given.fields.begin(), given.fields.end(),
                                     [](const GivenField& f) { return f.name == "cluster"; });
  const bool run = !given.run_file.empty() || (!given.fields.empty() && !machine_only);
  if (request.study || !request.report.empty()) {
    if (!run && traces.empty()) return comms_study(request);
    return {.problems = {{FieldName(request.study ? "study" : "report"),
                          "asks about runs of its own; leave the run and the traces out"}}};
  }
  if (run && !traces.empty()) return comms_compared(given, traces, request);
  if (!traces.empty()) return comms_measured(traces, request);
  return comms_expected(given, request);
}

}  // namespace headway
