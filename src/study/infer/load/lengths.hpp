// Lengths and moments of requests, drawn or of a list.
#pragma once

#include "base/random/random.hpp"
#include "study/infer/load/load.hpp"

namespace headway {

/// [INFER-14] The tokens of one of a spread about `nominal`, at least 1.
std::int64_t drawn_length(const LengthSpread& spread, std::int64_t nominal, SplitMix& numbers);

/// The lengths of a load's requests, one after another, and the times between random ones.
class Lengths {
 public:
  explicit Lengths(const Load& load) : load_(load) {}

  /// input and output of the next; what is longer than the load's longest is cut there.
  Listed next();
  /// The same as it is drawn.
  Listed drawn();
  /// Seconds to the next of random moments.
  double pause();

 private:
  const Load& load_;
  SplitMix numbers_{1};
  std::size_t turn_ = 0;
};

/// [INFER-14] Of requests that are drawn the share that is longer than the load's longest.
double share_cut(const Load& load);

}  // namespace headway
