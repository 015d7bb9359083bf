#include "step/memory/memory.hpp"

#include <algorithm>

#include "step/memory/activations.hpp"
#include "step/methods/methods.hpp"
#include "step/passes/pipeline.hpp"
#include "step/passes/update.hpp"

namespace headway {
namespace {

// What a rank's micro-batches hold, by the layers that full recomputation computes again at once:
// as many as are asked for, and no more than a chunk has. Of them one input is kept.
class Activations {
 public:
  Activations(const std::vector<Block>& blocks, const StageClass& stage, const Layout& layout)
      : blocks_(blocks), stage_(stage), layout_(layout) {
    if (layout.recompute != Recompute::full) return;
    std::int64_t layers = 0, of_rank = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].kind != BlockKind::layer) continue;
      layers += in_chunk(i);
      of_rank += stage.counts[i];
    }
    const std::int64_t again = of_rank / layout.recompute_one_in;
    again_ = static_cast<double>(again) / static_cast<double>(std::max<std::int64_t>(1, of_rank));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!one_in_some(blocks[i])) continue;
      let_go_ += again_ * static_cast<double>(stage.counts[i]) * let_go(blocks[i]);
    }
    at_once_ = std::clamp<std::int64_t>(layers, 1, layout.recompute_every);
    // A block's share of an input is that of one of `recompute_every` layers.
    share_ = static_cast<double>(layout.recompute_every) / static_cast<double>(at_once_);
  }

  Bytes kept(const Block& block) const {
    if (one_in_some(block)) return block.saved_if_kept - again_ * let_go(block);
    return block.saved * (is_layer(block.kind) ? share_ : 1.0);
  }

  // While a recomputed piece runs backward, everything in it is alive, and in the layers that run
  // again with it.
  Bytes alive(std::size_t at) const {
    const Block& block = blocks_[at];
    if (block.kind == BlockKind::head || block.kind == BlockKind::vocabulary) {
      return block.saved + block.working;
    }
    Bytes out = dropped(block) + block.working;
    if (block.kind != BlockKind::layer || at_once_ == 1) return out;
    // The largest ones that a chunk has besides.
    std::int64_t others = at_once_ - 1;
    std::array<std::int64_t, kMostBlocks> left{};
    for (std::size_t i = 0; i < blocks_.size(); ++i) left[i] = in_chunk(i) - (i == at ? 1 : 0);
    while (others > 0) {
      std::size_t largest = blocks_.size();
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (blocks_[i].kind != BlockKind::layer || left[i] <= 0) continue;
        if (largest == blocks_.size() || dropped(blocks_[i]) > dropped(blocks_[largest])) {
          largest = i;
        }
      }
      if (largest == blocks_.size()) break;
      const std::int64_t taken = std::min(others, left[largest]);
      out += static_cast<double>(taken) * dropped(blocks_[largest]);
      others -= taken;
      left[largest] = 0;
    }
    return out;
  }

 private:
  // Blocks of one kind in the fullest chunk.
  std::int64_t in_chunk(std::size_t kind) const {
    const std::int64_t chunks =
        layout_.pp > 1 ? chunks_of_rank(layout_.schedule, layout_.vpp) : layout_.vpp;
    return (stage_.counts[kind] + chunks - 1) / chunks;
  }
  // Of one that runs again: `saved` is the mean over those that do and those that do not.
  Bytes let_go(const Block& block) const {
    return (block.saved_if_kept - block.saved) * (1 / block.again);
  }
  Bytes dropped(const Block& block) const {
    if (!one_in_some(block)) return block.saved_if_kept - kept(block);
    return std::min(let_go(block), let_go_);
  }
  bool one_in_some(const Block& block) const { return is_layer(block.kind) && block.again < 1; }

  const std::vector<Block>& blocks_;
  const StageClass& stage_;
  const Layout& layout_;
  std::int64_t at_once_ = 1;
  double share_ = 1;
  Bytes let_go_;      // by all of them
  double again_ = 1;  // the rank's share of layers that run again: of 7 one in 2 are 3
};

}  // namespace

HeldStates held_states(const std::vector<Block>& blocks, const StageClass& stage, const Job& job,
                       const Layout& layout) {
  const Habits& habit = habits(job);
  const bool sharded = shards_weights(job, layout);
  const double dense_ranks = states_ranks(layout);
  const double expert_ranks = expert_states_ranks(layout);
  // 16-bit recipes have the framework's sizes; in fp32 everything takes four bytes.
  const bool mixed = job.recipe->master_weights;
  const Bytes weight_bytes(mixed ? habit.memory.weights : 4.0);
  const bool learns = !job.method.forward_only;  // by gradients
  const Bytes gradient = learns ? gradient_bytes(job) + kept_gradients(job.method) : Bytes(0);
  const Bytes state_bytes = (learns ? optimizer_state_bytes(job) : Bytes(0)) +
                            Bytes(keeps_master(job) ? 4 : 0) + kept_states(job.method);

  Bytes parameters, gradients, states, waiting;
  // [METHOD-6] Of a model that is trained in parts, one is held: the larger of its ends, too.
  const auto parts = static_cast<std::int64_t>(layout.parts);
  const auto held_of = [&](BlockKind kind) {
    double most = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].kind == kind && stage.counts[i] > 0) most = blocks[i].held.dense;
    }
    return most;
  };
  const BlockKind left_out = held_of(BlockKind::embedding) > held_of(BlockKind::head)
                                 ? BlockKind::head
                                 : BlockKind::embedding;
  const auto count_here = [&](std::size_t i) {
    if (parts == 1) return stage.counts[i];
    if (is_layer(blocks[i].kind)) return (stage.counts[i] + parts - 1) / parts;
    return blocks[i].kind == left_out ? std::int64_t{0} : stage.counts[i];
  };
  double all_here = 0;       // parameters
  double largest_block = 0;  // parameters
  double ends = 0;           // those of embedding and head where they form a unit of their own
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (count_here(i) == 0) continue;
    const Block& block = blocks[i];
    const HeldParameters& held = block.held;
    const double count = static_cast<double>(count_here(i));
    all_here += count * (held.dense + held.experts + held.own + held.tables);
    const bool layer = is_layer(block.kind);
    const Bytes weight = layer ? layer_weight_bytes(job) : weight_bytes;
    const auto add = [&](double held_here, double ranks) {
      const double trained = held_here * held.trained;
      parameters += count * held_here * weight / (sharded ? ranks : 1.0);
      if (sharded && layout.secondary > 0) {  // [STEP-27] what was gathered, once more
        parameters +=
            count * held_here * gathered_bytes(job) / static_cast<double>(layout.secondary);
      }
      gradients += count * trained * gradient / (sharded || layout.zero >= 2 ? ranks : 1.0);
      states += count * trained * state_bytes / (layout.zero >= 1 ? ranks : 1.0);
      waiting += count * trained * waiting_bytes(job) / (layout.zero >= 1 ? ranks : 1.0);
    };
    add(held.dense, dense_ranks);
    add(held.experts, expert_ranks);
    parameters += count * held.own * weight;
    gradients += count * held.own * gradient;
    states += count * held.own * state_bytes;
    // Tables of embeddings, with a number for each row that scales its step (row-wise
    // Adagrad): below a hundredth of them.
    parameters += count * held.table_bytes;
    if (layer || !habit.sharding.flat_gradients) {
      largest_block = std::max(largest_block, held.dense + held.experts);
    } else {
      ends += held.dense;
    }
  }

  HeldStates out;
  out.parameters = layout.offload_parameters ? Bytes(0) : parameters;
  out.gradients = gradients;
  out.optimizer = layout.offload_optimizer ? Bytes(0) : states;
  out.offloaded = layout.offload_optimizer ? states : Bytes(0);
  const double gathered =
      sharded ? (layout.zero == 3 && layout.reshard_after_forward
                     ? largest_block * static_cast<double>(habit.sharding.gathered_blocks)
                     : all_here)
              : 0.0;
  const bool reduces = ranks_of_replica(layout) * layout.copies() > 1 && !sharded && learns;
  const Bytes transient = transient_gradient_bytes(job);
  const bool whole = habit.memory.transient_of_stage;
  // FSDP's outermost unit, embedding and head, stays gathered, and its gradients grow from the
  // first to the last op of the backward pass.
  const bool kept_ends = sharded && layout.zero == 3 && layout.reshard_after_forward;
  const Bytes bucket = job.bucket_size > Bytes(0) && states_buckets(job, layout)
                           ? job.bucket_size
                           : habit.reduction.bucket * reduced_bytes(job);
  out.buffers = (gathered + (kept_ends ? 2 * ends : 0.0)) * gathered_bytes(job) +
                (sharded || reduces ? whole ? all_here : largest_block : 0.0) * transient +
                (reduces && layout.zero == 0 && !whole ? 2 * bucket : Bytes(0)) + waiting;
  return out;
}

namespace {

struct ApartOfRank : ActivationsOfRank {
  Bytes waiting;  // for the vocabulary of other stages; of what is at work
};

ApartOfRank apart(const std::vector<Block>& blocks, const StageClass& stage, const Layout& layout) {
  const Activations of(blocks, stage, layout);
  Bytes kept(0), widest(0), largest(0), waiting(0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (stage.counts[i] == 0) continue;
    const Block& block = blocks[i];
    // Of blocks with losses of their own, and of parts, one is alive at a time.
    const std::int64_t alive =
        is_layer(block.kind) ? std::max(layout.loss_blocks, layout.parts) : 1;
    const double count = static_cast<double>((stage.counts[i] + alive - 1) / alive);
    if (block.kind == BlockKind::vocabulary) {
      // [STEP-26] One micro-batch's waits for the parts of other stages beside the one in work.
      waiting += count * (block.saved + block.working);
    } else if (block.kind != BlockKind::head) {
      kept += count * of.kept(block);
    }
    widest = std::max(widest, of.alive(i));
    largest = std::max(largest, of.kept(block));
  }
  // Offloaded, two micro-batches' worth of one block stay: one in work, one on its way.
  if (layout.offload_activations) return {{Bytes(0), 2 * largest + widest + waiting}, waiting};
  return {{kept, widest + waiting}, waiting};
}

}  // namespace

ActivationsOfRank activations_of(const std::vector<Block>& blocks, const StageClass& stage,
                                 const Layout& layout) {
  return apart(blocks, stage, layout);
}

HeldActivations held_activations(const std::vector<Block>& blocks, const StageClass& stage,
                                 const Layout& layout, std::int64_t micro_batches) {
  const ApartOfRank held = apart(blocks, stage, layout);
  if (layout.offload_activations) return {held.at_work, Bytes(0)};
  // In the middle of two pipelines in opposite directions lies the most, before that of one.
  const std::int64_t middle = layout.schedule == Schedule::chimera ? layout.pp / 2 - 1 : 0;
  const std::int64_t fullest = std::clamp(middle, stage.first, stage.first + stage.stages - 1);
  const double flights = in_flight(layout, fullest, micro_batches);
  return {flights * held.kept + held.at_work,
          std::max(0.0, flights - 1) * held.kept + held.waiting};
}

void add_stage(MostHeld& most, std::int64_t stage, const HeldStates& states,
               const HeldActivations& held) {
  Memory memory;
  memory.parameters = states.parameters;
  memory.gradients = states.gradients;
  memory.optimizer = states.optimizer;
  memory.buffers = states.buffers;
  memory.activations = held.activations;
  memory.in_flight = held.in_flight;
  if (stage == 0) most.first = memory;
  if (memory.total() <= most.memory.total()) return;
  most.memory = memory;
  most.stage = stage;
  most.offloaded_states = states.offloaded;
}

MostHeld hold(const std::vector<Block>& blocks, const std::vector<StageClass>& stages,
              const Job& job, const Layout& layout, std::int64_t micro_batches) {
  MostHeld out;
  for (const StageClass& stage : stages) {
    add_stage(out, stage.first, held_states(blocks, stage, job, layout),
              held_activations(blocks, stage, layout, micro_batches));
  }
  return out;
}

}  // namespace headway
