// Where model parallelism overtakes pure data parallelism, found by search.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "study/sweep/axes.hpp"

namespace headway {

/// The least multiple of `unit` from `low` to `high` at which `holds`: doubled until it holds, then
/// halved into between the last that did not and the first that did [SCALE-25]. Nothing where it
/// holds at no doubling of `low`.
std::optional<std::int64_t> first_where(std::int64_t low, std::int64_t high, std::int64_t unit,
                                        const std::function<bool(std::int64_t)>& holds);

/// The fewest accelerators on which some split layout is faster than the pure one, each rank with
/// as much of the batch as in the base run.
struct Crossover {
  std::int64_t accelerators = 0;
  SweepPoint pure, split;
  bool at_once = false;  // already on the fewest on which both can run
};

/// The fastest of both kinds on a number of accelerators; nothing where one has none.
using BothOn = std::function<std::optional<Crossover>(std::int64_t accelerators)>;
/// From `low` to `high` accelerators, which are multiples of `unit`. Nothing where the pure layout
/// stays ahead, or never fits.
std::optional<Crossover> crossover(std::int64_t low, std::int64_t high, std::int64_t unit,
                                   const BothOn& both_on);
std::optional<Crossover> crossover(const RequestedRun& base, std::int64_t low, std::int64_t high,
                                   std::int64_t unit, const std::vector<Degrees>& split,
                                   const SweepSettings& settings);

}  // namespace headway
