// scale: whole training runs. Internal to src/api.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "forecast/forecast.hpp"
#include "report/words.hpp"
#include "study/lifetime/convergence.hpp"
#include "study/lifetime/run_cost.hpp"

namespace headway {

/// A value that the answer rests on, and where it comes from.
struct AssumedValue {
  std::string name;    // as the flag
  std::string value;   // with its unit
  std::string source;  // "given", or who says so
  bool given = false;
};

/// The fields of a request that are scale_run_fields(); the others are the run's.
struct SplitRequest {
  RunRequest run, scale;
};
SplitRequest split(const RunRequest& request);

/// Takes fields out of those of a run that neither a run, scale_run_fields() nor `more` knows, each
/// with a problem that names the nearest of all.
void refuse_unknown(RunRequest& run, std::span<const RunField> more, Problems& problems);

/// Step times of the text of a file, separated by blanks, commas or line ends; at least two.
Result<std::vector<double>> step_times(std::string_view text, const std::string& file);

struct ScaleSettings {
  RunAssumptions assumed;
  std::vector<AssumedValue> values;
  LossLaw loss;
  CriticalBatchLaw critical_law;
  std::optional<double> critical_batch;  // tokens, as given; not given: by the law at the loss
};
/// Reads what was given over the defaults for a run on `accelerators` of the cluster.
Result<ScaleSettings> scale_settings(const RunRequest& scale, const Cluster& cluster,
                                     std::int64_t accelerators);

/// One whole run with all that its answer needs.
struct WholeRun {
  Run run;
  Forecast forecast;
  ScaleSettings settings;
  RunCost cost;
  double loss = 0;            // of the law, nats a token
  double critical_batch = 0;  // tokens
  double batch = 0;           // tokens
};
Result<WholeRun> whole_run(const RunRequest& request);

/// The same with `accelerators` data-parallel shares of another number: the batch as it is, or
/// grown in proportion with the tokens that the same loss then takes.
struct ScaledRun {
  double factor = 1;
  bool grown = false;
  WholeRun whole;
};
struct ScaledRuns {
  std::vector<ScaledRun> runs;
  std::vector<std::string> left_out;  // which and why, as "4,096 accelerators do not fit"
};
/// 1/4 to 16 times the accelerators, of those that are legal, fit and come to an end.
ScaledRuns by_accelerators(const RunRequest& request, const WholeRun& base);

std::string scale_run_text(const WholeRun& whole, const ScaledRuns& scaled);
std::string scale_run_json(const WholeRun& whole, const ScaledRuns& scaled);
std::string scale_run_csv(const ScaledRuns& scaled);
/// goodput.svg: goodput by the interval between checkpoints.
std::string plot_goodput(const WholeRun& whole);
/// days.svg: days by accelerators, with what failures leave open.
std::string plot_days(const WholeRun& whole, const ScaledRuns& scaled);

/// A published run and the prediction for it.
struct PublishedRun {
  std::string name, title, source, remark;
  bool layout_published = false;
  double tokens = 0, accelerator_hours = 0;
  std::optional<double> megawatt_hours;  // by the convention of its authors: TDP · hours · PUE
  WholeRun whole;
  double predicted_hours() const { return whole.cost.accelerator_time.value() / 3600; }
  double error() const { return predicted_hours() / accelerator_hours - 1; }
};
/// data/runs/published.toml, each predicted with the default assumptions.
Result<std::vector<PublishedRun>> published_runs();
std::string published_json(const std::vector<PublishedRun>& runs);

/// "3.2 d", "5.4 h", "12 min", "8.1 s".
std::string duration_text(Seconds time);

}  // namespace headway
