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
/// One of them each.
std::optional<Flops> smooth_linear_scaling(const Setting& setting);
std::optional<Flops> smooth_wall(const Setting& setting);

/// Utilisation of a model on the cluster, between two of the search, that needs all of the
/// duration; 0 where no cluster ends in time. [LIMIT-21]
double exact_utilization(const Setting& setting, const Shape& shape);

struct CurvePoint {
  double x = 0, y = 0;
};
/// The same x, at each the mean of y over so many neighbours on both sides, weighted less the
/// further they are.
std::vector<CurvePoint> averaged(const std::vector<CurvePoint>& points, std::size_t reach);
/// The same x, with the y of least squares that never increase: neighbours that rise have their
/// mean. Larger y give y that are nowhere smaller.
std::vector<CurvePoint> never_increasing(const std::vector<CurvePoint>& points);
/// Where the line through the points falls to `y` for the first time.
std::optional<double> falls_to(const std::vector<CurvePoint>& points, double y);
/// Where the straight line of least squares through the points reaches `y`.
std::optional<double> line_reaches(const std::vector<CurvePoint>& points, double y);

}  // namespace headway::limits
