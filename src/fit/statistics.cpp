#include "fit/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/formatted.hpp"

namespace headway {
namespace {

// Ranks from 1; equal values take the mean of theirs.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
    for (; begin < end; ++begin) out[order[begin]] = rank;
  }
  return out;
}

}  // namespace

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) return std::nullopt;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

ErrorSummary summarise(const std::vector<double>& errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  return {errors.size(), quantile(sizes, 0.5).value_or(0), mean(sizes).value_or(0),
          quantile(sizes, 0.9).value_or(0), quantile(errors, 0.5).value_or(0)};
}

std::optional<double> Confusion::balanced_accuracy() const {
  const int fit = fits_fits + not_fits, not_fit = fits_not + not_not;
  if (fit == 0 || not_fit == 0) return std::nullopt;
  return (static_cast<double>(fits_fits) / fit + static_cast<double>(not_not) / not_fit) / 2;
}

std::pair<int, std::string> scale_of(std::int64_t accelerators) {
  constexpr std::pair<std::int64_t, const char*> kScales[] = {
      {0, "not stated"}, {8, "1-8"},       {16, "9-16"},     {32, "17-32"},     {64, "33-64"},
      {128, "65-128"},   {256, "129-256"}, {512, "257-512"}, {1024, "513-1024"}};
  int index = 0;
  for (const auto& [most, name] : kScales) {
    if (accelerators <= most) return {index, name};
    ++index;
  }
  return {index, "1025-"};
}

std::string in_percent(double share, const char* format) {
  return formatted(format, 100 * share);
}

}  // namespace headway
