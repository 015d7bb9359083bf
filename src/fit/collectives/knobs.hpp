// The constants of a network class as a fit moves them, and which of them measured calls decide.
// Internal to fit/collectives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/calibration/network_constants.hpp"
#include "fit/collectives/collectives.hpp"

namespace headway::detail {

inline constexpr std::string_view kExchangeRatio = "exchange_ratio";

/// One constant as the optimiser sees it: its name and how it is moved, and its value where the
/// search starts.
struct Knob {
  std::string name;
  NetworkConstant row;
  double value;
};

/// The constants that rows of one class decide, from `start` on; the names of the others are added
/// to `held`.
std::vector<Knob> decided_knobs(const NetworkParameters& start,
                                std::span<const CollectiveMeasurement* const> rows,
                                const CollectiveData& data, Exchanges exchanges,
                                std::vector<std::string>& held);

/// Sets the constants of `knobs`, which are some of them in their order, to `values`.
void set(NetworkParameters& parameters, std::span<const Knob> knobs,
         std::span<const double> values);

/// A value inside of what a fit may try, as the optimiser moves it, and back.
double to_scale(const Knob& knob, double value);
double from_scale(const Knob& knob, double scaled);

}  // namespace headway::detail
