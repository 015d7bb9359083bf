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

/// TimeToLoss of every point of a series, with the batch that comes to the loss first among powers
/// of two times the point's own [SCALE-24].
void add_time_to_loss(SweepSeries& series, const SameLoss& same, const SweepTools& tools);

}  // namespace headway
