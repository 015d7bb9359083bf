#include "base/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {

void SizeHistogram::add(Bytes size, double count) {
  if (!(size.value() > 0)) {
    empty_ += count;
    return;
  }
  const int power = std::clamp(std::ilogb(size.value()), 0, static_cast<int>(kBins) - 1);
  count_[static_cast<std::size_t>(power)] += count;
  bytes_[static_cast<std::size_t>(power)] += count * size;
}

std::vector<SizeHistogram::Bin> SizeHistogram::bins() const {
  const auto used = [](double count) { return count > 0; };
  const auto first = std::find_if(count_.begin(), count_.end(), used) - count_.begin();
  const auto last = std::find_if(count_.rbegin(), count_.rend(), used).base() - count_.begin();
  std::vector<Bin> out;
  for (auto i = first; i < last; ++i) {
    const auto bin = static_cast<std::size_t>(i);
    out.push_back({Bytes(std::ldexp(1.0, static_cast<int>(i))), count_[bin], bytes_[bin]});
  }
  return out;
}

SizeHistogram::Bin SizeHistogram::below(Bytes limit) const {
  Bin sum;
  for (std::size_t i = 0; i < kBins && std::ldexp(1.0, static_cast<int>(i)) < limit.value(); ++i) {
    sum.count += count_[i];
    sum.bytes += bytes_[i];
  }
  return sum;
}

SizeHistogram::Bin SizeHistogram::all() const {
  return below(Bytes(std::numeric_limits<double>::infinity()));
}

}  // namespace headway
