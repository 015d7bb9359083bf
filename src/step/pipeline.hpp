// Internal to src/step: the stages of the pipeline.
#pragma once

#include "step/block_builder.hpp"

namespace headway {

/// Where in Step::blocks the blocks besides the layer kinds stand; -1: there is none.
struct BlockIndex {
  int embedding = -1;
  int head = -1;
  int prediction = -1;
};

std::vector<StageClass> stage_classes(const Model& model, const Layout& layout,
                                      const BlockIndex& index, bool balanced = false);

/// Activations and their gradients between stages, for the whole step.
void add_pipeline_calls(StageClass& stage, const Slice& slice);

}  // namespace headway
