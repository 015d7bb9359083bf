// The stages of the pipeline. Internal to src/step.
#pragma once

#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

/// Where in Step::blocks the blocks besides the layer kinds stand; -1: there is none.
struct BlockIndex {
  int embedding = -1;
  int head = -1;
  int prediction = -1;
  int vocabulary = -1;
};

std::vector<StageClass> stage_classes(const Model& model, const Layout& layout,
                                      const BlockIndex& index, bool balanced = false);

/// Activations and their gradients between stages, for the whole step.
void add_pipeline_calls(StageClass& stage, const Share& share, const Layout& layout);

/// Micro-batches whose activations a stage holds at its peak, in units of the stage's layers.
double in_flight(const Layout& layout, std::int64_t stage, std::int64_t micro_batches);

}  // namespace headway
