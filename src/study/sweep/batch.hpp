// When a larger batch stops paying: time to the same loss instead of tokens/s.
#pragma once

#include "study/sweep/sweep.hpp"

namespace headway {

/// The loss that a base run comes to, in terms of what another batch takes to it.
struct SameLoss {
  double critical_batch = 0;  // tokens, at that loss
  double batch = 0;           // tokens a step of the base run
  double tokens = 0;          // that it trains on
  /// The tokens that a batch takes to the same loss [SCALE-24].
  double tokens_with(double batch_tokens) const;
};

/// Another batch on the accelerators of a point.
struct TriedBatch {
  std::int64_t sequences = 0;
  double tokens_per_second = 0;
};
/// The time to the loss with the point's own batch and with the best of the others [SCALE-24].
TimeToLoss time_to_loss(const SweepPoint& point, const std::vector<TriedBatch>& others,
                        const SameLoss& same, RunAssumptions assumed, const PowerConstants& power);
/// The batches that are tried of a run: powers of two times its own.
std::vector<std::int64_t> batches_beside(std::int64_t own);

/// TimeToLoss of every point of a series, with the batch that comes to the loss first among powers
/// of two times the point's own [SCALE-24].
void add_time_to_loss(SweepSeries& series, const SameLoss& same, const SweepSettings& settings);

}  // namespace headway
