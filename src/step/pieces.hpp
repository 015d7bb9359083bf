// The pieces of lower(), for who lowers many layouts and keeps what they share: a search over
// layouts. Each says which fields of the layout it reads, beside those of the model and the job.
#pragma once

#include "step/data_parallel.hpp"
#include "step/pipeline.hpp"

namespace headway {

/// Model FLOPs of the whole step without the scores that masks leave out: above the diagonal, and
/// between documents.
Flops least_model_flops(const Model& model, const Job& job, const Layout& layout);

/// The blocks of a step and where the ends stand among them.
struct LoweredWork {
  std::vector<Block> blocks;  // at most kMostBlocks
  BlockIndex index;
};
/// The same with their tensors.
struct LoweredBlocks {
  std::vector<Block> blocks;  // at most kMostBlocks
  std::vector<Weights> weights;
  BlockIndex index;
};

/// What a rank computes for one micro-batch, with the calls of tensors and experts among it. Reads
/// how a layer is split, the micro-batch, recomputation, what is offloaded of activations, and
/// whether weights are sharded; of pp only whether it is 1. Of ep and etp only blocks with routed
/// experts read anything; those without may be left empty, or those with.
enum class BlockChoice : std::uint8_t { all, with_experts, without_experts };
LoweredWork lower_work(const Slice& slice, BlockChoice choice = BlockChoice::all);

/// Adds to that what it shares with other ranks: weights that are sharded, the batch; and what goes
/// to the host. Reads how states are sharded and overlapped, too; of dp where nothing is sharded or
/// offloaded only whether dp·cp is 1.
void add_shared_calls(std::vector<Block>& blocks, const Slice& slice,
                      const std::vector<Weights>& weights);

/// Both.
LoweredBlocks lower_blocks(const Slice& slice);

/// The stages with their blocks and parameters, without ops and calls. Reads the parameters that
/// blocks hold (tp, ep, etp, pp = 1), pp, vpp, the schedule and the spread of layers.
std::vector<StageClass> lower_stages(const Slice& slice, const LoweredBlocks& lowered);

/// What a stage does once a step besides its transfers (add_pipeline_calls). Reads of the blocks
/// what they hold, the spans, and every field that says how states are sharded and overlapped; the
/// micro-batch only at ZeRO 2.
void add_step_calls(StageClass& stage, const Slice& slice, const LoweredBlocks& lowered,
                    const Spans& spans);

/// What a rank of a stage holds that no micro-batch changes: weights, gradients, states, and what
/// passes through [STEP-9]. Reads of the blocks what they hold, and no micro-batch.
struct HeldStates {
  Bytes parameters, gradients, optimizer, buffers;
  Bytes offloaded;  // states in the host's memory
};
HeldStates held_states(const std::vector<Block>& blocks, const StageClass& stage,
                       const Slice& slice);

/// What its micro-batches hold [STEP-9]. Reads nothing of how states are sharded.
struct HeldActivations {
  Bytes activations{}, in_flight{};  // in all; beyond the one in work
};
HeldActivations held_activations(const std::vector<Block>& blocks, const StageClass& stage,
                                 const Slice& slice, std::int64_t micro_batches);

/// One stage more of those among which the rank is sought that holds most.
void add_stage(MostHeld& most, std::int64_t stage, const HeldStates& states,
               const HeldActivations& held);

/// Bytes on the rank that holds most, and on rank 0 [STEP-9]. Reads no span.
MostHeld hold(const std::vector<Block>& blocks, const std::vector<StageClass>& stages,
              const Slice& slice, std::int64_t micro_batches);

}  // namespace headway
