// What a framework does where a job does not say, and what it can run at all: a table of facts for
// each (data/frameworks), so that no condition on a framework's name stands anywhere.
#pragma once

#include <cstdint>

#include "base/quantity.hpp"
#include "layout/frameworks/framework.hpp"

namespace headway {

/// How ZeRO-1 and ZeRO-2 bring gradients to their owners.
enum class GradientReduction : std::uint8_t { reduce_scatter, all_reduce };

/// When a bucket of gradients closes: once it holds the limit (it may exceed it by a part of one
/// tensor), or before a tensor that would exceed the limit (a larger tensor is alone).
enum class Closing : std::uint8_t { reached, before };

/// How ZeRO-1 and 2 gather the updated weights: in the buckets of the gradients; in pieces of at
/// least a bucket, each rank's part of which begins at an even place; in one call.
enum class WeightGathers : std::uint8_t { buckets, pieces, whole };

/// Ranks over which the gradient norm is summed: those that hold one copy of the model (`model`);
/// all, where states are sharded (`world`); those that share the states, and then those of a copy
/// (`shards`).
enum class NormRanks : std::uint8_t { model, world, shards };

/// How many micro-batches virtual stages take: any number; a multiple of the stages; fewer than the
/// stages, or equal rounds of at least as many (`rounds`).
enum class Interleaving : std::uint8_t { any, multiple, rounds };

/// Bytes a parameter in 16-bit mixed precision (in fp32 and tf32 all are 4).
struct MemoryHabits {
  double weights = 2;               // resident weights; ZeRO-3 shards them
  bool master_separate = true;      // a separate fp32 copy belongs to the optimiser states
  double gradients = 2;             // resident gradients; ZeRO-2 and 3 shard them
  double gradients_fp16 = 2;        // the same in the fp16 recipe
  double weights_8_bit = 4;         // resident weights of layers in 8- and 4-bit recipes
  double gradients_8_bit = 2;       // resident gradients in those
  double transient_gradients = 0;   // of one block, before they are added to the resident ones
  bool transient_of_stage = false;  // of all blocks where ranks share gradients: buckets that stay,
                                    // or flat copies of what is sent
  double loss = 10;                 // bytes a logit that live at once while the loss runs
  bool gaps_cost_time = false;  // memory is not taken in segments that grow in place, but with gaps
                                // that cost time at its limit [FORECAST-15]
};

struct ShardingHabits {
  int zero = 0;                      // the ZeRO stage of the framework's own recipes
  int most_zero_in_pipeline = 3;     // what its pipelines run with
  double gathered = 2;               // bytes a parameter of a gathered block (ZeRO-3)
  std::int64_t gathered_blocks = 2;  // blocks alive at once: this one and those prefetched
  bool flat_gradients = false;       // ZeRO-3: a block's gradients are put together in one tensor,
                                     // divided by the ranks, then reduced; resident are the sharded
                                     // ones only
  bool zero2_is_zero3_kept = false;  // ZeRO-2 gathers sharded weights once a micro-batch and keeps
                                     // them until the backward pass
  bool keeps_gathered = false;       // its configurations can ask for that at ZeRO-3, too
  bool sends_indices = true;    // of embedding tables on other ranks; false: each rank's reader has
                                // those of its own tables
  bool formats_chosen = false;  // its configurations state the formats of gathered weights and of
                                // gradients on the wire
  WeightGathers gathers = WeightGathers::buckets;
  bool zero_plus_plus = false;  // its configurations ask for second copies of the weights, 8-bit
                                // weights and 4-bit gradients on the wire
  double fetch = 0;         // ZeRO-3: tensors are fetched until they have so many parameters; 0: a
                            // block at once
  double resident = 0;      // smaller tensors are never dropped, but gathered once after a step
  double reuse = 0;         // what is needed again within so many parameters is not dropped
  bool outer_unit = false;  // embedding, head and final norm are one unit, gathered once a
                            // micro-batch
  bool at_once = false;  // ZeRO-1: after the backward pass, all gradients and then all weights in
                         // one call each
};

struct ReductionHabits {
  double reduced = 2;  // bytes a gradient element on the wire, at most those of resident ones
  GradientReduction by = GradientReduction::reduce_scatter;
  bool each_micro_batch = false;  // ZeRO-2 reduces after every micro-batch
  // Buckets of gradients at ZeRO 0 to 2, in parameters; 0: one call for everything.
  double bucket = 0;
  double bucket_a_rank = 0;                  // at least so many for each data-parallel rank
  double first_bucket = 0;                   // the limit of the first one; 0: as of all
  Closing bucket_closes = Closing::reached;  // ZeRO-1, 2 and 3; ZeRO-0 and DDP: once reached
  std::uint8_t bucket_stated = 0;  // ZeRO stages, a bit each, at which its configurations state it
  bool bucket_if_overlapped = false;  // without overlap one call for everything
  bool first_stage_buckets = false;   // pipelines: all but a rank's first chunk on the first stage
                                      // reduce and gather in one call
  NormRanks norm = NormRanks::model;
  double overflow = 0;           // bytes of the check for overflow (fp16)
  bool sums_replicated = false;  // under sequence parallelism: gradients of what tensor ranks hold
                                 // alike
};

/// What runs under computation unless the layout says otherwise.
struct OverlapHabits {
  bool gradients = false;
  bool parameters = false;
  bool tensor = false;
  bool tables = false;  // exchange of what samples read of tables: under a bottom MLP beside them
};

struct PipelineHabits {
  bool splits_transfers = false;   // between stages each tp rank sends a tp-th, gathered on arrival
  Bytes metadata{};                // a shape message before each first send
  bool describes_sends = false;    // two small messages describe every tensor that is sent
  bool balances_stages = false;    // layers by the weights of all products, the head among them
  bool spreads_as_stated = false;  // layers that do not divide evenly lie as its configuration says
  Interleaving interleaved = Interleaving::any;
  bool micro_batches_in_rounds = false;  // a multiple of the stages, without virtual ones, too
};

struct BatchHabits {
  bool broadcast = false;            // the first tensor rank reads a micro-batch and passes it on
  bool field_by_field = false;       // each field of it by itself
  double loss_each_micro_batch = 0;  // bytes of the reported loss, averaged over dp
  double loss_each_step = 0;
};

struct ExpertHabits {
  bool split_as_layers = false;  // over as many tensor ranks as the layers, unless it is stated
};

struct KernelHabits {
  bool eager = false;            // one for each operation of norms, activation, rotary, dropout
  bool joined_weights = false;   // one tensor for queries, keys and values, one for gate and up
  bool pads_vocabulary = false;  // to a multiple of 128·tp
  bool fused_norms = false;      // norms and rotary embedding are one kernel each even where others
                                 // are not
  double attention_copies = 0;   // of a token's hidden width read and written forward, and as often
                                 // backward, to reorder queries, keys and values where nothing is
                                 // fused
  bool newest_attention = false;  // the one made for an architecture where there is one; else that
                                  // made for all
  double loss_forward = 0;        // bytes a logit that the loss reads and writes, forward
  double loss_backward = 0;
  double optimizer_passes =
      1;  // bytes read and written in the update, over those of one fused pass
  bool fused_weight_gradient = false;  // the product adds to the resident gradient itself
  bool casts_gradient = false;         // a wider resident gradient takes the product's by a cast of
                                       // its own, then a sum
  bool recompute_stops_early = false;  // full recomputation of a layer ends with the last input
                                       // that its backward pass reads
  bool every_second_product = false;   // can recompute every second product
  double expert_bias_forward = 0;  // bytes an element of experts' results that adding biases moves
  double expert_bias_backward = 0;
  bool weighs_between = false;  // the router's weights multiply between an expert's products
};

struct Habits {
  MemoryHabits memory;
  ShardingHabits sharding;
  ReductionHabits reduction;
  OverlapHabits overlap;
  PipelineHabits pipeline;
  BatchHabits batch;
  ExpertHabits experts;
  KernelHabits kernels;
};

/// Of software of a date in years (2025.5); 0: today's.
const Habits& habits(Framework framework, double software = 0);

}  // namespace headway
