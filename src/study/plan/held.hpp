// What the ranks of a tuple of degrees with a spread of experts hold, whatever their order, the
// micro-batch and the split of a layer. Internal to the planner.
#pragma once

#include <optional>

#include "study/plan/blocks.hpp"
#include "study/plan/inner.hpp"

namespace headway {

class PlanHeld {
 public:
  /// `bare`: of one sequence, with the first of its splits and no inner choices.
  PlanHeld(const Model& model, const Job& job, const std::vector<InnerChoice>& inner,
           const InnerShape& shape, const Layout& bare, SampleBlocks sample);

  /// A layout of these as far as what is held of states hangs on it: on nothing of a cell, and on
  /// nothing that micro-batches save.
  Layout layout_of(const InnerChoice& choice) const;

  const LoweredBlocks& sample() const { return *sample_; }
  /// The stages of a schedule with its virtual stages.
  const std::vector<StageClass>& stages(std::size_t pipe) const { return stages_[pipe]; }
  /// waits_of a schedule, and the least of any; of ranks with chunks that differ none is known.
  double waits(std::size_t pipe) const { return waits_[pipe]; }
  double waits() const { return least_waits_; }
  /// What each of them holds of states where they are sharded so, and its sum.
  const HeldStates* states(std::size_t shard, std::size_t pipe) const {
    return &states_[at(shard, pipe)];
  }
  const Bytes* totals(std::size_t shard, std::size_t pipe) const {
    return &totals_[at(shard, pipe)];
  }
  /// The least of any choice, on the rank that holds most.
  Bytes least() const { return least_; }
  /// [PLAN-3] The least that micro-batches take on a rank, of blocks of which this is known. While
  /// a layer is in work all that its micro-batch saves there is alive, kept or made again.
  Bytes least_activations(const HeldBlocks& blocks) const;
  /// The least of any choice of a part, by stages.
  const std::vector<Bytes>& least(const InnerPart& part);

  /// Whether a schedule is legal with a micro-batch, by its place; nothing: not known yet.
  std::vector<std::vector<std::optional<bool>>> legal;

 private:
  std::size_t at(std::size_t shard, std::size_t pipe) const {
    return shard * first_.back() + first_[pipe];
  }

  const InnerShape& shape_;
  Layout bare_;
  SampleBlocks sample_;
  std::vector<std::vector<StageClass>> stages_;  // of each pipe
  std::vector<double> waits_;                    // of each pipe
  double least_waits_ = 1;
  std::vector<std::size_t> first_;  // of each pipe among the stages of all; their end
  std::vector<HeldStates> states_;  // by shard and stage
  std::vector<Bytes> totals_;
  Bytes least_{};
  std::vector<std::vector<std::size_t>> layers_;  // the blocks of layers of a stage, each set once
  std::vector<std::vector<Bytes>> least_of_;      // parts, by number
};

}  // namespace headway
