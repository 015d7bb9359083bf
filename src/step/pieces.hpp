// The pieces of lower(), for who lowers many layouts and keeps what they share: a search over
// layouts. Each says which fields of the layout it reads, beside those of the model and the job.
#pragma once

#include "step/passes/pipeline.hpp"
#include "step/passes/weights.hpp"
#include "step/step.hpp"

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

/// What a rank computes for one micro-batch, with the calls of tensors and experts among it. Of ep
/// and etp only blocks with routed experts read anything; those without may be left empty, or those
/// with.
enum class BlockChoice : std::uint8_t { all, with_experts, without_experts };
constexpr bool takes(BlockChoice choice, bool experts) {
  return choice == BlockChoice::all || experts == (choice == BlockChoice::with_experts);
}
LoweredWork lower_work(const Share& share, const Recomputation& recomputation,
                       BlockChoice choice = BlockChoice::all);

/// Adds to that what it shares with other ranks: weights that are sharded, the batch; and what goes
/// to the host; and decides what of all calls runs under computation. Of dp where nothing is
/// sharded or offloaded it reads only whether dp·cp is 1, of the spans how many ranks of dp
/// a node has and whether tensor-parallel ranks share memory.
void add_shared_calls(std::vector<Block>& blocks, const Share& share, const Layout& layout,
                      const std::vector<Weights>& weights, const Spans& spans,
                      bool tp_shares_memory);

/// The blocks of a layout with their tensors, before those calls.
LoweredBlocks lower_blocks(const Share& share, const Recomputation& recomputation);

/// The stages with their blocks and parameters, without items. Reads the parameters that blocks
/// hold (tp, ep, etp, pp = 1) beside its arguments.
std::vector<StageClass> lower_stages(const Share& share, const Layout& layout,
                                     const LoweredBlocks& lowered);

/// What a stage does once a step besides its transfers (add_pipeline_calls). Reads of the blocks
/// what they hold, the spans, and every field that says how states are sharded and overlapped; the
/// micro-batch only at ZeRO 2.
void add_step_calls(StageClass& stage, const Share& share, const Layout& layout,
                    const LoweredBlocks& lowered, const Spans& spans);

}  // namespace headway
