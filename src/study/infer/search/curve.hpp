// What ever more load gets of one way of serving, up to what it can answer.
#pragma once

#include <vector>

#include "platform/parallel.hpp"
#include "study/infer/intervals/intervals.hpp"

namespace headway {

/// What grows along a curve: clients, requests a second, sequences that start and end together.
enum class CurveOf : std::uint8_t { clients, rate, batch };
constexpr std::array<std::string_view, 3> kCurveNames = {"concurrency", "rate", "batch"};

struct LoadPoint {
  Load load;
  Served served;
  ServedIntervals intervals{};
};

struct LoadCurve {
  CurveOf of = CurveOf::clients;
  ServingMemory memory;
  std::vector<LoadPoint> points{};   // empty: it does not fit
  std::optional<double> capacity{};  // of rates: requests a second of all ranks
};

/// Of prefill and decode apart. Of all copies together; `memory` is of decode, the capacity of
/// clients, too.
struct ApartCurve : LoadCurve {
  ServedApart parts{};  // what each holds and could answer; it has no times
};

/// Clients or sequences of each copy: 1, 2, 4, ... as long as memory holds them, 1,024 at most.
/// Rates: shares of the capacity, 5 to 95 %. `asked`: lengths and limits. Nothing where it was
/// stopped.
std::optional<LoadCurve> load_curve(const Serving& serving, const ServingConstants& constants,
                                    const Load& asked, CurveOf of, int threads,
                                    const Progress& progress);

/// Clients of all copies: 1, 2, 4, ... until no more are answered [INFER-19], 1,024 of each copy of
/// attention of decode and 16,384 in all at most. Rates as above; there is no batch.
std::optional<ApartCurve> load_curve(const ServingApart& apart, const ServingConstants& constants,
                                     const Load& asked, CurveOf of, int threads,
                                     const Progress& progress);

}  // namespace headway
