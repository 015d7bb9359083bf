// The question of the limits study asked of real transformers: the same compute, the full
// prediction of a step, on a cluster that exists, extended as far as needed.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/cluster.hpp"
#include "cost/calibration.hpp"
#include "forecast/forecast.hpp"
#include "limits/scaling.hpp"
#include "limits/setting.hpp"

namespace headway {

/// A dense transformer of the width and depth of the study's stack, with what that leaves out:
/// attention with heads of 128, a vocabulary of 131,072, norms. [LIMIT-34]
Model transformer_of(const limits::Shape& shape);

/// The cluster with its outermost level as large as needed. [LIMIT-34]
Cluster extended_to(Cluster cluster, std::int64_t accelerators);

/// A transformer on a number of accelerators with its best layout of those that were tried.
struct TransformerRun {
  std::int64_t accelerators = 0;
  Layout layout;
  Forecast forecast;
  Seconds duration;       // of all tokens of the study's run
  std::size_t tried = 0;  // layouts that were legal and priced
};

/// The fastest layout that fits in memory; nothing where none does. [LIMIT-35]
std::optional<TransformerRun> fastest_transformer(const limits::Shape& shape,
                                                  const Cluster& cluster,
                                                  const Calibration& calibration,
                                                  std::int64_t accelerators);

/// On the smallest cluster of 2^i accelerators that ends within the setting's duration, from the
/// one on that would at full utilisation; nothing where no more than 64 times that does. [LIMIT-35]
std::optional<TransformerRun> smallest_transformer_cluster(const limits::Setting& setting,
                                                           const limits::Shape& shape,
                                                           const Cluster& cluster,
                                                           const Calibration& calibration);

}  // namespace headway
