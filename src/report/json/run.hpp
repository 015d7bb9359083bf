// Parts of documents that say what a run is and what became of it.
#pragma once

#include <optional>

#include "forecast/forecast.hpp"
#include "report/json/document.hpp"
#include "run/run.hpp"

namespace headway {

/// The fields of DESIGN §6.
Json run_layout_json(const Run& run);
Json run_job_json(const Run& run);
Json parts_json(const Parts& parts);

/// [low, high] at 80 %; null where there is none.
template <class Q>
Json interval_json(const std::optional<Interval<Q>>& interval) {
  if (!interval) return nullptr;
  return {interval->low.value(), interval->high.value()};
}

}  // namespace headway
