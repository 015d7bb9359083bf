// The constants of serving, fitted from files of measurements: what `calibrate serving` tells and
// writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/generated.hpp"
#include "base/result.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// Files of measured kernels and of measured serving; an empty name: nothing of that.
struct ServingMeasurements {
  std::string kernels, corpus;
  std::string data;       // folder whose files are renewed; empty: those that the binary carries
  std::string date;       // as "2026-11-26"
  bool left_out = false;  // errors of fits without what they predict, too
};

struct ServingCalibration {
  std::string text;                                        // the tables of errors
  GeneratedBlocks blocks;                                  // the same, of docs/models/infer-fit.md
  std::vector<std::pair<std::string, std::string>> files;  // of a data folder: path, text
};

Result<ServingCalibration> calibrate_serving(const ServingMeasurements& from, int threads,
                                             const Progress& progress = {});

}  // namespace headway
