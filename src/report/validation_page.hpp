// The generated parts of docs/validation.md: tables and plots.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/generated.hpp"
#include "fit/benchmarks/benchmarks.hpp"
#include "fit/validation/validation.hpp"

namespace headway {

/// Text of every generated block of the page, by name. All are always there; what a report has no
/// rows for says so.
GeneratedBlocks validation_blocks(const ValidationReport& report);

/// The generated blocks of docs/workloads.md.
GeneratedBlocks workload_blocks(std::span<const BenchmarkRow> rows);

struct Plot {
  std::string name, svg;  // file name without its ending, and content
};

/// All plots of the page, each under the same name whatever the report holds.
std::vector<Plot> validation_plots(const ValidationReport& report);

}  // namespace headway
