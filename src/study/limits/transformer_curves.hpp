// The limits study beside real transformers: idealised curves, and what the full prediction of a
// step says at each of their widths.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/limits/curves.hpp"
#include "study/limits/transformer.hpp"

namespace headway {

/// One width of a setting's curve.
struct RealModel {
  limits::Shape shape;
  std::optional<limits::Run> ideal;
  std::optional<TransformerRun> transformer;
};

/// A setting: its idealised curve, and its transformers up to the first that ends in time on no
/// cluster, which is the last of `models`; up to the widest where all do.
struct RealCurve {
  LimitsCurve ideal;
  std::string cluster;  // name
  FlopsPerSecond peak;  // of its accelerator, in the setting's precision
  std::vector<RealModel> models;

  bool ends() const { return !models.empty() && !models.back().transformer; }
  /// The last transformer that ends in time, and the first whose MFU has fallen [LIMIT-36]; null
  /// where there is none.
  const RealModel* last() const;
  const RealModel* first_below() const;
};

/// Curves of all settings on `clusters` (one each), models side by side on `threads` threads;
/// nothing where `progress` stopped them.
std::optional<std::vector<RealCurve>> real_curves(const std::vector<limits::Setting>& settings,
                                                  const std::vector<Cluster>& clusters,
                                                  const std::vector<Calibration>& calibrations,
                                                  int threads, const Progress& progress);

}  // namespace headway
