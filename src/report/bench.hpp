// bench: the signature, the errors of the cost models, and how long studies take, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "fit/collectives/collectives.hpp"
#include "fit/kernels/kernels.hpp"
#include "study/limits/timing.hpp"
#include "study/plan/timing/timing.hpp"

namespace headway {

/// {signature}
std::string signature_json(std::string_view digest);
/// {lines: [{source, accelerator, kernel, fitted, rows, median_error, mean_error, p90_error, bias,
/// held_out: null or the same five}], skipped: [{reason, rows}]}; errors are shares.
std::string bench_json(const KernelReport& report);
/// {rows, sizes: [{size, systems, rows, ..., median_system, left_out}], lines: [{name, op, size,
/// rows, ..., left_out}], from_few_nodes: [as lines], skipped}; left_out: the same five of
/// constants fitted without the system, null where it was not asked for.
std::string bench_json(const CollectiveReport& report);
/// {repetitions, threads, rows: [{what, models, median_s}]}
std::string bench_json(const LimitsTiming& timing);
/// {repetitions, threads, bounded: [...], whole: [...]}: medians of the searches with bounds, and
/// each search through all layouts once.
std::string bench_json(const PlanTiming& timing);

}  // namespace headway
