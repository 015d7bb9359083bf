#include "api/calibrate_collectives.hpp"

#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/collectives/log.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "trace/open.hpp"

namespace headway {
namespace {

Problems check_flags(const CalibrateRequest& request) {
  Problems problems;
  if (!request.what.empty()) {
    problems.push_back({"calibrate", "'" + printable(request.what) +
                                         "' fits the built-in constants, --collectives a cluster's "
                                         "own; ask for one of them"});
  }
  if (request.cluster.empty()) {
    problems.push_back({FieldName("cluster"),
                        "is missing: the cluster that the logs were measured on",
                        Trouble::missing});
  }
  if (request.write) {
    problems.push_back({FieldName("write"),
                        "renews the built-in constants; --output FILE.toml writes the "
                        "cluster that was fitted"});
  }
  if (!request.output.empty() && !request.output.ends_with(".toml")) {
    problems.push_back({FieldName("output"), "must end in .toml: a cluster file"});
  }
  return problems;
}

// The base as the written file has to name it: a path as seen from there.
std::string base_of(const CalibrateRequest& request) {
  const std::string& cluster = request.cluster;
  const bool path = cluster.ends_with(".toml") || cluster.find('/') != std::string::npos;
  if (!path || request.output.empty()) return cluster;
  const auto output = whole_path(request.output);
  const auto seen = output ? path_from(folder_of(*output), cluster) : std::nullopt;
  return seen.value_or(cluster);
}

std::vector<ClassError> errors_of(const LoggedFit& fit) {
  std::vector<ClassError> out;
  for (const LoggedError& error : fit.errors) {
    out.push_back({error.level, to_name(error.op),
                   kLoggedSizeNames[static_cast<std::size_t>(error.size)], error.after.rows,
                   error.before.median, error.after.median, error.after.bias, error.worse()});
  }
  return out;
}

}  // namespace

CommandOutput calibrate_from_logs(const CalibrateRequest& request) {
  // The cluster and the logs, or all that is wrong with either.
  Problems problems = check_flags(request);
  Result<Cluster> cluster = Problems();
  if (!request.cluster.empty()) {
    cluster = load_cluster(request.cluster);
    if (!cluster) append(problems, cluster.problems());
  }
  std::vector<Recording> recordings;
  std::vector<std::string> names;
  for (const std::string& log : request.logs) {
    auto recording = read_trace(log);
    if (!recording) {
      append(problems, recording.problems());
      continue;
    }
    // The ranks of one traced run belong together; benchmarks stand each for itself.
    const bool benchmark =
        !recording->calls.empty() && recording->calls.front().time == TimeKind::benchmark;
    const bool joins = !benchmark && !recordings.empty() && !recordings.back().calls.empty() &&
                       recordings.back().calls.front().time != TimeKind::benchmark;
    if (joins) {
      append(recordings.back(), *recording);
    } else {
      recordings.push_back(std::move(recording).value());
    }
    names.push_back(file_name(log));
  }
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The fit, and the cluster file that holds it.
  const auto logged = logged_collectives(recordings, *cluster, request.gpus_per_node);
  if (!logged) return {.problems = logged.problems()};
  const LoggedFit fit = fit_logged(*logged);
  const std::string toml = to_cluster_toml(fit, *cluster, base_of(request), names, request.date);
  const auto document = parse_toml(toml, request.output);
  if (!document) return {.problems = document.problems()};
  if (!request.output.empty()) {
    problems = write_files({{request.output, toml}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  if (request.json) return {.text = calibrated_json(*document, errors_of(fit), fit.warnings)};
  const std::string text = to_text(fit);
  return {.text = request.output.empty() ? text + "\n" + toml : text};
}

}  // namespace headway
