// Statistics of errors and ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"

namespace headway {

/// Spearman's rank correlation: Pearson's of the ranks, equal values taking the mean of their
/// ranks. Nothing for unequal lengths, fewer than two pairs, or where one side is all equal.
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

/// Of relative errors, predicted/measured - 1: median, mean and 90th percentile of their size, and
/// bias, the median with its sign (above 0: predicted too slow).
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0, mean = 0, p90 = 0, bias = 0;
};
ErrorSummary summarise(const std::vector<double>& errors);

/// A class of scale, in powers of two of 8 accelerators, with a number that sorts it: "17-32". 0:
/// not stated.
std::pair<int, std::string> scale_of(std::int64_t accelerators);

/// A share in percent, as tables of errors have it: "12.3".
std::string in_percent(double share, const char* format = "%.1f");

/// How a verdict of two kinds came out: the first word is the prediction, the second the truth.
struct Confusion {
  int fits_fits = 0, fits_not = 0, not_fits = 0, not_not = 0;

  /// The mean of the shares of runs that fit and of runs that do not which were told right; nothing
  /// where one of the two kinds is absent.
  std::optional<double> balanced_accuracy() const;
};

}  // namespace headway
