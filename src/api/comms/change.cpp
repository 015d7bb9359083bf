// comms --compare: two recordings, before and after.
#include "report/comms/change.hpp"

#include <utility>

#include "api/comms/parts.hpp"
#include "platform/output.hpp"

namespace headway {
namespace {

// What has no meaning with two recordings.
Problems check_change(const CommsRequest& request, bool others) {
  Problems problems;
  if (request.compare.size() != 2) {
    problems.push_back({FieldName("compare"),
                        "takes two recordings, each a file or a folder: --compare BEFORE AFTER"});
  }
  const auto refuse = [&](bool given, const Where& where) {
    if (given) problems.push_back({where, "has no meaning with --compare"});
  };
  refuse(!request.save.empty(), FieldName("save"));
  refuse_timings(request, "has no meaning with --compare", problems);
  refuse(!request.plot.empty(), FieldName("plot"));
  refuse(!request.small.empty(), FieldName("small"));
  refuse(!request.clusters.empty(), FieldName("clusters"));
  refuse(request.study, FieldName("study"));
  refuse(!request.report.empty(), FieldName("report"));
  if (others) {
    problems.push_back({FieldName("compare"),
                        "sets two recordings beside each other; leave the run and further traces "
                        "out"});
  }
  return problems;
}

}  // namespace

CommandOutput comms_change(const CommsRequest& request, bool others) {
  if (Problems problems = check_change(request, others); !problems.empty()) {
    return {.problems = std::move(problems)};
  }

  // Both recordings, or all that is wrong with either.
  Problems problems, warnings;
  std::vector<ChangeRun> sides;
  for (const std::string& path : request.compare) {
    RunRecording read = read_run_traces({path}, request.progress);
    if (read.stopped) return {.problems = {{"comms", "was stopped", Trouble::stopped}}};
    if (read.files.empty()) append(problems, read.unread);
    append(problems, over_inputs(read, outputs_of(request)));
    append(warnings, warnings_of(read));
    if (!read.files.empty()) append(problems, cut_to_steps(read.recording, request.steps));
    sides.push_back(change_run(std::move(read)));
  }
  if (!problems.empty()) return {.problems = std::move(problems)};

  const auto change = change_between(std::move(sides[0]), std::move(sides[1]), request.trace_steps);
  if (!change) return {.problems = change.problems()};
  if (!request.csv.empty()) {
    problems = write_files({{request.csv, change_csv(*change)}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? change_json(*change) : change_text(*change),
          .warnings = std::move(warnings)};
}

}  // namespace headway
