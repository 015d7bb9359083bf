// How far predictions of measured kernels are off, by class of kernel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fit/kernels/kernels.hpp"

namespace headway {

/// Quantiles of predicted/measured ratios.
ErrorSummary errors_of(std::vector<double> ratios);

/// "matmul, m >= 512", "matmul, m < 512", "matmul, m < 128", "grouped_matmul", ...
std::string class_name(const KernelMeasurement& row);

/// The lines of the table: one for each accelerator, class and source. `ratios[i]` is predicted
/// over measured of data.rows[i]; `held_out[i]` the same by a fit that has not seen the row, 0
/// where none was made; it may be empty.
std::vector<KernelErrorLine> error_lines(const KernelData& data, std::span<const double> ratios,
                                         std::span<const double> held_out);

}  // namespace headway
