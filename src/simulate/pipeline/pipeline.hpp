// A pipeline of which the times are given: its orders, placed in time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forecast/schedule/placement.hpp"

namespace headway {

/// What is placed. Chunk times stand rank after rank, each with its chunks.
struct PipelineQuestion {
  Pipeline pipeline;
  SlotTimes times;
};

/// [SIM-1] The step of a pipeline, and how each of its ranks spends it.
struct SimulatedPipeline {
  PipelineQuestion of;
  Seconds makespan;            // from the first start of any rank to the last end
  std::vector<Seconds> spans;  // of a rank, from its first start to its last end
  std::vector<Seconds> idle;   // of a rank in the makespan
  /// Micro-batches, of each chunk they are in, whose activations a rank holds at most: until the
  /// weight gradient, which reads them, and until the input gradient alone.
  std::vector<std::int64_t> peak_in_flight, peak_until_input_gradient;
  std::vector<std::string> orders;  // of a rank: "F0.0 F0.1 D0.0 ..."
};

/// [SIM-2] F forward, B input gradient, W weight gradient, D both gradients at once; the stage, a
/// point, the micro-batch; r where they are of the copy of the model that runs the other way; + for
/// a pair that runs together.
std::string order_text(const Pipeline& pipeline, std::int64_t rank);

/// A legal pipeline of at most kMostForwardPasses.
SimulatedPipeline simulate_pipeline(const PipelineQuestion& question);

/// Forward passes of all ranks: 100 MB of what is kept of them and of their orders.
constexpr std::int64_t kMostForwardPasses = std::int64_t{1} << 21;

}  // namespace headway
