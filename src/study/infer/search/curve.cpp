#include "study/infer/search/curve.hpp"

#include <algorithm>
#include <limits>

#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/front.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr double kMostAtATime = 1024;  // of a copy of attention
constexpr double kMostOfAll = 16'384;  // of all copies of decode: no more need be placed in time

constexpr std::array<double, 11> kShares = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5,
                                            0.6,  0.7, 0.8, 0.9, 0.95};

Load at_rate(const Load& asked, double rate) {
  Load out = asked;
  out.arrivals = Arrivals::random;
  out.rate = rate;
  return out;
}

Load of_clients(const Load& asked, std::int64_t clients) {
  Load out = asked;
  out.arrivals = Arrivals::clients;
  out.batch = clients;
  return out;
}

std::vector<Load> rates_along(const Load& asked, double capacity) {
  std::vector<Load> out;
  for (const double share : kShares) out.push_back(at_rate(asked, share * capacity));
  return out;
}

// What can be answered at most, by one copy: a rate beyond anything is told it at once.
double capacity_of(const Serving& serving, const ServingConstants& constants, const Load& asked,
                   const StepTimes& steps) {
  const Load load = at_rate(asked, std::numeric_limits<double>::max());
  return *served(serving, constants, load, &steps).capacity / static_cast<double>(serving.dp);
}

// `most`: sequences of one copy that memory holds.
std::vector<Load> loads_along(const Load& asked, CurveOf of, double capacity, double most) {
  if (of == CurveOf::rate) return rates_along(asked, capacity);
  std::vector<Load> out;
  // Half of the clients may wait outside, of a batch none.
  const double held = std::min(kMostAtATime, of == CurveOf::batch ? most : 2 * most);
  for (std::int64_t n = 1; static_cast<double>(n) <= held; n *= 2) {
    out.push_back(of_clients(asked, n));
    if (of == CurveOf::batch) out.back().arrivals = Arrivals::together;
  }
  return out;
}

// Of prefill and decode apart.
std::vector<Load> clients_along(const ServingApart& apart, const ServingConstants& constants,
                                const Load& asked, const ServedApart& parts) {
  const OwnedApart engines(apart, constants, asked, parts.prefill, parts.all.memory);
  const double copies = static_cast<double>(apart.decode_copies * apart.decode.dp);
  const double most = std::min(kMostAtATime * copies, kMostOfAll);
  const double way = apart.prefill.engine.request.value();
  std::vector<Load> out;
  for (const ClientsApart& each : clients_apart(engines.apart(), asked, way, most)) {
    out.push_back(of_clients(asked, each.clients));
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

std::optional<ApartCurve> load_curve(const ServingApart& apart, const ServingConstants& constants,
                                     const Load& asked, CurveOf of, int threads,
                                     const Progress& progress) {
  ApartCurve out;
  out.of = of;
  // A rate beyond anything is told what each part could answer, at once.
  out.parts = served(apart, constants, at_rate(asked, std::numeric_limits<double>::max()));
  out.memory = out.parts.all.memory;
  if (!out.parts.all.fits) return out;
  out.capacity = out.parts.rates.least();
  const std::vector<Load> loads = of == CurveOf::rate
                                      ? rates_along(asked, *out.capacity)
                                      : clients_along(apart, constants, asked, out.parts);
  out.points.resize(loads.size());
  const bool whole = for_each_index(
      loads.size(), threads,
      [&](std::size_t i, std::size_t) {
        LoadPoint& point = out.points[i];
        point = {loads[i], served(apart, constants, loads[i]).all, {}};
        point.intervals = intervals_of(apart, constants, point.load, point.served);
      },
      progress, 1);
  if (!whole) return std::nullopt;
  return out;
}

}  // namespace headway
