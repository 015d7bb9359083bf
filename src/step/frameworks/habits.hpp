// What frameworks do by habit: one row for each, so that no condition on a framework's name stands
// anywhere else.
#pragma once

#include <cstdint>

#include "base/quantity.hpp"
#include "layout/job.hpp"
#include "layout/layout.hpp"

namespace headway {

/// How ZeRO-1 and ZeRO-2 bring gradients to their owners.
enum class GradientReduction : std::uint8_t { reduce_scatter, all_reduce };

/// When a bucket of gradients closes: once it holds the limit (it may exceed it by a part of one
/// tensor), or before a tensor that would exceed the limit (a larger tensor is alone).
enum class Closing : std::uint8_t { reached, before };

/// Ranks over which the gradient norm is summed: those that hold one copy of the model (`model`);
/// all, where states are sharded (`world`); those that share the states, and then those of a copy
/// (`shards`).
enum class NormRanks : std::uint8_t { model, world, shards };

struct Habits {
  // Memory, bytes a parameter in 16-bit mixed precision (in fp32 and tf32 all are 4).
  double weights;              // resident weights; ZeRO-3 shards them
  bool master_separate;        // a separate fp32 copy belongs to the optimiser states
  double gradients;            // resident gradients; ZeRO-2 and 3 shard them
  double gradients_fp16;       // the same in the fp16 recipe
  double weights_8_bit;        // resident weights of layers in 8- and 4-bit recipes
  double gradients_8_bit;      // resident gradients in those
  double transient_gradients;  // of one block, before they are added to the resident ones
  bool transient_of_stage;     // of all blocks where ranks share gradients: buckets that stay, or
                               // flat copies of what is sent
  double loss_memory;          // bytes a logit that live at once while the loss runs
  double gathered;             // bytes a parameter of a gathered block (ZeRO-3)
  bool flat_gradients;  // ZeRO-3: a block's gradients are put together in one tensor, divided by
                        // the ranks, then reduced; resident are the sharded ones only
  std::int64_t gathered_blocks;  // blocks alive at once: this one and those prefetched
  // Communication.
  double reduced;  // bytes a gradient element on the wire, at most those of resident ones
  GradientReduction reduction;
  bool gradients_each_micro_batch;  // ZeRO-2 reduces after every micro-batch
  bool zero2_is_zero3_kept;  // ZeRO-2 gathers sharded weights once a micro-batch and keeps them
                             // until the backward pass (FSDP SHARD_GRAD_OP)
  // Buckets of gradients at ZeRO 0 to 2, in parameters; 0: one call for everything.
  double bucket;
  double bucket_a_rank;        // at least so many for each data-parallel rank
  double first_bucket;         // the limit of the first one; 0: as of all
  Closing bucket_closes;       // ZeRO-1, 2 and 3; ZeRO-0 and DDP: once reached
  bool bucket_if_overlapped;   // without overlap one call for everything
  bool first_stage_buckets;    // pipelines: all but a rank's first chunk on the first stage reduce
                               // and gather in one call
  double gathers_whole_since;  // ZeRO-1, 2: from software of this date on the weights are gathered
                               // in one call, before in pieces of a bucket; 0: in the buckets
  bool joined_weights;         // one tensor for queries, keys and values, one for gate and up
  // ZeRO-3.
  double fetch;     // tensors are fetched until they have so many parameters; 0: a block at once
  double resident;  // smaller tensors are never dropped, but gathered once after a step
  double reuse;     // what is needed again within so many parameters is not dropped
  bool outer_unit;  // embedding, head and final norm are one unit, gathered once a micro-batch
  bool sharded_at_once;  // ZeRO-1: after the backward pass, all gradients and then all weights in
                         // one call each
  bool overlap_gradients;
  bool overlap_parameters;
  bool overlap_tensor;
  bool pads_vocabulary;          // to a multiple of 128·tp
  bool splits_transfers;         // between stages each tp rank sends a tp-th, gathered on arrival
  Bytes pipeline_metadata;       // a shape message before each first send
  bool describes_sends;          // two small messages describe every tensor that is sent
  bool broadcasts_batch;         // the first tensor rank reads a micro-batch and passes it on
  double fields_since;           // from software of this date on field by field; 0: never
  double loss_each_micro_batch;  // bytes of the reported loss, averaged over dp
  double loss_each_step;
  NormRanks norm;
  double overflow;       // bytes of the check for overflow (fp16)
  bool sums_replicated;  // under sequence parallelism: gradients of what tensor ranks hold alike
  bool balances_stages;  // layers by the weights of all products, the head among them
  // Computation.
  bool fused_norms;  // norms and rotary embedding are one kernel each even where others are not
  double attention_copies;  // of a token's hidden width read and written forward, and as often
                            // backward, to reorder queries, keys and values where nothing is fused
  double loss_forward;      // bytes a logit that the loss reads and writes, forward
  double loss_backward;
  double optimizer_passes;     // bytes read and written in the update, over those of one fused pass
  bool fused_weight_gradient;  // the product adds to the resident gradient itself
  double segments_grow;  // from software of this date on memory is taken in segments that grow
                         // in place, without gaps that cost time; 0: never had gaps
  double recompute_early_stop;  // full recomputation ends early from software of this date on, in
                                // years; 0: never
  double expert_bias_forward;   // bytes an element of experts' results that adding biases moves
  double expert_bias_backward;
  bool weighs_between;               // the router's weights multiply between an expert's products
  int default_zero;                  // the ZeRO stage of the framework's own recipes
  AttentionKernel hopper_attention;  // on Hopper and later: by a library made for it, or not
};

const Habits& habits(Framework framework);

/// Bytes a parameter of resident weights of layers, of resident gradients, and of a gradient on the
/// wire, for the job's recipe.
double layer_weight_bytes(const Job& job);
double gradient_bytes(const Job& job);
double reduced_bytes(const Job& job);
/// Bytes a parameter of a gathered block (ZeRO-3).
double gathered_bytes(const Job& job);
/// Bytes a parameter of one block's gradients before they are added to the resident ones.
double transient_gradient_bytes(const Job& job);
/// torch.autocast on fp32 weights: every product casts what it reads, norms and residual are fp32.
bool autocast(const Job& job);

/// A choice of the layout, or the framework's habit where the layout leaves it open.
bool chosen(Choice choice, bool habit);

/// ZeRO stage 3 as lowered: FSDP shards the weights at stage 2, too, and keeps them gathered.
bool shards_weights(const Job& job, const Layout& layout);
/// Parameters of a bucket at ZeRO 0 to 2; 0: one call for everything.
double bucket_parameters(const Job& job, const Layout& layout);
/// Whether the job's software is of this date or later; 0: never.
bool is_since(const Job& job, double date);
/// Whether gaps between tensors cost time at the limit of memory [FORECAST-15].
bool gaps_cost_time(const Job& job);
/// Whether full recomputation of a layer ends with the last input that its backward pass reads.
bool stops_recompute_early(const Job& job, const Layout& layout);
/// Whether the backward pass gathers the weights once more.
bool gathers_again(const Job& job, const Layout& layout);

}  // namespace headway
