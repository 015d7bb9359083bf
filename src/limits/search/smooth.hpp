// The limits of a curve without its zig-zag: they change smoothly when a number of the setting
// does, so that derivatives mean something.
#pragma once

#include <optional>
#include <vector>

#include "limits/search/search.hpp"

namespace headway::limits {

/// In FLOP of training; nothing where a limit lies outside all widths the study knows.
struct SmoothLimits {
  std::optional<Flops> linear_scaling;  // [LIMIT-22]
  std::optional<Flops> wall;            // [LIMIT-23]
};
SmoothLimits smooth_limits(const Setting& setting);

/// Utilisation of a model on the cluster, between two of the search, that needs all of the
/// duration; 0 where no cluster ends in time. [LIMIT-21]
double exact_utilization(const Setting& setting, const Shape& shape);

struct CurvePoint {
  double x = 0, y = 0;
};
/// The points (x ascending) with neighbours whose y increases made one at their mean, until y never
/// increases.
std::vector<CurvePoint> never_increasing(const std::vector<CurvePoint>& points);
/// Where the line through the points falls to `y` for the first time.
std::optional<double> falls_to(const std::vector<CurvePoint>& points, double y);
/// Where the straight line of least squares through the points reaches `y`.
std::optional<double> line_reaches(const std::vector<CurvePoint>& points, double y);

}  // namespace headway::limits
