// Quantiles and means.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace headway {

/// The value below which the share `q` (0 ... 1) of the values lies, linear between the order
/// statistics (type 7 of Hyndman & Fan 1996); nothing for no values.
std::optional<double> quantile(std::vector<double> values, double q);

std::optional<double> mean(std::span<const double> values);

}  // namespace headway
