// One optimiser step as seen by each class of rank: ops, calls and memory, no times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"
#include "model/count.hpp"
#include "model/model.hpp"
#include "step/program/call.hpp"
#include "step/program/op.hpp"

namespace headway {

enum class BlockKind : std::uint8_t { layer, embedding, head, prediction };

/// Parameters that one rank holds of a block.
struct HeldParameters {
  double dense = 0;              // reduced over the data-parallel ranks
  double experts = 0;            // reduced over the expert-data-parallel ranks
  double trained = 1;            // share of them that is trained (LoRA: the adapters only)
  double attention = 0;          // of a layer, attention's share of what is dense,
  double attention_trained = 0;  // and of what of it is trained
};

/// What a rank does for one micro-batch in one layer, in the embedding, or in head and loss.
struct Block {
  BlockKind kind = BlockKind::layer;
  std::vector<Op> ops;
  std::vector<Call> calls;  // counts are for one micro-batch
  HeldParameters held;
  Bytes saved;          // activations kept from the forward to the backward pass
  double again = 1;     // of such blocks, the share that runs again where recomputation is full
  Bytes saved_if_kept;  // the same without any recomputation: alive in one block at a time
  Bytes working;        // besides, while the block runs (logits, gathered tokens)
  Bytes host_transfer;  // over the host link in each direction of the block (offloading)
};

constexpr std::size_t kMostBlocks = kMostLayerKinds + 3;  // embedding, head, prediction

/// Pipeline stages with the same blocks. Counts are blocks of each kind on one rank, over all its
/// virtual chunks.
struct StageClass {
  std::int64_t first = 0;   // the first such stage
  std::int64_t stages = 1;  // how many there are
  std::array<std::int64_t, kMostBlocks> counts{};
  double share = 1;         // of the micro-batches, what goes through each of them: half where a
                            // rank holds a stage of each of two copies of the model
  std::vector<Call> calls;  // once a step: gradients, parameters, embedding, norm
  std::vector<Op> ops;      // once a step: the optimiser
  double parameters = 0;    // held by a rank
  double pieces = 0;  // of weights that the host handles one by one to gather them: tensors x ranks
};

/// Bytes a rank holds at its peak. `other`, the driver's and the allocator's share, is 0 in a step:
/// the forecast adds it.
struct Memory {
  Bytes parameters, gradients, optimizer, activations, buffers, other;
  Bytes in_flight;  // of the activations, those of micro-batches beyond the one in work
  Bytes total() const { return parameters + gradients + optimizer + activations + buffers + other; }
};

/// The memory of the rank that holds most, and of rank 0, which many logs report.
struct MostHeld {
  Memory memory;           // of the rank that holds most
  Bytes offloaded_states;  // of that rank, in the host's memory
  std::int64_t stage = 0;  // where it is
  Memory first;            // of rank 0
};

struct Step {
  std::vector<Block> blocks;       // at most kMostBlocks
  std::vector<StageClass> stages;  // in the order of their first stage
  std::int64_t micro_batches = 1;
  Spans spans;
  MostHeld held;
  Flops model_flops_full;  // of the whole step, attention in full [MODEL-1]
  Flops model_flops_causal;
  Flops recomputed_flops_full;  // of the whole step, on top of the model's
  Flops recomputed_flops_causal;
};

/// Of all ranks in a step: the forward pass and twice that backward; frozen weights need no
/// gradient of their own.
Flops model_flops(const Model& model, const Job& job, AttentionFlops convention);

/// What a rank computes again of these for one micro-batch. Of experts that get more tokens than
/// others the mean counts [STEP-1].
Flops recomputed_flops(const Block& block, const Job& job, AttentionFlops convention);

/// Lowers a legal layout (check() found nothing) to what its ranks do.
Step lower(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster);

}  // namespace headway
