// Measured steps of one's own, read and predicted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cost/calibration/calibration.hpp"
#include "layout/run.hpp"

namespace headway {

/// A measured step and its forecast.
struct OwnRun {
  std::string name;  // "mine.csv:3, my-id", "a.toml"
  Run run;
  std::shared_ptr<const Calibration> calibration;
  Seconds measured, predicted;

  /// ln(measured / predicted).
  double residual() const;
};

struct OwnRunsRead {
  std::vector<OwnRun> runs;
  Problems unused;  // runs, and columns, that say nothing, each with why
};

/// The runs of the files: corpora (.csv, the columns of data/measurements/training.csv), and run
/// files (.toml, .json) with a table [measured]. Problems: a file that cannot be read as either, or
/// that no run of any file can be used.
Result<OwnRunsRead> read_measured_runs(const std::vector<std::string>& files);

/// What the table [measured] of a run file says of a step; nothing where it has none.
Result<std::optional<Seconds>> measured_step(const Document& file, const Run& run);

}  // namespace headway
