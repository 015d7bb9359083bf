// A curve of the limits study: the best utilisation at each scale of training, and where it ends.
#pragma once

#include <optional>
#include <vector>

#include "limits/search/search.hpp"

namespace headway::limits {

enum class CurveEnd {
  too_slow,         // the next model ends in time on no cluster
  low_utilization,  // the next model falls below the least utilisation of the setting
  widest,           // no wider model was asked for
};

struct Curve {
  std::vector<Run> runs;  // by width
  CurveEnd end = CurveEnd::widest;
  std::optional<Shape> first_infeasible;  // where it ends before the widest model

  // The end of linear scaling: training compute of the first model, behind those that are too small
  // for the machine, whose utilisation is at most the setting's share of the sustained peak, and of
  // the last one that reaches it. Of a curve that never does the first model. [LIMIT-20]
  std::optional<Flops> first_below, last_above;
  std::optional<Flops> small_end;  // the last of those that are too small
};

/// What one width contributes: a run, or nothing where the model ends in time on no cluster. Widths
/// are independent of one another, so callers may compute them on many threads.
std::optional<Run> run_at(const Setting& setting, std::int64_t d_model);

/// The curve of runs found in the order of widths(setting); those after the first end are dropped.
Curve curve_of(const Setting& setting, std::vector<std::optional<Run>> runs);

/// Both, one width after the other.
Curve curve(const Setting& setting);

}  // namespace headway::limits
