// The way that leads to the end of a step [SIM-6].
#pragma once

#include <vector>

#include "simulate/step/simulated.hpp"

namespace headway {

struct SpanPlace {
  std::size_t rank = 0, span = 0;
};

/// The span of a rank that ends last, of those that others follow.
std::size_t last_span(const RankTimeline& rank);

/// From the last end of a rank back to the beginning, each with what it waited for behind it.
std::vector<SpanPlace> critical_path(const std::vector<RankTimeline>& ranks, std::size_t last);

/// Seconds of each part along it, transfers among them.
Parts critical_parts(const std::vector<RankTimeline>& ranks, std::size_t last);

}  // namespace headway
