// Replicas of the model, and which of them communicate with each other. Internal to
// src/simulate/ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "layout/run.hpp"
#include "step/program/groups.hpp"

namespace headway {

/// Sets of lanes: of each lane the set that it is in. A lane is the index of a rank along dp: all
/// ranks of a stage that have it are joined by calls within slots.
class LaneSets {
 public:
  explicit LaneSets(std::size_t lanes);
  void join(std::size_t a, std::size_t b);
  void join(const LaneSets& other);
  bool are_alone() const { return alone_; }
  std::size_t set_of(std::size_t lane) const { return set_[lane]; }
  std::size_t size() const { return set_.size(); }

  /// Every lane at the latest time of its set.
  void meet(std::vector<Seconds>& times) const;
  /// Whether some lane of each lane's set is marked.
  std::vector<bool> any(const std::vector<bool>& marked) const;

 private:
  std::vector<std::size_t> set_;  // the least lane of the set
  bool alone_ = true;
};

/// Which lanes of a stage take part in the same calls of a group.
LaneSets lanes_of(Group group, const Run& run);

/// The global ranks of a stage and lane, ascending.
std::vector<std::int64_t> ranks_of(std::int64_t stage, std::int64_t lane, const Layout& layout);

}  // namespace headway
