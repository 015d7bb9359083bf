// From model, job and layout to what each class of rank does in one step.
#include <algorithm>

#include "model/count.hpp"
#include "step/data_parallel.hpp"
#include "step/pipeline.hpp"

namespace headway {
namespace {

// Forward FLOPs of one sequence that run again before the backward pass: of all layers, or of the
// attention core alone.
Flops recomputed_flops(const Model& model, const Job& job, Recompute recompute,
                       AttentionFlops convention) {
  Flops out(0);
  if (recompute == Recompute::none) return out;
  const double tokens = static_cast<double>(job.sequence);
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const Layer& layer = model.kinds[kind];
    const auto number = static_cast<double>(
        std::count(model.pattern.begin(), model.pattern.end(), static_cast<std::uint8_t>(kind)));
    if (recompute == Recompute::full) {
      out += number * layer_forward_flops(model, layer, job.sequence, convention);
    } else if (layer.attention) {
      const Attention& attention = *layer.attention;
      const double widths =
          static_cast<double>(attention.heads * (attention.head_dim + attention.value_dim));
      out += number *
             Flops(2 * tokens * widths * mean_keys(job.sequence, attention.window, convention));
    }
  }
  return out;
}

// A prediction module ends in the model's own head: its work and calls once more, its weights not.
void add_shared_head(Block& prediction, const Block& head) {
  prediction.ops.insert(prediction.ops.end(), head.ops.begin(), head.ops.end());
  prediction.calls.insert(prediction.calls.end(), head.calls.begin(), head.calls.end());
  prediction.working += head.saved + head.working;
}

}  // namespace

const GroupSpan& span_of_group(const Spans& spans, Group group) {
  switch (group) {
    case Group::tp:
      return spans.tp;
    case Group::cp:
      return spans.cp;
    case Group::ep:
      return spans.ep;
    case Group::pp:
    case Group::embedding:
      return spans.pp;
    case Group::dp:
      return spans.shard;
    case Group::expert_dp:
      return spans.expert_dp;
    case Group::dp_replica:
      return spans.replica;
    case Group::model:
      return spans.model;
    case Group::world:
      return spans.world;
  }
  return spans.dp;
}

Step lower(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster) {
  const Slice slice(model, job, layout);
  Step step;
  step.micro_batches = micro_batches(job, layout);
  step.spans = spans(layout, cluster);

  // Blocks: first the kinds of layer, in the model's order, then the ends.
  BlockIndex index;
  step.blocks.reserve(kMostBlocks);
  for (const Layer& layer : model.kinds) {
    step.blocks.push_back(lower_layer(slice, layer, BlockKind::layer));
  }
  if (model.vocabulary > 0) {
    index.embedding = static_cast<int>(step.blocks.size());
    step.blocks.push_back(lower_embedding(slice));
    index.head = static_cast<int>(step.blocks.size());
    step.blocks.push_back(lower_head(slice));
  }
  if (model.prediction_layers > 0) {
    index.prediction = static_cast<int>(step.blocks.size());
    step.blocks.push_back(lower_layer(slice, model.kinds.back(), BlockKind::prediction));
    if (index.head >= 0) {
      add_shared_head(step.blocks.back(), step.blocks[static_cast<std::size_t>(index.head)]);
    }
  }
  const std::vector<Weights> weights = weights_of(slice, step.blocks);
  add_weight_sharding(step.blocks, slice, weights);
  for (Block& block : step.blocks) {
    add_batch_calls(block, slice);
    add_offload(block, slice);
  }

  // Stages: which blocks each rank of the pipeline holds, and what it does once a step.
  step.stages = stage_classes(model, layout, index, slice.habit.balances_stages);
  for (StageClass& stage : step.stages) {
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      stage.parameters += static_cast<double>(stage.counts[i]) *
                          (step.blocks[i].held.dense + step.blocks[i].held.experts);
    }
    add_pipeline_calls(stage, slice);
    add_data_parallel_calls(stage, slice, step.blocks, weights, step.spans);
    add_resident_gathers(stage, slice, weights);
    add_step_end_calls(stage, slice, step.blocks);
    add_optimizer(stage, slice, step.blocks);
  }

  account_memory(step, slice);

  // Model FLOPs: forward and twice that backward; frozen weights need no gradient of their own.
  const double sequences = static_cast<double>(job.global_batch);
  const double passes = slice.trains_weights ? 3.0 : 2.0;
  step.model_flops_full =
      sequences * passes * forward_flops(model, job.sequence, AttentionFlops::full);
  step.model_flops_causal =
      sequences * passes * forward_flops(model, job.sequence, AttentionFlops::causal);
  step.recomputed_flops_full =
      sequences * recomputed_flops(model, job, layout.recompute, AttentionFlops::full);
  step.recomputed_flops_causal =
      sequences * recomputed_flops(model, job, layout.recompute, AttentionFlops::causal);
  return step;
}

}  // namespace headway
