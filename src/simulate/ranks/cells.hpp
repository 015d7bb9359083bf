// What a draw makes of each cell: a stage's ranks with the same index along dp. Internal to
// src/simulate/ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/ranks/draws.hpp"
#include "simulate/ranks/ranks.hpp"

namespace headway {

class Cells {
 public:
  Cells(const RanksWork& work, std::uint64_t seed);

  std::size_t lanes() const { return lanes_; }
  /// Of each lane of a stage: whether its network is slow, or fails from time to time.
  const std::vector<bool>& slow_links(std::size_t stage) const { return slow_links_[stage]; }
  const std::vector<bool>& flapping(std::size_t stage) const { return flapping_[stage]; }
  const Outages& outages() const { return outages_; }

  /// [SIM-32] What the kernels of the slowest rank take in its `slot`-th slot, of the usual; what
  /// those of the others take less is kept. `work`: of the slot, as usual.
  double kernels(std::size_t stage, std::size_t lane, std::int64_t slot, Seconds work);
  /// What those of the update do.
  double update(std::size_t stage, std::size_t lane) const { return at(stage, lane).update; }
  /// [SIM-33] What attention takes of a micro-batch of a copy of the model, of the mean.
  double attention(std::size_t lane, std::int64_t micro_batch, std::int64_t copy) const;
  /// [SIM-34] The pause behind the `slot`-th slot.
  Seconds pause(std::size_t stage, std::size_t lane, std::int64_t slot) const;

  /// By global rank: what its kernels took less than those of its cell.
  const std::vector<Seconds>& faster() const { return faster_; }

 private:
  struct Rank {
    std::size_t number = 0;
    double kernels = 1;
    std::int64_t pauses_behind = 0;  // the first slot behind which it pauses
  };
  struct Cell {
    std::vector<Rank> ranks;
    double kernels = 1, update = 1;
    bool differs = false;
  };
  const Cell& at(std::size_t stage, std::size_t lane) const {
    return cells_[stage * lanes_ + lane];
  }

  const RanksWork& work_;
  Draws draws_;
  std::size_t lanes_;
  std::vector<Cell> cells_;
  std::vector<std::vector<bool>> slow_links_, flapping_;
  Outages outages_;
  std::vector<Seconds> faster_;
};

}  // namespace headway
