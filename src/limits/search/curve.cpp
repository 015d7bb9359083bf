#include "limits/search/curve.hpp"

#include <utility>

namespace headway::limits {

std::optional<Run> run_at(const Setting& setting, std::int64_t d_model) {
  const Shape shape = shape_of(setting, d_model);
  return Search(setting, shape).smallest_cluster();
}

// [LIMIT-20] Utilisation counts against the peak; its limit is the sustained share. As cluster
// sizes double, the curve crosses the threshold several times: the first and the last time differ
// by a factor of 2 to 3 in compute. Models at the small end may lie below it, too, as on many
// sites, where each has too few of the batch: scaling is not linear until there, and ends behind
// it.
Curve curve_of(const Setting& setting, std::vector<std::optional<Run>> runs) {
  Curve out;
  const double threshold = setting.linear_share * setting.machine.gpu.sustained;
  const std::vector<std::int64_t> all = widths(setting);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i] || runs[i]->utilization < setting.least_utilization) {
      out.end = runs[i] ? CurveEnd::low_utilization : CurveEnd::too_slow;
      out.first_infeasible = shape_of(setting, all[i]);
      break;
    }
    const Flops training = runs[i]->shape.training;
    if (runs[i]->utilization > threshold) {
      if (!out.last_above && out.first_below) {
        out.small_end = out.runs.back().shape.training;
        out.first_below.reset();
      }
      out.last_above = training;
    } else if (!out.first_below) {
      out.first_below = training;
    }
    out.runs.push_back(std::move(*runs[i]));
  }
  return out;
}

Curve curve(const Setting& setting) {
  std::vector<std::optional<Run>> runs;
  for (const std::int64_t d_model : widths(setting)) {
    runs.push_back(run_at(setting, d_model));
    if (!runs.back() || runs.back()->utilization < setting.least_utilization) break;
  }
  return curve_of(setting, std::move(runs));
}

}  // namespace headway::limits
