// Which blocks each chunk of the model's layers has. Internal to src/simulate/step.
#pragma once

#include <vector>

#include "layout/run.hpp"
#include "simulate/step/slot_program.hpp"

namespace headway {

/// Chunk after chunk along one copy of the model, each in the order of its forward pass.
std::vector<ChunkBlocks> blocks_of_chunks(const Run& run, const Step& step);

}  // namespace headway
