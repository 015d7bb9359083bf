// Calls that data parallelism makes of weights and gradients. Internal to src/step.
#pragma once

#include "step/passes/weights.hpp"

namespace headway {

/// The format of a gradient of so many bytes on the wire.
Precision wire_precision(Bytes gradient);

inline void push(StageClass& stage, const Call& call) {
  stage.items.push_back({.what = call});
}

/// Once a step: gradients of two copies of the model added.
void add_copies(StageClass& stage, const Share& share, const Layout& layout,
                const std::vector<Block>& blocks, const std::vector<Weights>& weights);

/// ZeRO-3: small tensors that stay gathered, once after a step.
void add_resident_gathers(StageClass& stage, const Share& share,
                          const std::vector<Weights>& weights);

/// Every micro-batch: the batch passed on to all tensor ranks, the loss averaged for the log.
void add_batch_calls(Block& block, const Share& share, const Layout& layout);

/// Once a step, besides gradients and weights: norm, overflow, loss, what tensor ranks and the ends
/// of the pipeline hold alike.
void add_step_end_calls(StageClass& stage, const Share& share, const Layout& layout,
                        const std::vector<Block>& blocks);

}  // namespace headway
