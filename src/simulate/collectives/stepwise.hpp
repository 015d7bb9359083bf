// All-gathers in few steps that all ranks take together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/topology/topology.hpp"

namespace headway::network {

/// [SIM-55] Each rank's block goes in `chunks`; in a step of r rounds a link carries r times as
/// many chunks as it is wider than the narrowest one, each of which its rank had before the step.
struct StepwiseForm {
  std::uint32_t steps = 0, rounds = 0, chunks = 0;
};

struct StepwiseGather {
  std::vector<std::uint32_t> rounds;  // of each step
  double most_sent = 0;               // chunks, of the rank that sends most
  std::uint64_t messages = 0;
};

/// Whether no such gather exists: in every way to part the rounds some rank cannot be reached by
/// all chunks, for they do not fit through a cut of the links over the steps (maximum flow).
bool is_impossible(const StepwiseForm& form, const Topology& on);
/// One that was found; nothing where none was. Every link joins two ranks.
std::optional<StepwiseGather> gather_stepwise(const StepwiseForm& form, const Topology& on);

/// The longest of the shortest ways between ranks: no gather has fewer steps.
std::uint32_t diameter_of(const Topology& on);

}  // namespace headway::network
