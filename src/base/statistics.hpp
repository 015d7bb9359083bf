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

/// The deviation from 0 within which a share `level` of Student's law with so many degrees of
/// freedom lies.
double student_bound(double level, int degrees);

/// The mean of the largest of `count` independent normal values, in standard deviations above
/// their mean: 1.42 of 8, 3.25 of 1,024. Between and beyond powers of two up to 2^20 linear in the
/// logarithm; within 0.5 % from 4 to 10^7. 0 for one value and less.
double expected_maximum(double count);

}  // namespace headway
