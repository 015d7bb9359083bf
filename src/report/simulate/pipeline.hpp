// simulate pipeline: a schedule placed in time.
#pragma once

#include <string>

#include "simulate/pipeline/pipeline.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string simulate_pipeline_text(const SimulatedPipeline& simulated);
/// {makespan_s, spans_s[], idle_s[], peak_in_flight[], order[], ...}.
std::string simulate_pipeline_json(const SimulatedPipeline& simulated);

/// Slots of all ranks that a drawing has at most.
constexpr std::int64_t kMostDrawnSlots = 20'000;
/// A row for each rank, its slots along the time; empty where there are more than that.
std::string simulate_pipeline_svg(const SimulatedPipeline& simulated);

}  // namespace headway
