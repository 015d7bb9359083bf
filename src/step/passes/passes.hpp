// The passes that make a step of the forward pass. Each says what is true after it.
#pragma once

#include "step/forward/forward.hpp"
#include "step/passes/weights.hpp"

namespace headway {

// Over one block's program, in this order. Each reads its arguments alone.

/// Tensors that the group of tensor parallelism splits are whole where they must be, and summed.
void split_tensors(Program& program, const Share& share);

/// What stages that share the vocabulary need of each other has passed between them.
void split_vocabulary(Program& program, const Share& share);

/// Keys and values, or heads, have gone round the ranks that share a sequence.
void exchange_context(Program& program, const Share& share);

/// Tokens have reached their experts, and come back.
void route_experts(Program& program, const Share& share);

/// What samples read of embedding tables has come from the ranks that hold them.
void exchange_tables(Program& program, const Share& share);

/// What the next batch reads of a graph's nodes is on its way from the ranks that hold it
/// [STEP-32].
void exchange_features(Program& program, const Share& share);

/// Samples, columns, weights and gradients of classes of a network that are split in a way of their
/// own have gone where they are needed [STEP-31].
void exchange_classes(Program& program, const Share& share);

/// The backward pass stands behind the forward pass, of weights that are trained their gradients
/// among it; what it reads is kept.
void differentiate(Program& program, const Share& share);

/// Of an item of the forward pass: what is kept of its result, and how much of it runs again.
struct Repeated {
  enum { nothing, columns, all } again = all;  // columns: those of `Product::second`
  Bytes kept{};
  bool read = true;  // what is kept, by the backward pass or by what runs again
};

/// Of each item of the forward pass, where every second product runs again [STEP-28].
std::vector<Repeated> every_second(const Program& program, const Share& share);

/// What a program keeps from its forward to its backward pass.
Bytes kept_between(const Program& program, const Share& share, const Recomputation& choice);

/// What runs again does so between the two, and is not kept: the block as one rank runs it alone.
Block recompute(Program program, const Share& share, const Recomputation& choice);

// Over the blocks of a step.

/// ZeRO-3, FSDP, HSDP: every block's weights are gathered for it, their gradients scattered, in
/// each micro-batch. Reads the blocks' parameters and pp, zero, shard, secondary, the gathers,
/// recomputation; of the spans how many ranks of dp a node has.
void shard_weights(std::vector<Block>& blocks, const Share& share, const Layout& layout,
                   const std::vector<Weights>& weights, const Spans& spans);

/// What is not on the accelerator passes over the link to the host.
void offload(Block& block, const Share& share, const Layout& layout);

/// It is decided which computation each call may run under. `tp_shares_memory`: the ranks of a
/// tensor-parallel group reach each other's memory.
void overlap(std::vector<Item>& items, const Share& share, const OverlapChoices& choices,
             bool tp_shares_memory);

// Over a class of stages, once a step.

/// ZeRO-0 to 2: gradients are reduced and updated weights gathered, in buckets.
void reduce_gradients(StageClass& stage, const Share& share, const Layout& layout,
                      const std::vector<Block>& blocks, const std::vector<Weights>& weights,
                      const Spans& spans);

/// The optimiser has updated what the rank owns.
void update(StageClass& stage, const Share& share, const Layout& layout,
            const std::vector<Block>& blocks);

/// It is decided which pass, or what of the pipeline, each call may run under.
void overlap(StageClass& stage, const Job& job, const Layout& layout);

}  // namespace headway
