// What a method of training changes of a step. Internal to src/step.
#pragma once

#include "layout/layout.hpp"
#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

/// The last pass over what a stage does once a step: replicas meet as the job's method has it, and
/// send what it sends. Without a method nothing changes. The run is legal with it (check()).
void meet(StageClass& stage, const Share& share, const Layout& layout,
          const std::vector<Block>& blocks, const Spans& spans);

/// Over a block, the last pass: of evolution strategies the forward pass is left alone, and nothing
/// is kept of it; with losses of pairs of stages the backward pass runs for both; of a model that
/// is trained in parts what a cut says is made once.
void run_passes(Block& block, const Share& share);

/// Behind each stage, or block of layers in it, that a loss of its own trains stands a head of its
/// own.
void add_heads(std::vector<StageClass>& stages, const Layout& layout, int head);

/// Of evolution strategies, in place of the update: perturbed weights are made, results told to
/// all, and every member's noise made again and added.
void compare_members(StageClass& stage, const Share& share, const Layout& layout, double updated);

/// Bytes a trained parameter that a method keeps besides, with the states of the optimiser; and
/// with the gradients: what compression lost.
Bytes kept_states(const Method& method);
Bytes kept_gradients(const Method& method);
/// And what waits in buffers while it is exchanged beside the steps that follow, a parameter.
Bytes waiting_bytes(const Job& job);

}  // namespace headway
