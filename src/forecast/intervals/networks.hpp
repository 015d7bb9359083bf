// The interval of a step of a network of modules: between which times four of five measured steps
// of such networks lie, about their forecasts (data/calibration/workloads.toml).
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "forecast/forecast.hpp"

namespace headway {

/// Quantiles 0.1 and 0.9 of ln(measured / predicted), the first with its sign turned.
struct NetworkSpread {
  double below = 0, above = 0;
};
struct NetworkSpreads {
  NetworkSpread node;   // on up to eight accelerators
  NetworkSpread nodes;  // on more
};

/// Those of the embedded data.
const Result<NetworkSpreads>& embedded_network_spreads();

/// Puts the interval of the step time on the forecast, no time below what the peak rates allow. Of
/// memory nothing was measured: it has none.
void add_network_interval(const NetworkSpreads& spreads, std::int64_t ranks, Forecast& forecast);

}  // namespace headway
