#include "api/comms_measured.hpp"

#include <cstdio>
#include <optional>
#include <utility>

#include "api/comms.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "platform/paths.hpp"
#include "trace/save.hpp"

namespace headway {
namespace {

// Outputs that would take the place of what is read.
Problems over_inputs(const RunRecording& run, const CommsRequest& request) {
  Problems problems;
  for (const auto& [flag, path] :
       {std::pair{FieldName("csv"), request.csv}, {FieldName("save"), request.save}}) {
    for (const std::string& input : run.files) {
      if (path.empty() || !is_same_file(path, input)) continue;
      problems.push_back({flag, printable(path) + " is one of the traces; name another file"});
    }
  }
  return problems;
}

// The database, the table and the drawings: all of them or none.
Problems write(const Measured& measured, const Cluster* cluster, const CommsRequest& request) {
  std::vector<OutputFile> files;
  if (!request.csv.empty()) files.push_back({request.csv, measured_csv(measured)});
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
    problems.push_back({printable(request.save), "cannot be written", Trouble::unreadable});
  }
  if (!problems.empty() && !draft.empty()) std::remove(draft.c_str());
  return problems;
}

}  // namespace

Measured measure(RunRecording run) {
  Measured measured;
  measured.run = std::move(run);
  const Recording& recording = measured.recording();
  measured.alignment = align(recording);
  measured.grouped = name_whole_group(measured.run.recording, measured.alignment);
  complete_sizes(measured.run.recording);
  const std::vector<std::uint32_t> alike = alike_groups(recording);
  measured.calls = call_table(recording, alike);
  measured.waiting = waiting_table(recording, measured.alignment, alike);
  // Without computation on record nothing can be said of what it hides.
  if (!recording.compute.empty()) measured.overlap = overlap_of(recording);
  for (const RecordedCall& call : recording.calls) {
    const bool message = call.bytes && call.time != TimeKind::benchmark;
    if (message) measured.sizes.add(*call.bytes, call.count);
  }
  measured.notes = notes_on(measured);
  return measured;
}

std::vector<std::int64_t> collective_of_calls(const Measured& measured) {
  std::vector<std::int64_t> out(measured.recording().calls.size(), -1);
  std::int64_t number = 0;
  for (const MatchedCall& matched : measured.alignment.matched) {
    for (const std::size_t call : matched.calls) out[call] = number;
    ++number;
  }
  return out;
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

  // The recording of all files that can be read; the others are warnings, or the end.
  RunRecording run = read_run_traces(traces, request.progress);
  if (run.stopped) return {.problems = {{"comms", "was stopped", Trouble::stopped}}};
  if (run.files.empty()) append(problems, run.unread);
  append(problems, over_inputs(run, request));
  if (!problems.empty()) return {.problems = problems};
  Problems warnings = warnings_of(run);

  // What follows from it, written where it was asked for.
  const Measured measured = measure(std::move(run));
  problems = write(measured, cluster ? &*cluster : nullptr, request);
  if (!problems.empty()) return {.problems = problems};

  return {.text = request.json ? measured_json(measured) : measured_text(measured),
          .warnings = std::move(warnings)};
}

}  // namespace headway
