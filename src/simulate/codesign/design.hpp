// A run with what may be chosen about its communication, and the step that comes of it.
#pragma once

#include <string>
#include <vector>

#include "run/run.hpp"
#include "simulate/calls/choices.hpp"
#include "simulate/codesign/compression.hpp"
#include "simulate/codesign/synchronisation.hpp"

namespace headway {

/// What a level of the cluster has otherwise.
struct LevelChange {
  enum class Kind : std::uint8_t { reduces, full_bisection, torus };
  Kind kind = Kind::reduces;
  std::string level;
};

struct Design {
  RunRequest fields;  // of the run; of several the last counts
  std::vector<LevelChange> levels = {};
  Compression compression = {};
  Synchronisation synchronisation = {};
  bool priority = false;  // gradients that the next forward pass needs first travel first
  std::vector<CallChoice> calls = {};
};

struct DesignedStep {
  Seconds time;  // in the mean over steps
  Parts parts{};
};

/// The run of the fields on the changed cluster, or everything that is wrong with it.
Result<RequestedRun> run_of(const Design& design);

/// The step in time, or why the run cannot be so.
Result<DesignedStep> step_of(const Design& design);

/// [SIM-54] How much earlier the next forward pass ends where each part of the weights is updated
/// as soon as its gradients are there, and gradients that it needs earlier overtake others that
/// wait. As the ranks of the pipeline have it: what the one that ends last is then ahead.
Seconds saved_by_priority(const SimulatedStep& step);

}  // namespace headway
