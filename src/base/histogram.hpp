// How many messages of which size.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// Counts messages by powers of two: a bin holds the sizes from `from` up to, not including, twice
/// that; the first begins at 1 B.
class SizeHistogram {
 public:
  struct Bin {
    Bytes from;
    double count = 0;  // messages
    Bytes bytes;       // of all of them
  };

  void add(Bytes size, double count = 1);

  /// From the smallest size that occurs to the largest, empty ones between them too.
  std::vector<Bin> bins() const;
  /// Messages smaller than `limit`, a power of two; empty messages are not counted.
  Bin below(Bytes limit) const;
  Bin all() const;
  /// Messages without content.
  double empty() const { return empty_; }

 private:
  static constexpr std::size_t kBins = 64;
  std::array<double, kBins> count_{};
  std::array<Bytes, kBins> bytes_{};
  double empty_ = 0;
};

}  // namespace headway
