// Parts of documents that say what a run is and what became of it.
#pragma once

#include <optional>

#include "forecast/forecast.hpp"
#include "report/json/document.hpp"
#include "run/run.hpp"

namespace headway {

/// Every field of a layout; the micro-batches of a rank, which the job decides, where they are
/// told.
Json layout_json(const Layout& layout, std::optional<std::int64_t> micro_batches = {});
Json run_layout_json(const Run& run);
Json run_job_json(const Run& run);
/// Of a run with a method of training: its name, its numbers, where they come from.
Json method_json(const Run& run);
Json parts_json(const Parts& parts);

/// [low, high] at 80 %; null where there is none.
template <class Q>
Json interval_json(const std::optional<Interval<Q>>& interval) {
  if (!interval) return nullptr;
  return {interval->low.value(), interval->high.value()};
}

/// How many measured runs the interval of the step's time is of, and how near to them the run is;
/// null where there is no interval.
Json nearness_json(const RequestedRun& run, const Forecast& forecast);

}  // namespace headway
