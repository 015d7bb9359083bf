// The step of a run placed in time: every slot of every rank of a pipeline, and what each does once
// a step. One rank stands for all that hold the same stage: they are alike, so that calls among
// them begin together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forecast/forecast.hpp"
#include "forecast/price.hpp"
#include "simulate/step/slot_program.hpp"
#include "step/schedule/order.hpp"

namespace headway {

/// A slot in its place, or something that a rank does once a step.
struct StepSpan {
  enum class Kind : std::uint8_t { slot, once };
  Kind kind = Kind::slot;
  SlotWork work = SlotWork::forward;           // of a slot
  std::int64_t chunk = 0, micro_batch = 0;     // of it
  std::shared_ptr<const SlotProgram> program;  // what it runs
  std::string name;                            // of what is done once
  StreamId stream = kKernels;
  Seconds begin, end;
  Parts parts{};                 // that the time is
  std::int64_t cause_rank = -1;  // whose span it waited for; -1: for none
  std::size_t cause = 0;         // which of them
  Seconds came{};                // what a transfer from there took
  bool beside = false;           // other spans of the rank run meanwhile
  bool edge = false;  // weights gathered before the first slot, gradients reduced behind the last
  std::optional<TaskCall> call = std::nullopt;  // that something done once is
};

/// A call that each forward and each backward slot of a rank makes besides its program.
struct SlotCall {
  TaskCall call;
  Seconds time;
};

/// A rank of the pipeline.
struct RankTimeline {
  std::vector<StepSpan> spans;  // in order
  Parts parts{};                // of the step: what the rank spent it on
  Seconds end;                  // of its own last span
  std::vector<SlotCall> slot_calls = {};
};

/// [SIM-8] Everything in seconds from the beginning of the step.
struct SimulatedStep {
  Pipeline pipeline;
  std::vector<RankTimeline> ranks;
  Seconds send;          // a transfer between neighbours
  Seconds placed;        // until the last rank ends
  Seconds step_time;     // with what comes once for all ranks [FORECAST-10], as the forecast has it
  std::size_t last = 0;  // the rank that ends last
  std::size_t busiest = 0;  // the rank that waits for others least
  Parts parts{};            // of that rank, with the rest: they sum to the step time
  Parts critical{};         // of the way that leads to its end; sums to `placed`
};

/// Forward passes of micro-batches through all chunks of the model: what is kept of them, of their
/// backward passes and transfers takes at most 300 MB.
constexpr std::int64_t kMostPlacedPasses = std::int64_t{1} << 18;

/// What a step does otherwise than its run says; where nothing is set it does not.
struct StepChange {
  OtherTimes times = {};                    // of calls
  std::function<void(Step&)> program = {};  // what ranks do: changes the lowered step
  std::optional<double> waiting = {};       // for the slowest rank, as a share of the step
};

/// Why the run is not simulated; nothing where it is.
Problems simulation_problems(const Run& run);
SimulatedStep simulate_step(const Run& run, const Calibration& calibration,
                            const StepChange& change = {});
/// With the constants of its cluster, or why not.
Result<SimulatedStep> simulate_step(const Run& run, const StepChange& change = {});

}  // namespace headway
