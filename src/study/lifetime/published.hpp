// Published whole runs beside their predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/lifetime/whole_run.hpp"

namespace headway {

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

}  // namespace headway
