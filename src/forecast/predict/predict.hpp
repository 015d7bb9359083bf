// predict: the forecast of a run with the constants of its cluster, its interval, and what is to be
// said of it.
#pragma once

#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

/// Of values that check() finds legal together; problems: no calibration for the cluster.
Result<Forecast> predict(const Model& model, const Job& job, const Layout& layout,
                         const Cluster& cluster, AttentionFlops convention = AttentionFlops::full);
Result<Forecast> predict(const Run& run);

}  // namespace headway
