// From model, job and layout to what each class of rank does in one step.
#include <algorithm>

#include "model/count.hpp"
#include "step/methods/methods.hpp"
#include "step/passes/data_parallel.hpp"
#include "step/passes/passes.hpp"
#include "step/passes/quantize.hpp"
#include "step/pieces.hpp"

namespace headway {
namespace {

// What all ranks compute again in a step [STEP-1].
Flops recomputed_flops(const Step& step, const Job& job, const Layout& layout,
                       AttentionFlops convention) {
  Flops out(0);
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    double blocks = 0;
    for (const StageClass& stage : step.stages) {
      blocks += static_cast<double>(stage.stages * stage.counts[i]) * stage.share;
    }
    out += blocks * headway::recomputed_flops(step.blocks[i], job, convention);
  }
  const double ranks_of_stage = static_cast<double>(layout.ranks() / layout.pp);
  return out * (ranks_of_stage * static_cast<double>(step.micro_batches));
}

// From the forward pass to all that a rank does in the block alone.
Block lowered(Program program, const Share& share, const Recomputation& recomputation) {
  split_tensors(program, share);
  split_vocabulary(program, share);
  exchange_context(program, share);
  route_experts(program, share);
  exchange_tables(program, share);
  exchange_features(program, share);
  exchange_classes(program, share);
  differentiate(program, share);
  const auto matrices = static_cast<double>(program.products.size());
  Block block = recompute(std::move(program), share, recomputation);
  quantize(block, share, matrices);
  run_passes(block, share);
  return block;
}

// A prediction module ends in the model's own head: its work and calls once more, its weights not.
// Where the head is split over stages, what is left of it.
void add_shared_head(Block& prediction, const Block& head) {
  prediction.items.insert(prediction.items.end(), head.items.begin(), head.items.end());
  prediction.working += head.saved + head.working;
}

}  // namespace

LoweredWork lower_work(const Share& share, const Recomputation& recomputation, BlockChoice choice) {
  const Model& model = share.model;
  LoweredWork out;
  const auto layer_of = [&](const Layer& layer, BlockKind kind) {
    return takes(choice, layer.experts.has_value())
               ? lowered(forward_layer(share, layer, kind), share, recomputation)
               : Block();
  };
  const auto head_of = [&] { return lowered(forward_head(share), share, recomputation); };
  // First the kinds of layer, in the model's order, then the ends.
  out.blocks.reserve(kMostBlocks);
  for (const Layer& layer : model.kinds) out.blocks.push_back(layer_of(layer, BlockKind::layer));
  if (model.vocabulary > 0) {
    out.index.embedding = static_cast<int>(out.blocks.size());
    out.blocks.push_back(
        takes(choice, false) ? lowered(forward_embedding(share), share, recomputation) : Block());
    out.index.head = static_cast<int>(out.blocks.size());
    out.blocks.push_back(takes(choice, false) ? head_of() : Block());
  }
  if (model.prediction_layers > 0) {
    const Layer& layer = model.kinds.back();
    out.index.prediction = static_cast<int>(out.blocks.size());
    out.blocks.push_back(layer_of(layer, BlockKind::prediction));
    if (out.index.head >= 0 && takes(choice, layer.experts.has_value())) {
      add_shared_head(out.blocks.back(), takes(choice, false)
                                             ? out.blocks[static_cast<std::size_t>(out.index.head)]
                                             : head_of());
    }
  }
  if (share.around.splits_vocabulary()) {
    out.index.vocabulary = static_cast<int>(out.blocks.size());
    out.blocks.push_back(
        takes(choice, false) ? lowered(forward_vocabulary(share), share, recomputation) : Block());
  }
  return out;
}

void add_shared_calls(std::vector<Block>& blocks, const Share& share, const Layout& layout,
                      const std::vector<Weights>& weights, const Spans& spans,
                      bool tp_shares_memory) {
  shard_weights(blocks, share, layout, weights, spans);
  for (Block& block : blocks) {
    add_batch_calls(block, share, layout);
    offload(block, share, layout);
    overlap(block.items, share, layout, tp_shares_memory);
  }
}

LoweredBlocks lower_blocks(const Share& share, const Recomputation& recomputation) {
  LoweredWork work = lower_work(share, recomputation);
  LoweredBlocks out{std::move(work.blocks), {}, work.index};
  out.weights = weights_of(share, out.blocks);
  return out;
}

std::vector<StageClass> lower_stages(const Share& share, const Layout& layout,
                                     const LoweredBlocks& lowered) {
  std::vector<StageClass> out =
      stage_classes(share.model, layout, lowered.index, share.habit.pipeline.balances_stages);
  add_heads(out, layout, lowered.index.head);
  for (StageClass& stage : out) {
    for (std::size_t i = 0; i < lowered.blocks.size(); ++i) {
      const HeldParameters& held = lowered.blocks[i].held;
      stage.parameters += static_cast<double>(stage.counts[i]) *
                          (held.dense + held.experts + held.own + held.tables);
    }
  }
  return out;
}

void add_step_calls(StageClass& stage, const Share& share, const Layout& layout,
                    const LoweredBlocks& lowered, const Spans& spans) {
  reduce_gradients(stage, share, layout, lowered.blocks, lowered.weights, spans);
  add_copies(stage, share, layout, lowered.blocks, lowered.weights);
  add_resident_gathers(stage, share, lowered.weights);
  add_step_end_calls(stage, share, layout, lowered.blocks);
  update(stage, share, layout, lowered.blocks);
  overlap(stage, share.job, layout);
  meet(stage, share, layout, lowered.blocks, spans);
}

Flops model_flops(const Model& model, const Job& job, AttentionFlops convention) {
  const double batch = static_cast<double>(job.global_batch);
  if (model.is_network()) return batch * network_training_flops(model);
  const double passes = job.method.forward_only ? 1.0 : job.task != Task::lora ? 3.0 : 2.0;
  return batch * passes * forward_flops(model, job.sequence, convention);
}

// Of windows of 3 x 3 in fp32 libraries multiply 36 of 144 times [KERNEL-7]; of networks without
// them nothing is left out.
static double least_share(const Model& model, const Job& job) {
  if (job.recipe->matmul != Precision::fp32) return 1;
  for (const Layer& layer : model.kinds) {
    for (const NetworkModule& module : layer.modules) {
      const auto* convolution = std::get_if<Convolution>(&module.shape);
      if (convolution != nullptr && convolution->taps == 9) return 36.0 / 144;
    }
  }
  return 1;
}

// Tokens attend to those of their own document, of which several lie on their rank or in the
// sequence; where other ranks' keys are selected at least to those of their own rank. Of sparse
// products the least is run.
Flops least_model_flops(const Model& model, const Job& job, const Layout& layout) {
  if (job.method.sparsity.density < 1) {
    Job dense = job;
    dense.method.sparsity = {};
    return sparse_shares(job.method.sparsity).inference * least_model_flops(model, dense, layout);
  }
  const bool ring = layout.context_exchange == ContextExchange::ring;
  const bool selects = job.method.selected < 1;
  std::int64_t here = ring ? job.sequence / layout.cp : job.sequence;
  if (!selects && documents_in(here, job) == 1) here = job.sequence;
  const std::int64_t documents = selects ? layout.cp : documents_in(here, job);
  if (model.is_network()) {
    return least_share(model, job) * model_flops(model, job, AttentionFlops::causal);
  }
  if (documents == 1) return model_flops(model, job, AttentionFlops::causal);
  Job of_documents = job;
  of_documents.sequence = (selects ? job.sequence : here) / documents;
  const double of_sequence =
      static_cast<double>(job.sequence) / static_cast<double>(of_documents.sequence);
  return of_sequence * model_flops(model, of_documents, AttentionFlops::causal);
}

Flops recomputed_flops(const Block& block, const Job& job, AttentionFlops convention) {
  Flops out(0);
  for (const Op& op : only<Op>(block.items)) {
    if (op.recomputed) out += work(op, convention) / (op.routed ? job.expert_imbalance : 1.0);
  }
  return block.again * out;
}

Step lower(const Run& run) {
  const Model& model = run.model;
  const Job& job = run.job;
  const Layout& layout = run.layout;
  const Share share(model, job, layout);
  Step step;
  step.micro_batches = micro_batches(job, layout);
  step.spans = spans(layout, run.cluster);

  // Blocks: what a rank does for one micro-batch.
  LoweredBlocks lowered = lower_blocks(share, layout);
  add_shared_calls(lowered.blocks, share, layout, lowered.weights, step.spans,
                   shares_memory(step.spans.tp, run.cluster));

  // Stages: which blocks each rank of the pipeline holds, and what it does once a step.
  step.stages = lower_stages(share, layout, lowered);
  for (StageClass& stage : step.stages) {
    add_pipeline_calls(stage, share, layout);
    add_step_calls(stage, share, layout, lowered, step.spans);
  }
  step.blocks = std::move(lowered.blocks);
  step.held = hold(step.blocks, step.stages, job, layout, step.micro_batches);

  step.model_flops_full = model_flops(model, job, AttentionFlops::full);
  step.model_flops_causal = model_flops(model, job, AttentionFlops::causal);
  step.recomputed_flops_full = recomputed_flops(step, job, layout, AttentionFlops::full);
  step.recomputed_flops_causal = recomputed_flops(step, job, layout, AttentionFlops::causal);
  return step;
}

}  // namespace headway
