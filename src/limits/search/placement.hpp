// Where the degrees of a layout lie on the levels: every placement, cut short by exact bounds.
// Internal to src/limits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "limits/search/step.hpp"

namespace headway::limits {

/// A layout without its placement, with what does not depend on it.
struct Candidate {
  Degrees degrees;
  std::int64_t micro_batches = 1, interleave = 1;
  bool zero_bubble = false;
  double bubble = 0;
  Seconds matmul;
  NetworkTimes network;   // a bound: on one level of all bandwidth [LIMIT-12]
  Seconds time;           // the step with it: no placement is faster
  Seconds communication;  // of it: what decides between equal times
};

inline Seconds communication_of(const NetworkTimes& network) {
  return network.tensor + network.data + network.pipeline;
}

/// The best placement of all candidates considered so far.
class Placements {
 public:
  /// Only steps shorter than `cap` count.
  Placements(const Setting& setting, const Shape& shape, const Network& network, std::int64_t gpus,
             Seconds cap);

  /// Whether a layout of at least this time and communication could be better than the best.
  bool could_improve(Seconds time, Seconds communication) const {
    // Bounds are exact but for rounding.
    constexpr double kDown = 1 - 1e-12;
    if (time < best_time_ * kDown) return true;
    return time * kDown <= best_time_ && communication * kDown < best_communication_;
  }

  void consider(const Candidate& candidate);

  bool found() const { return found_; }
  Seconds best_time() const { return best_time_; }
  const Layout& best() const { return best_; }

 private:
  enum Kind : std::uint8_t { kData, kPipeline, kTensorModel, kTensorFf, kExpert };
  static constexpr std::size_t kKinds = 5;
  // What one candidate's search through the levels carries along.
  struct Path {
    const Candidate& candidate;
    Layout layout;
    std::array<bool, kKinds> may_cross;  // the outermost level in use [LIMIT-37]
  };
  // GPUs on a level and inside it that no degree has taken yet.
  struct Room {
    std::int64_t here = 1, inside = 1;
  };

  void place(Path& path, std::size_t level, const Degrees& left, const NetworkTimes& network);
  void place_stages(Path& path, std::size_t level, const Degrees& left, const NetworkTimes& network,
                    Room room);
  void place_data(Path& path, std::size_t level, const Degrees& left, NetworkTimes network,
                  Room room);
  void finish(const Path& path, const NetworkTimes& network);
  bool could_improve(const Path& path, const NetworkTimes& network) const;
  bool has_memory(const Path& path, std::size_t level) const;
  /// Which degrees may cross the outermost level in use; false where none of them suffices.
  bool find_crossing(Path& path) const;
  bool may_lie(const Path& path, std::size_t level, Kind kind) const {
    return level != outermost_ || outermost_ == 0 || path.may_cross[kind];
  }

  const Setting& setting_;
  const Shape& shape_;
  std::int64_t gpus_;
  std::size_t levels_;
  std::size_t outermost_ = 0;       // level of more than one domain
  std::vector<Network> collapsed_;  // up to each level; the first one is the network itself
  std::array<std::int64_t, kMostLevels> domains_;
  std::array<std::int64_t, kMostLevels> inside_;  // GPUs in a domain of the level below
  std::array<std::vector<std::int64_t>, kMostLevels> inner_parts_;  // divisors of these
  bool found_ = false;
  Seconds best_time_;
  Seconds best_communication_;
  Layout best_;
};

}  // namespace headway::limits
