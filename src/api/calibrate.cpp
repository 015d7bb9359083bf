// headway calibrate.

#include "api/commands.hpp"
#include "api/options.hpp"
#include "base/document/document.hpp"
#include "base/generated.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/collectives/log.hpp"
#include "fit/corpus/measurements.hpp"
#include "fit/intervals/fit.hpp"
#include "fit/kernels/kernels.hpp"
#include "fit/own/fit.hpp"
#include "fit/own/trial.hpp"
#include "fit/serving/aims/calibration.hpp"
#include "fit/steps/fit.hpp"
#include "platform/files.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "report/calibration.hpp"
#include "report/problems.hpp"
#include "trace/files.hpp"

namespace headway {
namespace {

// A fit as a table for people, and as the files of the data folder that it renews.
struct Fitted {
  std::string text;
  std::vector<OutputFile> files;
  std::optional<OutputFile> page = {};  // of documents, where it is asked for
};

Fitted fitted(std::string text, const char* file, std::string toml) {
  return {std::move(text), {{std::string("calibration/") + file, std::move(toml)}}, {}};
}

// The folder that --write renews.
std::string checkout_of(const CalibrateRequest& request) {
  return request.data.empty() ? "data" : request.data;
}

// Where measurements are read from: what is renewed in a checkout is fitted on what stands there.
std::string source_of(const CalibrateRequest& request) {
  return request.write ? checkout_of(request) : request.data;
}

Result<Fitted> kernels(const CalibrateRequest& request) {
  const auto csv = read_measurements(source_of(request), "kernels.csv");
  if (!csv) return csv.problems();
  const auto fit = fit_kernels(csv->text, csv->path);
  if (!fit) return fit.problems();
  return fitted(to_text(fit->report), "kernels.toml", to_toml(*fit, request.date));
}

Result<Fitted> collectives(const CalibrateRequest& request) {
  const auto data = load_collective_data(source_of(request));
  if (!data) return data.problems();
  const auto fit = calibrate_collectives(*data);
  if (!fit) return fit.problems();
  const CollectiveReport report = collective_report(*data, collective_errors(*data, fit->all));
  return fitted(to_text(report), "networks.toml", to_toml(*fit, request.date));
}

// The measured runs of the corpus, and what a fit starts from.
struct StepData {
  std::vector<MeasuredRun> runs;
  StepConstants estimates;
};

Result<StepData> step_data(const CalibrateRequest& request) {
  const auto csv = read_measurements(source_of(request), "training.csv");
  if (!csv) return csv.problems();
  const auto corpus = read_corpus(csv->text, csv->path);
  if (!corpus) return corpus.problems();
  const auto estimates = estimated_step_constants();
  if (!estimates) return estimates.problems();
  return StepData{measured_runs(*corpus), *estimates};
}

Result<Fitted> steps(const CalibrateRequest& request) {
  const auto data = step_data(request);
  if (!data) return data.problems();
  const std::string file = checkout_of(request) + "/calibration/step.toml";
  Result<std::string> before = std::string();
  if (!request.entries.empty()) {
    before = read_file(file);
    if (!before) return before.problems();
  }
  const StepFit fit = fit_steps(data->runs, data->estimates, request.threads);
  std::string toml = to_toml(fit, request.date);
  if (!request.entries.empty()) {
    auto renewed = renewed_entries(*before, toml, request.entries);
    if (!renewed) return renewed.problems();
    toml = std::move(renewed).value();
  }
  return fitted(to_text(fit), "step.toml", std::move(toml));
}

Result<Fitted> intervals(const CalibrateRequest& request) {
  const auto data = step_data(request);
  if (!data) return data.problems();
  const auto left_out = leave_out(data->runs, data->estimates, request.threads, request.progress);
  if (!left_out) return Problem{"calibrate", "was stopped", Trouble::stopped};
  if (!request.rows.empty()) {
    Problems problems = write_files({{request.rows, to_csv(data->runs, *left_out)}});
    if (!problems.empty()) return problems;
  }
  const IntervalFit fit = fit_intervals(data->runs, *left_out);
  return fitted(to_text(fit), "intervals.toml", to_toml(fit, request.date));
}

// How own runs spread, and what three of a setup are worth for its others.
Result<Fitted> own(const CalibrateRequest& request) {
  const auto data = step_data(request);
  if (!data) return data.problems();
  const auto& known = own_prior();
  if (!known) return known.problems();
  const auto left_out =
      setups_left_out(data->runs, data->estimates, request.threads, request.progress);
  if (!left_out) return Problem{"calibrate", "was stopped", Trouble::stopped};
  const OwnPrior prior = fit_own_prior(*known, *left_out);
  return fitted("By constants fitted without the source of the setup\n" +
                    to_text(try_own_runs(prior, *left_out)) + "\nBy the constants in force\n" +
                    to_text(try_own_runs(prior, setups_as_fitted(data->runs))),
                "own.toml", to_toml(prior, request.date));
}

Result<Fitted> serving(const CalibrateRequest& request) {
  const bool renewed = !request.report.empty();
  Result<OutputFile> page = OutputFile();
  if (renewed) page = page_to_renew(request.report, "models/infer-fit.md");
  if (!page) return page.problems();
  if (renewed && (request.kernels.empty() || request.corpus.empty() || !request.left_out)) {
    return Problem{FieldName("report"),
                   "has tables of --kernels, --corpus and --left-out: give all"};
  }
  auto calibrated = calibrate_serving(
      {request.kernels, request.corpus, source_of(request), request.date, request.left_out},
      request.threads, request.progress);
  if (!calibrated) return calibrated.problems();
  Fitted out{std::move(calibrated->text), {}, {}};
  for (auto& [path, text] : calibrated->files) out.files.push_back({path, std::move(text)});
  if (!renewed) return out;
  const auto text = with_generated(page->text, page->path, calibrated->blocks);
  if (!text) return text.problems();
  out.page = OutputFile{page->path, *text};
  return out;
}

struct Calibrator {
  std::string_view what;
  Result<Fitted> (*fit)(const CalibrateRequest&);
};
constexpr Calibrator kCalibrations[] = {
    {"steps", steps},     {"intervals", intervals},     {"own", own},
    {"kernels", kernels}, {"collectives", collectives}, {"serving", serving}};

std::vector<std::string> calibrations() {
  std::vector<std::string> out;
  for (const Calibrator& each : kCalibrations) out.emplace_back(each.what);
  return out;
}

// ---- runs of one's own ----

Problems check_run_flags(const CalibrateRequest& request) {
  Problems problems;
  const auto refuse = [&](const char* name, bool given, const char* why) {
    if (given) problems.push_back({FieldName(name), why});
  };
  refuse("what", !request.what.empty(),
         "fits the built-in constants; --runs what runs of one's own say: ask for one");
  refuse("collectives", !request.logs.empty(),
         "fits a cluster's network, --runs what runs say: ask for one of them");
  refuse("cluster", !request.cluster.empty(), "is of --collectives: the runs say on what they ran");
  refuse("gpus-per-node", request.gpus_per_node > 0,
         "is of --collectives: the runs say on what they ran");
  refuse("write", request.write,
         "renews the built-in constants; --output FILE.toml writes what runs say");
  refuse("data", !request.data.empty(), "is of the built-in constants");
  refuse("output", !request.output.empty() && !request.output.ends_with(".toml"),
         "must end in .toml");
  return problems;
}

CommandOutput calibrate_from_runs(const CalibrateRequest& request) {
  Problems problems = check_run_flags(request);
  auto read = read_measured_runs(request.runs);
  if (!read) append(problems, read.problems());
  const auto& prior = own_prior();
  if (!prior) append(problems, prior.problems());
  if (!problems.empty()) return {.problems = std::move(problems)};

  OwnFit fit = fit_own_runs(*prior, std::move(read).value());
  std::vector<std::string> names;
  for (const std::string& file : request.runs) names.push_back(printable(file_name(file), 200));
  const std::string toml = to_toml(fit, names, request.date);
  const auto document = parse_toml(toml, request.output);
  if (!document) return {.problems = document.problems()};
  if (!request.output.empty()) {
    problems = write_files({{request.output, toml}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  std::string text = request.json ? own_json(*document, fit) : to_text(fit);
  if (!request.json && request.output.empty()) text += "\n" + toml;
  return {.text = std::move(text), .warnings = std::move(fit.unused)};
}

// ---- logs of a cluster's own ----

// Of one cluster's collectives alone.
Problems check_flags(const CalibrateRequest& request) {
  Problems problems;
  if (!request.what.empty()) {
    problems.push_back({"calibrate", "'" + printable(request.what) +
                                         "' fits the built-in constants, --collectives a cluster's "
                                         "own; ask for one of them"});
  }
  if (request.cluster.empty()) {
    problems.push_back(
        {FieldName("cluster"), "is missing: the cluster that the logs were measured on"});
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

CommandOutput calibrate_from_logs(const CalibrateRequest& request) {
  // The cluster and the logs, or all that is wrong with either.
  Problems problems = check_flags(request);
  Result<Cluster> cluster = Problems();
  if (!request.cluster.empty()) {
    cluster = load_cluster(request.cluster);
    if (!cluster) append(problems, cluster.problems());
  }
  MeasuredLogs logs = read_measured_logs(request.logs);
  // Where others can be read, what cannot is told.
  if (logs.recordings.empty()) append(problems, logs.unread);
  if (!problems.empty()) return {.problems = std::move(problems)};

  // The fit, and the cluster file that holds it.
  const auto logged = logged_collectives(logs.recordings, *cluster, request.gpus_per_node);
  if (!logged) {
    problems = logged.problems();
    for (const std::string& doubt : logs.doubts) {
      problems.push_back({FieldName("collectives"), doubt});
    }
    append(problems, logs.unread);
    return {.problems = std::move(problems)};
  }
  LoggedFit fit = fit_logged(*logged);
  fit.warnings.insert(fit.warnings.begin(), logs.doubts.begin(), logs.doubts.end());
  std::vector<std::string> names;
  for (const std::string& file : logs.files) names.push_back(file_name(file));
  const std::string toml = to_cluster_toml(fit, *cluster, base_of(request), names, request.date);
  const auto document = parse_toml(toml, request.output);
  if (!document) return {.problems = document.problems()};
  if (!request.output.empty()) {
    problems = write_files({{request.output, toml}});
    if (!problems.empty()) return {.problems = std::move(problems)};
  }
  if (request.json) {
    return {.text = calibrated_json(*document, fit), .warnings = std::move(logs.unread)};
  }
  const std::string text = to_text(fit);
  return {.text = request.output.empty() ? text + "\n" + toml : text,
          .warnings = std::move(logs.unread)};
}

}  // namespace

CommandOutput run_calibrate(const CalibrateRequest& request) {
  const bool serving_asked = !request.kernels.empty() || !request.corpus.empty() ||
                             request.left_out || !request.report.empty();
  if (serving_asked && request.what != "serving") {
    return {.problems = {{"calibrate",
                          "--kernels, --corpus, --left-out and --report are of serving alone"}}};
  }
  if (!request.entries.empty() &&
      (!request.write || !(request.what.empty() || request.what == "steps"))) {
    return {.problems = {{FieldName("entries"), "goes with steps and --write: what is renewed"}}};
  }
  if (!request.steps.empty()) return calibrate_steps(request);
  if (!request.runs.empty()) return calibrate_from_runs(request);
  if (!request.logs.empty()) return calibrate_from_logs(request);
  if (!request.cluster.empty() || !request.output.empty() || request.gpus_per_node > 0) {
    return {.problems = {
                {"calibrate",
                 "--cluster and --gpus-per-node go with --collectives LOG..., --output with it, "
                 "--runs FILE... or --steps FILE"}}};
  }
  const std::string asked = request.what.empty() ? "steps" : request.what;
  for (const auto& [what, fit] : kCalibrations) {
    if (what != asked) continue;
    const std::string folder = checkout_of(request);
    if (request.write && !is_folder(folder + "/calibration")) {
      return {.problems = {{FieldName("write"),
                            "renews the constants in the data folder of a checkout of Headway, and "
                            "there is no folder " +
                                printable(folder + "/calibration") +
                                ": run it there, or name its data folder with --data DIR"}}};
    }
    const auto fitted = fit(request);
    if (!fitted) return {.problems = fitted.problems()};
    std::vector<OutputFile> files;
    if (request.write) files = fitted->files;
    for (OutputFile& file : files) file.path = folder + "/" + file.path;
    if (fitted->page) files.push_back(*fitted->page);
    Problems problems = write_files(files);
    if (!problems.empty()) return {.problems = std::move(problems)};
    if (!request.json) return {.text = fitted->text};
    // What is written, as one document.
    std::string all;
    for (const OutputFile& file : fitted->files) all += file.text;
    const auto document = parse_toml(all, fitted->files.front().path);
    if (!document) return {.problems = document.problems()};
    return {.text = document_json(*document)};
  }
  return {.problems = {{"calibrate", not_known(asked, calibrations()), Trouble::unknown}}};
}

Command calibrate_command() {
  auto request = std::make_shared<CalibrateRequest>();
  Command out{.name = "calibrate",
              .help = "fit the cost models to measurements",
              .examples = {"headway calibrate steps",
                           "headway calibrate --output mine.toml --runs mine.csv",
                           "headway calibrate --output law.toml --steps points.csv",
                           "headway calibrate --cluster dgx-a100-40gb "
                           "--output mine.toml --collectives *.log"},
              .door = Door::command_line,
              .doing = "fitting",
              .things = "times"};
  out.options = {
      {.name = "what",
       .help = "constants to fit, steps where nothing is asked for",
       .target = &request->what,
       .names = calibrations,
       .operand = "WHAT"},
      path("data", "DIR", "folder with measurements/; default: those built in", &request->data),
      wordless("write", "renew DIR/calibration/*.toml of a checkout; default: data",
               request->write),
      {.name = "entries",
       .value = "NAME...",
       .help = "steps: write only these of the fit, as shared framework.NAME network.NAME",
       .target = &request->entries},
      path("runs", "FILE...",
           "what measured steps of your own say: a .csv as measurements/training.csv, or run "
           "files with [measured]",
           &request->runs),
      path("steps", "POINTS.csv",
           "the law of steps to a target by the batch: columns batch, and steps or samples; name",
           &request->steps),
      path("rows", "OUT.csv", "intervals: write each run as predicted without its source",
           &request->rows),
      path("kernels", "FILE.csv", "serving: measured kernels of serving engines",
           &request->kernels),
      path("corpus", "FILE.csv", "serving: measured serving", &request->corpus),
      wordless("left-out", "serving: errors of fits without what they predict, too",
               request->left_out),
      path("report", "DIR", "serving: renew the tables of DIR/models/infer-fit.md",
           &request->report),
      path("collectives", "LOG...",
           "fit a cluster's network on nccl-tests or OSU logs, traces, or folders of them",
           &request->logs),
      path("cluster", "C", "the cluster of the logs", &request->cluster),
      path("output", "OUT.toml",
           "write the fitted cluster, or what the runs say; default: print it", &request->output),
      {.name = "gpus-per-node",
       .value = "N",
       .help = "ranks on a node; default: as a log lists its hosts, else as the cluster has",
       .target = &request->gpus_per_node,
       .range = Range{1, 1'000'000},
       .checked = true}};
  out.run = [request](const Circumstances& at) {
    adopt(*request, at);
    request->date = at.date;
    return run_calibrate(*request);
  };
  return out;
}

}  // namespace headway
