// comms: the three questions about the calls of a step, and the study of them.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

#include "api/commands.hpp"
#include "api/comms/parts.hpp"
#include "api/options.hpp"
#include "base/generated.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "report/comms/timings.hpp"
#include "report/comms_clusters.hpp"
#include "report/comms_compared.hpp"
#include "report/comms_expected.hpp"
#include "report/comms_measured.hpp"
#include "report/comms_study.hpp"
#include "trace/save.hpp"

namespace headway {
namespace {

// The fields of a run as given by a run file (empty: none) and by flags, which override them.
struct GivenRun {
  std::string run_file;
  RunRequest fields;
};

// All fields of the run, those of the file overridden by the flags.
Result<RunRequest> fields_of(const GivenRun& given) {
  return read_run_request(given.run_file, given.fields);
}

// What says how many steps traces hold, where they are set beside nothing.
void refuse_trace_steps(const CommsRequest& request, Problems& problems) {
  if (request.trace_steps == 0) return;
  problems.push_back({FieldName("trace-steps"), "is asked beside a run or with --compare"});
}

// ---- with a run: its expected calls ----

// Below which size a message is small; empty: where latency is more than half of its time.
Result<std::optional<Bytes>> small_below(const std::string& text) {
  if (text.empty()) return std::optional<Bytes>();
  const auto size = parse_quantity<Bytes>(text, FieldName("small"));
  if (!size) return size.problems();
  if (!(size->value() > 0))
    return Problem{FieldName("small"), "must be more than nothing, as 16 KiB is"};
  return std::optional<Bytes>(*size);
}

CommandOutput comms_expected(const GivenRun& given, const CommsRequest& request) {
  // What is asked for, or everything that is wrong with it.
  Problems problems;
  if (given.run_file.empty() && given.fields.empty()) {
    problems.push_back({"comms",
                        "needs a run (RUN.toml, or --model, --cluster, --gpus, --seq and "
                        "--global-batch), traces, or --study"});
    return {.problems = std::move(problems)};
  }
  if (!request.steps.empty()) {
    problems.push_back({FieldName("steps"), "is of traces, and there are none here"});
  }
  refuse_trace_steps(request, problems);
  refuse_timings(request, "is of traces, and there are none here", problems);
  if (!request.save.empty()) {
    problems.push_back({FieldName("save"),
                        "writes what was measured, and there are no traces here; --csv OUT.csv "
                        "writes the expected calls"});
  }
  const auto small = small_below(request.small);
  if (!small) append(problems, small.problems());
  const auto fields = fields_of(given);
  if (!fields) append(problems, fields.problems());
  const auto run = fields ? make_run(*fields) : Result<RequestedRun>(Problems{});
  if (fields && !run) append(problems, run.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The calls, with their times and sums.
  const auto expected = expected_calls(*run, *small);
  if (!expected) return {.problems = expected.problems()};

  // Everything that is to be written, in one piece.
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, expected_csv(*expected)});
  if (!request.plot.empty()) {
    auto plots = expected_plots(*expected, request.plot);
    std::move(plots.begin(), plots.end(), std::back_inserter(files));
  }
  if (Problems failed = write_files(files, request.plot); !failed.empty()) {
    return {.problems = std::move(failed)};
  }
  return {.text = request.json ? expected_json(*expected) : expected_text(*expected)};
}

// "a,b" as two names.
std::vector<std::string> names_between_commas(const std::vector<std::string>& lists) {
  std::vector<std::string> out;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      out.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return out;
}

// The same on other clusters.
CommandOutput comms_on_clusters(const GivenRun& given, const CommsRequest& request) {
  Problems problems;
  for (const auto& [name, path] : {std::pair{FieldName("save"), request.save},
                                   {FieldName("csv"), request.csv},
                                   {FieldName("plot"), request.plot},
                                   {FieldName("steps"), request.steps}}) {
    if (!path.empty()) problems.push_back({name, "has no meaning with --clusters"});
  }
  refuse_trace_steps(request, problems);
  refuse_timings(request, "has no meaning with --clusters", problems);
  const auto small = small_below(request.small);
  if (!small) append(problems, small.problems());
  const auto fields = fields_of(given);
  if (!fields) append(problems, fields.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};
  const auto runs = calls_on_clusters(*fields, names_between_commas(request.clusters), *small);
  if (!runs) return {.problems = runs.problems()};
  const bool none = std::none_of(runs->begin(), runs->end(),
                                 [](const CallsOnCluster& run) { return run.calls.ok(); });
  if (none) {  // what is wrong with the run itself
    for (const CallsOnCluster& run : *runs) {
      for (const Problem& problem : run.calls.problems()) {
        if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
          problems.push_back(problem);
        }
      }
    }
    return {.problems = std::move(problems)};
  }
  return {.text = request.json ? clusters_json(*runs) : clusters_text(*runs)};
}

// ---- with traces: the measured calls ----

// The database, the table and the drawings: all of them or none.
Problems write(const Measured& measured, const Cluster* cluster, const CommsRequest& request) {
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, measured_csv(measured)});
  if (!request.csv_steps.empty()) files.push_back({request.csv_steps, steps_csv(measured)});
  if (!request.csv_kernels.empty()) files.push_back({request.csv_kernels, kernels_csv(measured)});
  if (!request.plot.empty()) {
    for (OutputFile& file : measured_plots(measured, cluster, request.plot)) {
      files.push_back(std::move(file));
    }
  }
  const std::string draft = request.save.empty() ? std::string() : request.save + ".part";
  std::remove(draft.c_str());
  Problems problems;
  if (!draft.empty()) {
    problems = save_recording(measured.recording(), measured.alignment, draft);
    for (Problem& problem : problems) problem.place.file = printable(request.save);
  }
  if (problems.empty()) problems = write_files(files, request.plot);
  if (problems.empty() && !draft.empty() && std::rename(draft.c_str(), request.save.c_str()) != 0) {
    problems.push_back({printable(request.save), "cannot be written"});
  }
  if (!problems.empty() && !draft.empty()) std::remove(draft.c_str());
  return problems;
}

// Tables that would be empty.
Problems check_timings(const Measured& measured, const CommsRequest& request) {
  Problems problems;
  if (!request.csv_steps.empty() && measured.step_rows.empty()) {
    problems.push_back({FieldName("csv-steps"),
                        "the traces mark no steps with times, and their calls do not repeat"});
  }
  const KernelTable& kernels = measured.kernels;
  if (!request.csv_kernels.empty() && kernels.kernels.empty() && kernels.products.empty()) {
    problems.push_back({FieldName("csv-kernels"), "the traces hold no kernels with names"});
  }
  return problems;
}

CommandOutput comms_measured(const std::vector<std::string>& traces, const CommsRequest& request) {
  // Everything that is wrong with the request.
  Problems problems;
  std::optional<Cluster> cluster;
  for (const GivenField& field : request.fields) {
    if (field.name != "cluster") continue;
    auto loaded = load_cluster(field.text);
    if (loaded) {
      cluster = std::move(loaded).value();
    } else {
      append(problems, loaded.problems());
    }
  }
  if (!request.save.empty()) append(problems, may_save_to(request.save));
  refuse_trace_steps(request, problems);
  const NamedOutputs outputs = outputs_of(request);
  const Problems twice = named_twice(outputs);
  append(problems, twice);
  if (!twice.empty()) return {.problems = std::move(problems)};

  // The recording of all files that can be read; the others are warnings, or the end.
  RunRecording run = read_run_traces(traces, request.progress);
  if (run.stopped) return {.problems = {{"comms", "was stopped", Trouble::stopped}}};
  if (run.files.empty()) append(problems, run.unread);
  if (!run.files.empty()) append(problems, cut_to_steps(run.recording, request.steps));
  append(problems, over_inputs(run, outputs));
  if (!problems.empty()) return {.problems = problems};
  Problems warnings = warnings_of(run);

  // What follows from it, written where it was asked for.
  const Measured measured = measure(std::move(run), cluster ? &*cluster : nullptr);
  problems = check_timings(measured, request);
  if (problems.empty()) problems = write(measured, cluster ? &*cluster : nullptr, request);
  if (!problems.empty()) return {.problems = problems};

  return {
      .text = request.json ? measured_json(measured, request.timeline) : measured_text(measured),
      .warnings = std::move(warnings)};
}

// ---- with both: the two compared ----

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
  refuse_timings(request, "is of what was measured; ask for it with traces and no run", problems);
  return problems;
}

CommandOutput comms_compared(const GivenRun& given, const std::vector<std::string>& traces,
                             const CommsRequest& request) {
  // The run and the recording, or all that is wrong with either.
  auto both = read_run_and_traces("comms", check_flags(request), given.run_file, given.fields,
                                  traces, request.steps, request.progress);
  if (!both) return {.problems = both.problems()};
  if (Problems problems = over_inputs(both->read, outputs_of(request)); !problems.empty()) {
    return {.problems = std::move(problems)};
  }

  // The comparison, and what a person should look at.
  Problems warnings = warnings_of(both->read);
  const auto compared = compare(both->run, std::move(both->read.recording), request.trace_steps);
  if (!compared) return {.problems = compared.problems()};

  if (!request.csv.empty()) {
    Problems problems = write_files({{request.csv, compared_csv(*compared)}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  return {.text = request.json ? compared_json(*compared) : compared_text(*compared),
          .warnings = std::move(warnings)};
}

// ---- with neither: the study ----

CommandOutput comms_study(const CommsRequest& request) {
  Problems problems;
  const auto refuse = [&](bool given, const Where& where) {
    if (given) problems.push_back({where, "has no meaning with --study and --report"});
  };
  refuse(!request.save.empty(), FieldName("save"));
  refuse(!request.csv.empty(), FieldName("csv"));
  refuse(!request.plot.empty(), FieldName("plot"));
  refuse(!request.small.empty(), FieldName("small"));
  refuse(!request.steps.empty(), FieldName("steps"));
  refuse_trace_steps(request, problems);
  refuse_timings(request, "has no meaning with --study and --report", problems);
  if (!problems.empty()) return {.problems = std::move(problems)};

  // Every run of the study.
  const auto study = communication_study();
  if (!study) return {.problems = study.problems()};

  // The page and its plots, in one piece.
  if (!request.report.empty()) {
    const auto page = page_to_renew(request.report, "communication.md");
    if (!page) return {.problems = page.problems()};
    const auto renewed = with_generated(page->text, page->path, study_blocks(*study));
    if (!renewed) return {.problems = renewed.problems()};
    std::vector<OutputFile> files = study_plots(*study, request.report + "/communication");
    files.insert(files.begin(), {page->path, *renewed});
    Problems failed = write_files(files, request.report + "/communication");
    if (!failed.empty()) return {.problems = std::move(failed)};
  }
  return {.text = request.json ? study_json(*study) : study_text(*study)};
}

// `alone`: there are traces, and nothing beside them.
Problems timeline_refused(const CommsRequest& request, bool alone) {
  if (!request.timeline) return {};
  if (!alone || request.study || !request.report.empty() || !request.compare.empty()) {
    return {
        {FieldName("timeline"), "is of traces on their own; leave out all that is beside them"}};
  }
  if (!request.json) {
    return {{FieldName("timeline"), "is part of the JSON; give --json"}};
  }
  return {};
}

}  // namespace

CommandOutput run_comms(const CommsRequest& request) {
  // Files sorted into what describes a run and what was recorded.
  GivenRun given{.run_file = {}, .fields = request.fields};
  std::vector<std::string> traces = request.traces;
  for (const std::string& file : request.files) {
    if (!is_run_file(file)) {
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
  if (Problems problems = timeline_refused(request, !traces.empty() && !run); !problems.empty()) {
    return {.problems = std::move(problems)};
  }
  if (!request.compare.empty()) {
    const bool others = !given.run_file.empty() || !given.fields.empty() || !traces.empty();
    return comms_change(request, others);
  }
  if (request.study || !request.report.empty()) {
    if (!run && traces.empty()) return comms_study(request);
    return {.problems = {{FieldName(request.study ? "study" : "report"),
                          "asks about runs of its own; leave the run and the traces out"}}};
  }
  if (!request.clusters.empty()) {
    if (traces.empty()) return comms_on_clusters(given, request);
    return {.problems = {{FieldName("clusters"), "asks of a run; leave the traces out"}}};
  }
  if (run && !traces.empty()) return comms_compared(given, traces, request);
  if (!traces.empty()) return comms_measured(traces, request);
  return comms_expected(given, request);
}
Command comms_command() {
  auto request = std::make_shared<CommsRequest>();
  Command out{.name = "comms",
              .help = "the calls of a step: expected, measured from traces, or both compared",
              .examples = {"headway comms --model llama-2-7b --cluster frontier --gpus 64 --seq "
                           "2048 \\\n    --global-batch 256 --micro-batch 4 --zero 1"},
              .doing = "reading",
              .things = "bytes"};
  out.options = {
      operand("FILE", "a run file (.toml), or traces of one run, of any known format",
              &request->files),
      path("trace", "TRACE", "traces to compare with what the run is expected to do",
           &request->traces),
      path("compare", "RECORDING", "two recordings, before and after: what changed, the most first",
           &request->compare)};
  add(out.options, step_options(request->trace_steps, request->steps));
  add_fields(out.options, request->fields, run_fields());
  add(out.options,
      {path("csv", "OUT.csv", "write the calls to this file", &request->csv),
       path("csv-steps", "OUT.csv", "write every measured step of every rank to this file",
            &request->csv_steps),
       path("csv-kernels", "OUT.csv", "write the measured kernels and products to this file",
            &request->csv_kernels),
       path("save", "RUN.sqlite", "write what was measured to a database", &request->save),
       path("plot", "DIR", "draw to this folder", &request->plot),
       wordless("timeline", "with --json: every measured kernel and call in its place",
                request->timeline),
       {.name = "small",
        .value = "SIZE",
        .help = "messages below this size are small; default: where latency is more than half of "
                "the time",
        .target = &request->small},
       {.name = "clusters",
        .value = "LIST",
        .help = "the same run on each of these clusters, beside one another",
        .target = &request->clusters,
        .names = cluster_names,
        .built_in = "cluster"},
       wordless("study", "the communication study, of its models on its cluster", request->study),
       path("report", "DIR",
            "renew the generated tables of DIR/communication.md and the plots beside it",
            &request->report)});
  out.run = [request](const Circumstances& at) -> CommandOutput {
    adopt(*request, at);
    if (!at.traces.empty()) request->traces = at.traces;
    // Both read or work before they judge.
    const bool reads = !request->traces.empty() || !request->compare.empty();
    if (at.refused && (request->study || reads)) return {};
    return run_comms(*request);
  };
  return out;
}

}  // namespace headway
