// One optimiser step as seen by each class of rank: ops, calls and memory, no times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "layout/run.hpp"
#include "step/memory/memory.hpp"
#include "step/program/program.hpp"

namespace headway {

struct Step {
  std::vector<Block> blocks;       // at most kMostBlocks
  std::vector<StageClass> stages;  // in the order of their first stage
  std::int64_t micro_batches = 1;
  Spans spans;
  MostHeld held;
  Flops model_flops_full;  // of the whole step, attention in full [MODEL-1]
  Flops model_flops_causal;
  Flops recomputed_flops_full;  // of the whole step, on top of the model's
  Flops recomputed_flops_causal;
};

/// Of all ranks in a step: the forward pass and twice that backward; frozen weights need no
/// gradient of their own.
Flops model_flops(const Model& model, const Job& job, AttentionFlops convention);

/// What a rank computes again of these for one micro-batch. Of experts that get more tokens than
/// others the mean counts [STEP-1].
Flops recomputed_flops(const Block& block, const Job& job, AttentionFlops convention);

/// Lowers a legal run (check() found nothing) to what its ranks do.
Step lower(const Run& run);

}  // namespace headway
