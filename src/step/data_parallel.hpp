// Internal to src/step: calls that data parallelism makes of weights and gradients.
#pragma once

#include "step/weights.hpp"

namespace headway {

/// The format of a gradient of so many bytes on the wire.
Precision wire_precision(double bytes);

/// ZeRO-0 to 2, once a step: gradients reduced, updated weights gathered.
void add_data_parallel_calls(StageClass& stage, const Slice& slice,
                             const std::vector<Block>& blocks, const std::vector<Weights>& weights,
                             const Spans& spans);

/// Once a step: gradients of two copies of the model added.
void add_copies_calls(StageClass& stage, const Slice& slice, const std::vector<Block>& blocks,
                      const std::vector<Weights>& weights);

/// ZeRO-3: every block's gathers and reductions in each micro-batch.
void add_weight_sharding(std::vector<Block>& blocks, const Slice& slice,
                         const std::vector<Weights>& weights);

/// ZeRO-3: small tensors that stay gathered, once after a step.
void add_resident_gathers(StageClass& stage, const Slice& slice,
                          const std::vector<Weights>& weights);

/// Every micro-batch: the batch passed on to all tensor ranks, the loss averaged for the log.
void add_batch_calls(Block& block, const Slice& slice);

/// Once a step, besides gradients and weights: norm, overflow, loss, what tensor ranks and the ends
/// of the pipeline hold alike.
void add_step_end_calls(StageClass& stage, const Slice& slice, const std::vector<Block>& blocks);

}  // namespace headway
