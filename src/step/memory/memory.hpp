// Memory by kind on the rank that holds most [STEP-9].
#pragma once

#include <vector>

#include "step/program/program.hpp"

namespace headway {

/// Bytes a rank holds at its peak. `other`, the driver's and the allocator's share, is 0 in a step:
/// the forecast adds it.
struct Memory {
  Bytes parameters, gradients, optimizer, activations, buffers, other;
  Bytes in_flight;  // of the activations, those of micro-batches beyond the one in work
  Bytes total() const { return parameters + gradients + optimizer + activations + buffers + other; }
};

/// The memory of the rank that holds most, and of rank 0, which many logs report.
struct MostHeld {
  Memory memory;           // of the rank that holds most
  Bytes offloaded_states;  // of that rank, in the host's memory
  std::int64_t stage = 0;  // where it is
  Memory first;            // of rank 0
};

/// What a rank of a stage holds that no micro-batch changes: weights, gradients, states, and what
/// passes through [STEP-9]. Reads of the blocks what they hold, and no micro-batch.
struct HeldStates {
  Bytes parameters, gradients, optimizer, buffers;
  Bytes offloaded;  // states in the host's memory
};
HeldStates held_states(const std::vector<Block>& blocks, const StageClass& stage, const Job& job,
                       const Layout& layout);

/// What its micro-batches hold [STEP-9]. Reads nothing of how states are sharded.
struct HeldActivations {
  Bytes activations{}, in_flight{};  // in all; beyond the one in work
};
HeldActivations held_activations(const std::vector<Block>& blocks, const StageClass& stage,
                                 const Layout& layout, std::int64_t micro_batches);

/// One stage more of those among which the rank is sought that holds most.
void add_stage(MostHeld& most, std::int64_t stage, const HeldStates& states,
               const HeldActivations& held);

/// Bytes on the rank that holds most, and on rank 0 [STEP-9]. Reads no span.
MostHeld hold(const std::vector<Block>& blocks, const std::vector<StageClass>& stages,
              const Job& job, const Layout& layout, std::int64_t micro_batches);

}  // namespace headway
