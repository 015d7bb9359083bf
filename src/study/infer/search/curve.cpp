#include "study/infer/search/curve.hpp"

#include <algorithm>
#include <limits>

#include "study/infer/search/front.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr double kMostAtATime = 1024;

constexpr std::array<double, 11> kShares = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5,
                                            0.6,  0.7, 0.8, 0.9, 0.95};

// What can be answered at most, by one copy: a rate beyond anything is told it at once.
double capacity_of(const Serving& serving, const ServingConstants& constants, Load load,
                   const StepTimes& steps) {
  load.arrivals = Arrivals::random;
  load.rate = std::numeric_limits<double>::max();
  return *served(serving, constants, load, &steps).capacity / static_cast<double>(serving.dp);
}

// `most`: sequences of one copy that memory holds.
std::vector<Load> loads_along(const Load& asked, CurveOf of, double capacity, double most) {
  std::vector<Load> out;
  if (of == CurveOf::rate) {
    for (const double share : kShares) {
      out.push_back(asked);
      out.back().arrivals = Arrivals::random;
      out.back().rate = share * capacity;
    }
    return out;
  }
  // Half of the clients may wait outside, of a batch none.
  const double held = std::min(kMostAtATime, of == CurveOf::batch ? most : 2 * most);
  for (std::int64_t n = 1; static_cast<double>(n) <= held; n *= 2) {
    out.push_back(asked);
    out.back().arrivals = of == CurveOf::batch ? Arrivals::together : Arrivals::clients;
    out.back().batch = n;
  }
  return out;
}

bool is_held(const LoadPoint& point) {
  return point.load.arrivals == Arrivals::random ? point.served.fits
                                                 : are_held(point.served, point.load.batch);
}

}  // namespace

std::optional<LoadCurve> load_curve(const Serving& serving, const ServingConstants& constants,
                                    const Load& asked, CurveOf of, int threads,
                                    const Progress& progress) {
  LoadCurve out{.of = of, .memory = memory_of(serving, asked)};
  const double most =
      out.memory.sequences_that_fit(static_cast<double>(asked.input + asked.output));
  if (most < 1) return out;
  const StepTimes steps = step_times(serving, constants, asked.input, asked.output);
  double capacity = 0;
  if (of == CurveOf::rate) {
    capacity = capacity_of(serving, constants, asked, steps);
    out.capacity = capacity * static_cast<double>(serving.dp);
  }
  const std::vector<Load> loads = loads_along(asked, of, capacity, most);
  std::vector<LoadPoint> points(loads.size());
  const bool whole = for_each_index(
      loads.size(), threads,
      [&](std::size_t i, std::size_t) {
        points[i] = {loads[i], served(serving, constants, loads[i], &steps), {}};
      },
      progress, 1);
  if (!whole) return std::nullopt;
  for (LoadPoint& point : points) {
    if (!is_held(point)) break;
    point.intervals = intervals_of(serving, constants, point.load, point.served);
    out.points.push_back(std::move(point));
  }
  return out;
}

}  // namespace headway
