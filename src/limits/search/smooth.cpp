#include "limits/search/smooth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace headway::limits {
namespace {

constexpr std::int64_t kNarrowest = 2048, kWidest = std::int64_t{15} << 21;
constexpr std::size_t kWidthsOfOctave = 8;
// Below this share of the threshold the curve does not come back.
constexpr double kFarBelow = 0.5;
// Models whose shortest run lies within this factor of the duration make the line of the wall.
constexpr double kNear = 8;

Setting with_all_widths(Setting setting) {
  setting.first_d_model = kNarrowest;
  setting.last_d_model = kWidest;
  return setting;
}

}  // namespace

// [LIMIT-21] The search knows clusters of experts x 2^i GPUs. On the smallest that ends in time a
// run takes t1 <= t_d at utilisation u1, on half of it t0 > t_d at u0; between them
//   ln u(t_d) = ln u1 + (ln u0 - ln u1) ln(t_d/t1) / ln(t0/t1),
// which no longer depends on where the powers of two fall. Valid where both clusters have a layout;
// else u1.
double exact_utilization(const Setting& setting, const Shape& shape) {
  Search search(setting, shape);
  const std::optional<Run> run = search.smallest_cluster();
  if (!run) return 0;
  if (run->gpus % (2 * shape.experts) != 0) return run->utilization;
  const std::optional<Run> half = search.fastest(run->gpus / 2, kNear * setting.duration);
  if (!half || half->duration <= run->duration) return run->utilization;
  const double share =
      std::log(setting.duration / run->duration) / std::log(half->duration / run->duration);
  return run->utilization *
         std::pow(half->utilization / run->utilization, std::clamp(share, 0.0, 1.0));
}

std::vector<CurvePoint> averaged(const std::vector<CurvePoint>& points, std::size_t reach) {
  std::vector<CurvePoint> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t first = i - std::min(i, reach);
    const std::size_t last = std::min(points.size() - 1, i + reach);
    double sum = 0, weights = 0;
    for (std::size_t k = first; k <= last; ++k) {
      const double weight = static_cast<double>(reach + 1 - std::max(i, k) + std::min(i, k));
      sum += weight * points[k].y;
      weights += weight;
    }
    out.push_back({points[i].x, sum / weights});
  }
  return out;
}

std::vector<CurvePoint> never_increasing(const std::vector<CurvePoint>& points) {
  struct Block {
    double mean;
    std::size_t count = 1;
  };
  std::vector<Block> blocks;
  for (const CurvePoint& point : points) {
    blocks.push_back({point.y});
    while (blocks.size() > 1 && blocks.back().mean > blocks[blocks.size() - 2].mean) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& into = blocks.back();
      const auto ours = static_cast<double>(into.count), theirs = static_cast<double>(last.count);
      into.mean = (into.mean * ours + last.mean * theirs) / (ours + theirs);
      into.count += last.count;
    }
  }
  std::vector<CurvePoint> out;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.count; ++i) out.push_back({points[out.size()].x, block.mean});
  }
  return out;
}

std::optional<double> falls_to(const std::vector<CurvePoint>& points, double y) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CurvePoint &before = points[i - 1], &after = points[i];
    if (before.y < y) return std::nullopt;
    if (after.y > y) continue;
    if (before.y == after.y) return before.x;
    return before.x + (after.x - before.x) * (before.y - y) / (before.y - after.y);
  }
  return std::nullopt;
}

std::optional<double> line_reaches(const std::vector<CurvePoint>& points, double y) {
  if (points.size() < 2) return std::nullopt;
  CurvePoint mean;
  const double count = static_cast<double>(points.size());
  for (const CurvePoint& point : points) {
    mean.x += point.x / count;
    mean.y += point.y / count;
  }
  double xx = 0, xy = 0;
  for (const CurvePoint& point : points) {
    xx += (point.x - mean.x) * (point.x - mean.x);
    xy += (point.x - mean.x) * (point.y - mean.y);
  }
  if (xy <= 0) return std::nullopt;
  return mean.x + (y - mean.y) * xx / xy;
}

// [LIMIT-22] The smooth end of linear scaling: ln u of [LIMIT-21] on ln T over all widths, averaged
// over half an octave to both sides, made never increasing, falls to the share of the sustained
// peak that the setting asks for. Where every model is used better the end is not lower. On the
// published settings within a factor of 2.1 of what [LIMIT-20] reports, between its first and its
// last crossing or near them. Widths more than two octaves to the left of the crossing, which lie
// above the threshold, cannot move it.
std::optional<Flops> smooth_linear_scaling(const Setting& asked) {
  const Setting setting = with_all_widths(asked);
  const double threshold = setting.linear_share * setting.machine.gpu.sustained;
  const std::vector<std::int64_t> all = widths(setting);
  std::map<std::size_t, double> known;
  const auto utilization_at = [&](std::size_t i) {
    const auto found = known.find(i);
    if (found != known.end()) return found->second;
    return known[i] = exact_utilization(setting, shape_of(setting, all[i]));
  };

  // The first octave at or below the threshold, and all widths from two before it on.
  std::size_t below = 0;
  while (below < all.size() && utilization_at(below) > threshold) below += kWidthsOfOctave;
  std::vector<CurvePoint> points;
  for (std::size_t i = below - std::min(below, 2 * kWidthsOfOctave); i < all.size(); ++i) {
    const double utilization = utilization_at(i);
    if (utilization <= 0) break;
    points.push_back({std::log(shape_of(setting, all[i]).training.value()), std::log(utilization)});
    if (utilization < kFarBelow * threshold) break;
  }
  const auto at =
      falls_to(never_increasing(averaged(points, kWidthsOfOctave / 2)), std::log(threshold));
  if (!at) return std::nullopt;
  return Flops(std::exp(*at));
}

// [LIMIT-23] The smooth wall: the shortest run of each width on any cluster, as ln t on ln T; the
// straight line of least squares through those within a factor of 8 of the duration (about the
// wall t grows as a power of T) reaches the duration. Rounding of layers and batch to their grid,
// which moves single models by tens of percent, is averaged out.
std::optional<Flops> smooth_wall(const Setting& asked) {
  const Setting setting = with_all_widths(asked);
  const std::vector<std::int64_t> all = widths(setting);
  std::map<std::size_t, double> known;  // ln(t / duration), infinite where no cluster holds it
  std::int64_t likely = 0;  // cluster of the last one found: that of a neighbour is near
  const auto shortest = [&](std::size_t i) {
    const auto found = known.find(i);
    if (found != known.end()) return found->second;
    const Shape shape = shape_of(setting, all[i]);
    const std::optional<Run> run =
        Search(setting, shape).fastest_of_all(kNear * setting.duration, likely);
    if (run) likely = run->gpus;
    return known[i] = run ? std::log(run->duration / setting.duration)
                          : std::numeric_limits<double>::infinity();
  };

  // The first width that is too slow, and its neighbours on both sides.
  std::size_t low = 0, high = all.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (shortest(middle) > 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == 0 || low == all.size()) return std::nullopt;
  std::vector<CurvePoint> points;
  const auto add = [&](std::size_t i) {
    const double y = shortest(i);
    if (!(std::abs(y) <= std::log(kNear))) return false;
    points.push_back({std::log(shape_of(setting, all[i]).training.value()), y});
    return true;
  };
  for (std::size_t i = low; i < all.size() && add(i); ++i) continue;
  for (std::size_t i = low; i > 0 && add(i - 1); --i) continue;
  const auto at = line_reaches(points, 0);
  if (!at) return std::nullopt;
  return Flops(std::exp(*at));
}

SmoothLimits smooth_limits(const Setting& setting) {
  return {smooth_linear_scaling(setting), smooth_wall(setting)};
}

}  // namespace headway::limits
