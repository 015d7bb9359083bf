#include <algorithm>

#include "api/comms/parts.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "platform/paths.hpp"
#include "trace/analysis/steps.hpp"

namespace headway {
Problems warnings_of(const RunRecording& run) {
  Problems warnings = run.unread;
  for (const std::string& doubt : run.doubts) warnings.push_back({"traces", doubt});
  for (const Omission& omission : run.recording.omissions) {
    if (!omission.lost) continue;
    warnings.push_back({run.files.size() == 1 ? run.files.front() : "traces",
                        omission.what + " (" + std::to_string(omission.count) + ")"});
  }
  if (!run.not_traces.empty()) {
    std::vector<std::string> some = run.not_traces;
    constexpr std::size_t kShown = 5;
    const std::size_t more = some.size() > kShown ? some.size() - kShown : 0;
    some.resize(some.size() - more);
    for (std::string& name : some) name = printable(name, 120);
    warnings.push_back(
        {"passed over", join(some, ", ") +
                            (more > 0 ? " and " + std::to_string(more) + " more" : std::string()) +
                            (run.not_traces.size() == 1 ? ": no trace" : ": no traces")});
  }
  return warnings;
}

NamedOutputs outputs_of(const CommsRequest& request) {
  return {{FieldName("csv"), request.csv},
          {FieldName("csv-steps"), request.csv_steps},
          {FieldName("csv-kernels"), request.csv_kernels},
          {FieldName("save"), request.save}};
}

Problems named_twice(const NamedOutputs& outputs) {
  const auto same = [](const std::string& one, const std::string& other) {
    return plain_path(whole_path(one).value_or(one)) ==
               plain_path(whole_path(other).value_or(other)) ||
           is_same_file(one, other);
  };
  Problems problems;
  for (auto later = outputs.begin(); later != outputs.end(); ++later) {
    const bool twice = std::any_of(outputs.begin(), later, [&](const auto& earlier) {
      return !earlier.second.empty() && !later->second.empty() &&
             same(earlier.second, later->second);
    });
    if (!twice) continue;
    problems.push_back(
        {later->first, printable(later->second) + " is named twice; name another file"});
  }
  return problems;
}

Problems over_inputs(const RunRecording& run, const NamedOutputs& outputs) {
  Problems problems;
  for (const auto& [flag, path] : outputs) {
    for (const std::string& input : run.files) {
      if (path.empty() || !is_same_file(path, input)) continue;
      problems.push_back({flag, printable(path) + " is one of the traces; name another file"});
    }
  }
  return problems;
}

Problems cut_to_steps(Recording& recording, const std::string& steps) {
  if (steps.empty()) return {};
  const auto refused = [](std::string why) {
    return Problems{{FieldName("steps"), std::move(why)}};
  };
  const std::size_t dots = steps.find("..");
  const auto first = whole_number(steps.substr(0, dots));
  const auto last = dots == std::string::npos ? first : whole_number(steps.substr(dots + 2));
  if (!first || !last || *first < 0 || *last < *first) {
    return refused("'" + printable(steps) + "' names no steps: 10..20, or 7");
  }
  const RecordedSteps found = steps_of(recording);
  if (found.by == StepsBy::none) {
    return refused("the traces mark no steps, and their calls do not repeat");
  }
  if (!keep_steps(recording, found, *first, *last)) {
    const auto [least, most] = std::minmax_element(
        found.ranges.begin(), found.ranges.end(),
        [](const StepRange& a, const StepRange& b) { return a.number < b.number; });
    return refused("'" + printable(steps) + "' is not in the traces: they hold steps " +
                   std::to_string(least->number) + " to " + std::to_string(most->number) + ", by " +
                   std::string(to_name(found.by)));
  }
  return {};
}

Result<RunAndTraces> read_run_and_traces(const std::string& command, Problems problems,
                                         const std::string& file, const RunRequest& fields,
                                         const std::vector<std::string>& traces,
                                         const std::string& steps, const Progress& progress) {
  const auto given = read_run_request(file, fields);
  if (!given) append(problems, given.problems());
  auto run = make_run(given ? *given : fields);
  if (!run && problems.empty()) append(problems, run.problems());
  RunRecording read = read_run_traces(traces, progress);
  if (read.stopped) return Problem{command, "was stopped", Trouble::stopped};
  if (!traces.empty() && read.files.empty()) append(problems, read.unread);
  if (!read.files.empty()) append(problems, cut_to_steps(read.recording, steps));
  if (!problems.empty()) return problems;
  return RunAndTraces{std::move(run).value(), std::move(read)};
}

void refuse_timings(const CommsRequest& request, const std::string& why, Problems& problems) {
  if (!request.csv_steps.empty()) problems.push_back({FieldName("csv-steps"), why});
  if (!request.csv_kernels.empty()) problems.push_back({FieldName("csv-kernels"), why});
}

std::vector<Option> step_options(double& count, std::string& some) {
  return {{.name = "trace-steps",
           .value = "N",
           .help = "steps in the traces; default: found by marks, counts or repetition",
           .target = &count,
           .range = Range{1, 1'000'000},
           .checked = true},
          {.name = "steps",
           .value = "A..B",
           .help = "of the traces these steps alone, by the numbers that they mark",
           .target = &some}};
}

}  // namespace headway
