// Every rank of a step placed in time, as what makes them differ has it. After [SIM-8], in which a
// rank stands for all of its stage.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/ranks/lanes.hpp"
#include "simulate/ranks/perturbations.hpp"
#include "simulate/replay/ops.hpp"
#include "simulate/step/simulated.hpp"
#include "simulate/step/work.hpp"

namespace headway {

/// What all draws of a step have in common.
struct RanksWork {
  Run run;
  Perturbations differ;
  PipelineWork usual, slow;  // slow: of ranks whose network has a share of its bandwidth
  std::array<LaneSets, kGroups.size()> lanes;  // that take part in the same calls, by group
  std::uint32_t over_network = 0;              // streams whose calls cross the network, a bit each
  bool can_be_replayed = false;                // [SIM-3] knows the schedule
  Seconds rest;    // that comes once for all ranks, of the step of the classes
  double own = 1;  // [OWN-1]
};

RanksWork ranks_work(const Run& run, const Calibration& calibration, const Perturbations& differ,
                     const SimulatedStep& classes);

/// The ranks of one stage with the same index along dp: they begin and end their slots together.
struct CellTimeline {
  Parts parts{};  // of the step: what its slowest ranks spent it on
  Seconds end;
};

/// Something that the ranks of a cell do together.
struct CellSpan {
  std::int64_t stage = 0, lane = 0;
  std::shared_ptr<const SlotProgram> program = {};  // of a slot, as usual; null: it is none
  Slot slot{};
  std::int64_t micro_batch = 0;
  StreamId stream = kKernels;  // of what is no slot
  std::string name = {};       // of it
  bool beside = false;         // slots of the rank run meanwhile
  Seconds begin{}, end{};
};

struct RankTime {
  std::int64_t stage = 0, lane = 0;
  Seconds end;
  Seconds computes;  // its own kernels
  Seconds waits;     // for others, those of its cell among them
};

struct RankedStep {
  std::int64_t stages = 1, lanes = 1;
  std::vector<CellTimeline> cells;    // stage after stage, each with its lanes
  std::vector<RankTime> ranks;        // by global rank
  Seconds placed, step_time;          // as of SimulatedStep
  std::size_t last = 0, busiest = 0;  // the cell that ends last, and the one that waits least
  std::size_t busiest_stage() const { return busiest / static_cast<std::size_t>(lanes); }
  Parts parts{};  // of that cell, with the rest: they sum to the step time
  // Where asked for:
  std::vector<MeasuredPipeline> pipelines;  // lane by lane, what each slot took
  std::vector<CellSpan> spans;              // of each cell in order, by stream
};

/// What is kept of a step besides its times.
struct RankedDetail {
  bool pipelines = false, spans = false;
};

/// [SIM-30] The ranks of one draw. The same seed draws the same.
RankedStep place_ranks(const RanksWork& work, std::uint64_t seed, RankedDetail detail = {});

/// Passes of micro-batches through chunks in all lanes: 16 bytes each.
constexpr std::int64_t kMostRankedPasses = std::int64_t{1} << 26;

}  // namespace headway
