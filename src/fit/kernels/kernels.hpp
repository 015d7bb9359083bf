// Fits the constants of the kernel models on measured kernels, and says how well they predict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cost/calibration/kernel_constants.hpp"
#include "cost/kernels/kernels.hpp"
#include "fit/kernels/data.hpp"
#include "fit/statistics.hpp"

namespace headway {

/// One line of the error table.
struct KernelErrorLine {
  std::string source;
  std::string accelerator;
  std::string kernel;  // "matmul, m >= 512", ...
  bool fitted = true;  // false: rows that no fit saw, shapes outside of training
  ErrorSummary error;
  ErrorSummary held_out;  // each half of the shapes by a fit to the other half; rows = 0: not done
};

struct KernelReport {
  std::vector<KernelErrorLine> lines;  // by accelerator, kernel, source
  std::vector<SkippedKernels> skipped;
};

/// One entry of data/calibration/kernels.toml. It has at least one class of constants moved.
struct FittedKernels {
  std::string entry;  // an architecture or an accelerator
  KernelParameters parameters;
  std::vector<std::string> accelerators;  // measured
  std::vector<std::string> sources;
  std::array<ErrorSummary, kKernelClasses> errors;  // by KernelClass, on the rows fitted
  std::array<bool, kKernelClasses>
      moved{};  // by KernelClass: with enough rows to fit its constants

  bool has(KernelClass kernel) const { return moved[static_cast<std::size_t>(kernel)]; }
};

struct KernelFit {
  std::vector<FittedKernels> entries;
  std::array<double, kTiles> tile_efficiency{};  // shared by all entries
  KernelReport report;
};

/// Fits each architecture measured in `csv`, the text of data/measurements/kernels.csv, upon the
/// embedded estimates. Deterministic, no randomness; less than a minute. With the report: errors of
/// the fit, and of fits to half of the shapes on the other half.
Result<KernelFit> fit_kernels(std::string_view csv, std::string file);

/// Errors of the embedded calibration on the same rows.
Result<KernelReport> kernel_report(std::string_view csv, std::string file);

/// What the rows of a class decide.
DecidedBy decided_by(KernelClass kernel);

/// The text of data/calibration/kernels.toml. `date` as 2026-11-21.
std::string to_toml(const KernelFit& fit, const std::string& date);

/// A table for a terminal.
std::string to_text(const KernelReport& report);

}  // namespace headway
