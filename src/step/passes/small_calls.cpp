// Calls of a few bytes that stand beside those of weights, gradients and activations [STEP-21].
#include "model/count.hpp"
#include "step/passes/data_parallel.hpp"

namespace headway {
namespace {

void add_batch(Block& block, const Share& share) {
  if (share.split.tp == 1 || !share.habit.batch.broadcast) return;
  const double sequences = static_cast<double>(share.split.micro_batch);
  const double tokens = sequences * static_cast<double>(share.job.sequence);
  const auto send = [&](Bytes bytes, double count = 1) {
    block.items.push_back(
        {.what = Call{
             .op = CollectiveOp::broadcast,
             .group = Group::tp,
             .phase = Phase::forward,
             .dtype = Precision::fp32,
             .bytes = bytes,
             .count = count,
             .module = block.kind == BlockKind::head ? Module::head : Module::embedding,
         }});
  };
  if (share.habit.batch.field_by_field) {
    if (block.kind != BlockKind::head) {
      send(tokens * Bytes(8), 2);  // token ids and positions, in 64 bit
    }
    if (block.kind != BlockKind::embedding) {
      send(tokens * Bytes(8));  // labels
      send(tokens * Bytes(4));  // the loss mask
    }
    return;
  }
  // Five sizes in 64 bit, then the ids, one more than tokens: labels are the same ids moved by one.
  if (block.kind == BlockKind::head && share.around.one_stage) return;  // it has them already
  send(Bytes(40));
  send((tokens + sequences) * Bytes(8));
}

// What every tensor rank holds whole: norms, biases of row-split matrices, routers.
double replicated(const StageClass& stage, const Share& share, const std::vector<Block>& blocks) {
  double sum = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double count = static_cast<double>(stage.counts[i]);
    if (count == 0) continue;
    const Model& model = share.model;
    if (const Layer* layer = layer_of(share, blocks, i)) {
      const double more = blocks[i].kind == BlockKind::prediction ? 3 : 0;
      sum += count * (static_cast<double>(layer_parameters(model, *layer).replicated) +
                      more * norm_parameters(model));
    } else if ((blocks[i].kind == BlockKind::head && model.final_norm) ||
               (blocks[i].kind == BlockKind::embedding && model.embedding_norm)) {
      sum += count * norm_parameters(model);
    }
  }
  return sum;
}

}  // namespace

void add_batch_calls(Block& block, const Share& share, const Layout& layout) {
  if (is_layer(block.kind)) return;
  const bool head = block.kind == BlockKind::head;
  // Who has a part of the vocabulary needs ids and labels.
  const bool reads = share.around.splits_vocabulary() == (block.kind == BlockKind::vocabulary);
  if (reads) add_batch(block, share);
  const double loss = share.habit.batch.loss_each_micro_batch;
  if (head && loss > 0 && layout.dp * layout.cp > 1) {
    // Where fields are sent one by one the number of tokens goes with the loss.
    const double values = share.habit.batch.field_by_field ? 2 : 1;
    block.items.push_back({.what = Call{.op = CollectiveOp::all_reduce,
                                        .group = Group::dp,
                                        .phase = Phase::forward,
                                        .dtype = Precision::fp32,
                                        .bytes = Bytes(values * loss),
                                        .module = Module::head}});
  }
}

void add_step_end_calls(StageClass& stage, const Share& share, const Layout& layout,
                        const std::vector<Block>& blocks) {
  const Habits& habit = share.habit;
  const bool first = stage.first == 0;
  const bool last = stage.first + stage.stages == layout.pp;
  const auto sum = [&](Group group, Phase phase, Precision dtype, Bytes bytes,
                       Module module = Module::other) {
    push(stage, {.op = CollectiveOp::all_reduce,
                 .group = group,
                 .phase = phase,
                 .dtype = dtype,
                 .bytes = bytes,
                 .module = module});
  };
  const bool apart = share.model.tied_embeddings && layout.pp > 1 && !layout.split_vocabulary;
  if (apart && (first || last) && share.trains_weights) {
    for (const Block& block : blocks) {
      if (block.kind != BlockKind::embedding) continue;
      sum(Group::embedding, Phase::gradient, wire_precision(reduced_bytes(share.job)),
          block.held.dense * reduced_bytes(share.job), Module::embedding);
    }
  }
  if (share.sequence_parallel && habit.reduction.sums_replicated && share.trains_weights) {
    // Each tensor rank saw its own part of the tokens.
    const Bytes bytes = gradient_bytes(share.job);
    sum(Group::tp, Phase::gradient, wire_precision(bytes), bytes * replicated(stage, share, blocks),
        Module::stage);
  }
  // The gradient norm: one number; in fp16 before it, whether any gradient overflowed.
  const bool data = layout.dp * layout.cp > 1, model = layout.tp * layout.pp > 1;
  const bool shared = layout.zero >= 1 && data;
  const bool checks =
      share.job.recipe->activation == Precision::fp16 && habit.reduction.overflow > 0;
  for (const Bytes bytes : {Bytes(checks ? habit.reduction.overflow : 0.0), Bytes(4)}) {
    if (bytes == Bytes(0)) continue;
    if (habit.reduction.norm == NormRanks::world && shared) {
      sum(Group::world, Phase::optimizer, Precision::fp32, bytes);
      continue;
    }
    if (habit.reduction.norm == NormRanks::shards && shared) {
      sum(Group::dp, Phase::optimizer, Precision::fp32, bytes);
    }
    if (model) sum(Group::model, Phase::optimizer, Precision::fp32, bytes);
  }
  if (last && data && habit.batch.loss_each_step > 0) {
    sum(Group::dp, Phase::optimizer, Precision::fp32, Bytes(habit.batch.loss_each_step));
  }
}

}  // namespace headway
