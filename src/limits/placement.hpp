// Where the degrees of a layout lie on the levels: every placement, cut short by exact bounds.
// Internal to src/limits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "limits/step.hpp"

namespace headway::limits {

struct Degrees {
  std::int64_t data = 1, tensor_model = 1, tensor_ff = 1, pipeline = 1, expert = 1;
};

/// A layout without its placement, with what does not depend on it.
struct Candidate {
  Degrees degrees;
  std::int64_t micro_batches = 1, interleave = 1;
  bool zero_bubble = false;
  Seconds matmul;
  double bubble = 0;
  Seconds bound;  // no placement is faster
};

/// Whether a time with this bound could be below or, but for rounding, equal to `time`.
inline bool is_below(Seconds bound, Seconds time) {
  constexpr double kRounding = 1 - 1e-12;
  return bound * kRounding <= time;
}

/// The best placement of all candidates considered so far.
class Placements {
 public:
  /// Only steps shorter than `cap` count.
  Placements(const Setting& setting, const Network& network, std::int64_t gpus, Seconds cap);

  void consider(const Candidate& candidate);

  bool found() const { return found_; }
  Seconds best_time() const { return best_time_; }
  const Layout& best() const { return best_; }

 private:
  using Counts = std::array<std::int64_t, 5>;  // in the order of Degrees

  void place(const Candidate& candidate, int level, Layout& layout, const Counts& left);
  void split(const Candidate& candidate, int level, Layout& layout, const Counts& left,
             std::size_t kind, std::int64_t domains);

  const Setting& setting_;
  std::vector<Network> collapsed_;  // from each level outwards; the last one is the network
  std::array<std::int64_t, kMostLevels> domains_;
  bool found_ = false;
  Seconds best_time_;
  Seconds best_communication_;
  Layout best_;
};

}  // namespace headway::limits
