// headway calibrate.

#include "api/calibrate_collectives.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/corpus/measurements.hpp"
#include "fit/intervals/fit.hpp"
#include "fit/kernels/kernels.hpp"
#include "fit/steps/fit.hpp"
#include "platform/output.hpp"
#include "platform/paths.hpp"
#include "report/problems.hpp"

namespace headway {
namespace {

// A fit as a table for people, and as the file that it renews.
struct Fitted {
  std::string text, toml;
};

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
  return Fitted{to_text(fit->report), to_toml(*fit, request.date)};
}

Result<Fitted> collectives(const CalibrateRequest& request) {
  const auto data = load_collective_data(source_of(request));
  if (!data) return data.problems();
  const auto fit = calibrate_collectives(*data);
  if (!fit) return fit.problems();
  CollectiveReport report = collective_report(*data, fit->all);
  report.generalisation = generalise(*data, fit->start);
  return Fitted{to_text(report), to_toml(*fit, request.date)};
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
  const StepFit fit = fit_steps(data->runs, data->estimates, request.threads);
  return Fitted{to_text(fit), to_toml(fit, request.date)};
}

Result<Fitted> intervals(const CalibrateRequest& request) {
  const auto data = step_data(request);
  if (!data) return data.problems();
  const auto fit = fit_intervals(data->runs, data->estimates, request.threads, request.progress);
  if (!fit) return Problem{"calibrate", "was stopped", Trouble::stopped};
  return Fitted{to_text(*fit), to_toml(*fit, request.date)};
}

struct Calibrator {
  std::string_view what, file;
  Result<Fitted> (*fit)(const CalibrateRequest&);
};
constexpr Calibrator kCalibrations[] = {{"steps", "step.toml", steps},
                                        {"intervals", "intervals.toml", intervals},
                                        {"kernels", "kernels.toml", kernels},
                                        {"collectives", "networks.toml", collectives}};

}  // namespace

CommandOutput run_calibrate(const CalibrateRequest& request) {
  if (!request.logs.empty()) return calibrate_from_logs(request);
  if (!request.cluster.empty() || !request.output.empty() || request.gpus_per_node > 0) {
    return {.problems = {{"calibrate",
                          "--cluster, --output and --gpus-per-node go with --collectives LOG..."}}};
  }
  const std::string asked = request.what.empty() ? "steps" : request.what;
  std::vector<std::string> known;
  for (const auto& [what, file, fit] : kCalibrations) {
    known.emplace_back(what);
    if (what != asked) continue;

    const std::string folder = checkout_of(request) + "/calibration";
    if (request.write && !is_folder(folder)) {
      return {.problems = {{FieldName("write"),
                            "renews the constants in the data folder of a checkout of Headway, and "
                            "there is no folder " +
                                printable(folder) +
                                ": run it there, or name its data folder with --data DIR"}}};
    }
    const auto fitted = fit(request);
    if (!fitted) return {.problems = fitted.problems()};
    const std::string path = folder + "/" + std::string(file);
    if (request.write) {
      Problems problems = write_files({{path, fitted->toml}});
      if (!problems.empty()) return {.problems = std::move(problems)};
    }
    if (!request.json) return {.text = fitted->text};
    const auto document = parse_toml(fitted->toml, path);
    if (!document) return {.problems = document.problems()};
    return {.text = document_json(*document)};
  }
  return {.problems = {{"calibrate",
                        "'" + printable(asked) + "' is not known; legal: " + join(known, ", "),
                        Trouble::unknown}}};
}

}  // namespace headway
