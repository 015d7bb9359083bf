// What computation may run beside each call of a block, by what waits for what [FORECAST-8].
// Internal to src/forecast.
#pragma once

#include <vector>

#include "step/program/program.hpp"

namespace headway {

/// Goes through a block's items in order. Of one stream of kernels and one wire a call that nothing
/// need wait for yet runs beside: the products for weights' gradients behind it, or before it; the
/// other pieces of attention; of split products, the one that it feeds or that feeds it; of sums of
/// embeddings, the products of the block: a bottom MLP beside the tables.
class Beside {
 public:
  void add(const Op& op, Seconds seconds) {
    const bool backward = op.phase == Phase::backward;
    if (!op.weight_gradient && backward) gradients_ = Seconds(0);
    if (op.weight_gradient) into_weights_ = kNone;  // it needs the call's result
    if (into_weights_ != kNone) times_[into_weights_] += seconds;
    if (op.weight_gradient) gradients_ += seconds;
    if (std::holds_alternative<AttentionShape>(op.shape)) {
      core_ = seconds;
      if (in_pieces_ != kNone) times_[in_pieces_] = share_of_core();
      in_pieces_ = kNone;
    }
    if (std::holds_alternative<Matmul>(op.shape)) {
      products_ += seconds;
      if (of_tables_ != kNone) times_[of_tables_] += seconds;
    }
    if (std::holds_alternative<Matmul>(op.shape) && !op.weight_gradient) {
      product_ = seconds;
      if (feeds_ != kNone) times_[feeds_] = seconds;
      feeds_ = kNone;
    }
  }

  void add(const Call& call, Flow flow) {
    const std::size_t at = times_.size();
    times_.emplace_back(0);
    switch (flow) {
      case Flow::into_weights:
        into_weights_ = at;
        break;
      case Flow::of_input:
        times_.back() = gradients_;
        break;
      case Flow::in_pieces:
        // A ring in so many turns, and one piece more. Forward it stands before the core.
        turns_ = call.count;
        if (call.phase == Phase::forward) {
          in_pieces_ = at;
        } else {
          times_.back() = share_of_core();
        }
        break;
      case Flow::chain:
        if (call.phase == Phase::recompute) break;  // its products stand in the forward pass
        if (call.op == CollectiveOp::all_gather) {
          feeds_ = at;
        } else if (call.op != CollectiveOp::broadcast) {
          times_.back() = product_;
        }
        break;
      case Flow::of_tables:
        // Forward the products stand before it, though they need not; backward behind it.
        if (call.phase == Phase::forward) {
          times_.back() = products_;
        } else {
          of_tables_ = at;
        }
        break;
      case Flow::between:
      case Flow::of_samples:
      case Flow::ahead:
        break;
    }
  }

  std::vector<Seconds> times() { return std::move(times_); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Seconds share_of_core() const { return core_ * (turns_ / (turns_ + 1)); }

  std::vector<Seconds> times_;  // of each call so far
  // Calls whose computation is still to come, and computation that came last.
  std::size_t into_weights_ = kNone, in_pieces_ = kNone, feeds_ = kNone, of_tables_ = kNone;
  Seconds gradients_{}, core_{}, product_{}, products_{};
  double turns_ = 0;
};

}  // namespace headway
