// What a rank does in one slot of its pipeline, kernel by kernel and call by call. Internal to
// src/simulate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forecast/price.hpp"
#include "simulate/step/tasks.hpp"
#include "step/schedule/order.hpp"

namespace headway {

/// A step and what its blocks take.
struct PricedStep {
  const Step& step;
  const Prices& prices;
  std::vector<PricedBlock> blocks;
};

/// Blocks of a chunk in the order of the forward pass, by their index in the step.
using ChunkBlocks = std::vector<std::size_t>;

struct SlotProgram {
  TaskList list;
  Flops products;  // of them and of attention, in full
  std::vector<PlacedTask> placed;
  Seconds time;
  Parts parts{};     // that the time is: kernels, and what nothing hides
  Parts critical{};  // on the way that leads to its end
};

/// As a timeline has it: "tp all_gather".
std::string name_of(const Call& call);

/// [SIM-7] A slot between others like it: weights that the next block needs are gathered under the
/// block before it, the first ones of the slot under the last block of the slot before.
SlotProgram slot_program(const PricedStep& step, const ChunkBlocks& blocks, SlotWork work);

}  // namespace headway
