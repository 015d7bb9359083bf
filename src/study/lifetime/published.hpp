// Published runs beside their predictions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/lifetime/whole_run.hpp"

namespace headway {

/// What data/runs/published.toml says of any run.
struct PublishedAs {
  std::string name, title, source, remark;
  bool layout_published = false;
};

/// A published run and the prediction for it.
struct PublishedRun : PublishedAs {
  double tokens = 0, accelerator_hours = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // of the run, as they were written
  std::optional<double> megawatt_hours;  // by the convention of its authors: TDP · hours · PUE
  WholeRun whole;
  double predicted_hours() const { return whole.cost.accelerator_time.value() / 3600; }
  double error() const { return predicted_hours() / accelerator_hours - 1; }
};
/// Those of which the hours are public, each predicted with the default assumptions.
Result<std::vector<PublishedRun>> published_runs();

/// A published pace of training and the forecast of the step.
struct PublishedStep : PublishedAs {
  std::string stated;  // as it was published: "400 TFLOP/s"
  std::string why;     // the prediction is more than a tenth off
  Seconds step_time;   // that it means
  std::int64_t accelerators = 0;
  Forecast forecast;
  /// Predicted over published time.
  double ratio() const { return forecast.step_time / step_time; }
  /// Whether the published time lies in the forecast's interval; nothing where that has none.
  std::optional<bool> inside() const;
};
/// Those of which the pace is public.
Result<std::vector<PublishedStep>> published_steps();
/// Of |ratio - 1|, the value that a share q of the steps stays under.
double error_quantile(const std::vector<PublishedStep>& steps, double q);

}  // namespace headway
