// The constants of data/serving/kernels.toml, fitted on kernels of serving engines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit/benchmarks/benchmarks.hpp"
#include "fit/serving/tables.hpp"

namespace headway {

/// What a group of measured kernels is predicted by: constants fitted on all, without its
/// accelerator, and without its class of size (on the same architecture's others).
struct ServingKernelLine {
  std::string machine, engine, op, size;
  ErrorSummary fitted, without_machine, without_size;  // no rows: not asked for
};

struct ServingKernelFit {
  /// By architecture; "default", of all together, for others.
  std::map<std::string, ServingKernels> entries;
  std::map<std::string, std::vector<std::string>> machines;  // that each is fitted on
  std::vector<ServingKernelLine> lines;  // by machine, engine, op, size; then all, by op
};

/// Each operation by itself: by least mean loss of the log error, in which the kernels of one
/// engine on one accelerator count together by the root of their number. What no row decides is as
/// the default has it. Rows without a kernel of serving, or that were not measured, tell nothing.
Result<ServingKernelFit> fit_serving_kernels(const std::vector<BenchmarkRow>& rows, bool left_out,
                                             int threads);

UnitTable kernel_table(const ServingKernelFit& fit);
std::string to_text(const ServingKernelFit& fit);
/// The text of data/serving/kernels.toml; `date` as "2026-11-26".
std::string to_toml(const ServingKernelFit& fit, const std::string& date);

}  // namespace headway
