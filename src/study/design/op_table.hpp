// Where the time of a step or of a pass goes, kernel by kernel and call by call, and what keeps
// each from being shorter. Formulas: docs/models/design.md.
#pragma once

#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "study/bounds/bounds.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// Kernels or calls that are alike. Rows with neither FLOPs nor bytes stand for what no kernel
/// takes: waiting, hosts.
struct OpRow {
  std::string part;    // of the time, as the parts of a step or of a pass are called
  std::string module;  // "attention", "feed_forward", "experts", "embedding", "head", "layer"
  std::string phase;   // "forward", ...; of a pass empty
  std::string name;    // "product 8192 x 1280 x 8192"
  double count = 0;
  Flops flops{};  // of all of them
  Bytes bytes{};  // that they read and write; that calls carry
  BoundTimes times;
  std::string network;  // of a call, of the outermost level that it crosses
  std::string level;    // of memory or of the network that binds it: "hbm3", "nvlink4", "host"

  Seconds time() const { return times.total(); }
  /// FLOPs for each byte.
  double intensity() const { return bytes > Bytes(0) ? flops.value() / bytes.value() : 0; }
};

/// In the order of the parts, within each the longest first. Times of a part add up to it.
struct OpTable {
  std::vector<OpRow> rows;
  BoundTimes total;
};

/// [DESIGN-2] Of the rank that sets the pace; calls with what of them nothing hides.
OpTable op_table(const Run& run, const Calibration& calibration);

/// [DESIGN-2] Of one pass.
OpTable op_table(const Serving& serving, const ServingConstants& constants, const PassWork& work);

}  // namespace headway
