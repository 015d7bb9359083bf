// simulate recording: a recorded step run again, as it was and on another network.
#include "report/simulate/recording.hpp"

#include "api/commands.hpp"
#include "api/options.hpp"
#include "api/simulate/algorithms.hpp"
#include "cluster/load.hpp"
#include "platform/files.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

// What describes the links of a topology alone.
Problems check_alone(const SimulateRecordingRequest& request) {
  Problems out;
  const network::CollectiveText& on = request.on;
  const auto needs_topology = [&](bool given, const char* option) {
    if (given && on.topology.empty()) {
      out.push_back({FieldName(option), "describes a --topology, and none is given"});
    }
  };
  needs_topology(!on.algorithm.empty(), "algorithm");
  needs_topology(!on.bandwidth.empty(), "bandwidth");
  needs_topology(!on.latency.empty(), "latency");
  needs_topology(on.ranks.has_value(), "ranks");
  needs_topology(on.chunks.has_value(), "chunks");
  needs_topology(on.seed != 0, "seed");
  if (request.cluster && !on.topology.empty()) {
    out.push_back({FieldName("cluster"), "stands beside --topology; name one network"});
  }
  return out;
}

// The other network; none where none is asked for.
Result<std::optional<OtherNetwork>> network_of(const SimulateRecordingRequest& request,
                                               std::int64_t ranks) {
  OtherNetwork out;
  if (request.cluster) {
    auto cluster = load_cluster(*request.cluster);
    if (!cluster) return cluster.problems();
    out.cluster = std::move(cluster).value();
    return std::optional(std::move(out));
  }
  if (request.on.topology.empty()) return std::optional<OtherNetwork>();
  network::CollectiveText on = request.on;
  std::optional<Result<Document>> file;
  const bool of_file = network::names_topology_file(on.topology);
  if (of_file) file = read_document(on.topology);
  // What has no size of its own has as many ranks as the run.
  if (!of_file && !on.ranks && on.topology.find(':') == std::string::npos) on.ranks = ranks;
  auto links = network::read_network_of(on, file);
  if (!links) return links.problems();
  out.links = std::move(links).value();
  return std::optional(std::move(out));
}

}  // namespace

CommandOutput run_simulate_recording(const SimulateRecordingRequest& request) {
  // What was recorded and the network, or everything that is wrong with either.
  Problems problems = check_alone(request);
  if (request.files.empty()) {
    problems.push_back({"simulate recording", "needs traces of a run", Trouble::missing});
  }
  RunRecording run = read_run_traces(request.files, request.progress);
  if (run.stopped) return {.problems = {{"simulate recording", "was stopped", Trouble::stopped}}};
  append(problems, run.unread);
  const auto other = network_of(request, ranks_of_run(run.recording));
  if (!other) append(problems, other.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  // As it was, and there.
  const auto simulated = simulate_recording(run.recording, *other);
  if (!simulated) return {.problems = simulated.problems()};
  Problems warnings;
  for (const std::string& doubt : run.doubts) warnings.push_back({"traces", doubt});
  return {.text = request.json ? simulate_recording_json(*simulated)
                               : simulate_recording_text(*simulated),
          .warnings = std::move(warnings)};
}

Command simulate_recording_command() {
  auto request = std::make_shared<SimulateRecordingRequest>();
  Command out{.name = "recording",
              .help = "a recorded step run again, as it was and on another network",
              .examples = {"headway simulate recording examples/traces/small-llama-ddp "
                           "\\\n    --topology switch --bandwidth \"1 GB/s\""},
              .run = running(request, run_simulate_recording),
              .door = Door::command_line,
              .doing = "reading",
              .things = "bytes"};
  out.options = {
      operand("TRACE", "traces of one run, of any format that comms reads, or a folder of them",
              &request->files),
      {.name = "topology",
       .value = "NAME|FILE.toml",
       .help = "the other network, as of simulate collective; default: none",
       .target = &request->on.topology},
      {.name = "algorithm",
       .value = "NAME",
       .help = "of the calls that it does; default, and of the others: the best",
       .target = &request->on.algorithm},
      {.name = "ranks",
       .value = "N",
       .help = "where the topology has no size; default: those of the run",
       .target = &request->on.ranks},
      {.name = "cluster",
       .value = "NAME|FILE.toml",
       .help = "the network of this cluster instead, by its closed forms",
       .target = &request->cluster}};
  add(out.options, link_options(request->on));
  return out;
}

}  // namespace headway
