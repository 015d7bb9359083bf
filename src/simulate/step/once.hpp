// What a rank does once a step: reductions and gathers beside its slots, and the update behind
// them. Internal to src/simulate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forecast/assembly.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {

/// Calls of one kind that run beside slots, one after another.
struct BesideCalls {
  Group group{};
  std::string name;
  std::int64_t count = 1;
  Seconds each;
  TaskCall call;  // of each
};

/// Something behind the last slot.
struct AfterSlots {
  std::string name;
  StreamId stream = kKernels;
  Part part = Part::other;
  Seconds time;
  std::optional<Group> meets;  // a call that ranks of other stages take part in
  std::optional<TaskCall> call = std::nullopt;
};

struct OnceAStep {
  Seconds first_gather, last_reduce;  // of weights in shards: nothing runs beside them
  std::vector<BesideCalls> under_forward, under_backward;
  std::vector<AfterSlots> after;
  Seconds encode;  // kernels before the calls of gradients, beside the last backward slots
  std::optional<TaskCall> first_gathered, last_reduced;  // what those are
  Parts of_slot{};                   // what each forward and each backward slot takes besides,
  std::vector<SlotCall> slot_calls;  // and calls among it
  Seconds send;                      // to a neighbour
  TaskCall sent;
};

/// What slots of a rank take: how many there are of both directions, half of one, and a
/// micro-batch in each direction in all chunks.
struct SlotsOfRank {
  double count = 1;
  Seconds half, forward, backward;
};
OnceAStep once_a_step(const StageClass& stage, const PricedStep& step, const SlotsOfRank& slots);

}  // namespace headway
