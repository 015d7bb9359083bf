// The question of the limits study asked of real transformers: the same compute, the full
// prediction of a step, on a cluster that exists, extended as far as needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cluster/cluster.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/forecast.hpp"
#include "limits/machine/scaling.hpp"
#include "limits/machine/setting.hpp"

namespace headway {

/// A transformer of the width and depth of the study's stack, with its experts where it has any,
/// and with what that leaves out: attention with heads of 128, a vocabulary of 131,072, norms.
/// [LIMIT-34]
Model transformer_of(const limits::Shape& shape);

/// The cluster with its outermost level as large as needed. [LIMIT-34]
Cluster extended_to(Cluster cluster, std::int64_t accelerators);

/// A transformer on a number of accelerators with its best layout of those that were tried.
struct TransformerRun {
  std::int64_t accelerators = 0;
  Layout layout;
  Forecast forecast;
  Seconds duration;        // of all tokens of the study's run
  Flops training;          // model FLOP of all of them, attention in full
  std::size_t priced = 0;  // layouts that were legal and could have been the fastest
};

/// Why the question cannot be asked of this setting on this cluster: relaxed training that is no
/// method of runs, a precision without a recipe or a peak. None: it can.
Problems transformer_problems(const limits::Setting& setting, const Cluster& cluster);

/// No step of this layout is shorter. [LIMIT-38]
Seconds least_step_time(const limits::Shape& shape, const Job& job, const Layout& layout,
                        FlopsPerSecond peak);

/// The fastest layout that fits in memory and ends within `duration`; nothing where none does.
/// [LIMIT-35]
std::optional<TransformerRun> fastest_transformer(const limits::Setting& setting,
                                                  const limits::Shape& shape,
                                                  const Cluster& cluster,
                                                  const Calibration& calibration,
                                                  std::int64_t accelerators, Seconds duration);

/// On the smallest cluster of 2^i accelerators that ends within the setting's duration, from the
/// one on that would at full utilisation; nothing where not even 64 times that does. [LIMIT-35]
std::optional<TransformerRun> smallest_transformer_cluster(const limits::Setting& setting,
                                                           const limits::Shape& shape,
                                                           const Cluster& cluster,
                                                           const Calibration& calibration);

/// Index of the first transformer, in the order of compute, whose MFU is at most `share` of the
/// best one before it; nothing where none is. [LIMIT-36]
std::optional<std::size_t> end_of_linear_scaling(std::span<const double> mfu, double share);

}  // namespace headway
