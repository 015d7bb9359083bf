// What a pricer has ready of cells that share most. Internal to the planner.
#pragma once

#include <optional>

#include "study/plan/price.hpp"

namespace headway {

// A schedule with virtual stages in a place: what of its stages was worked out last.
struct PlanPricer::Pipe {
  const std::vector<StageClass>* stages = nullptr;
  std::vector<std::vector<StageCall>> transfers;  // of each class of stages
  std::vector<HeldActivations> held;
  std::vector<StageTime> times;
  std::optional<Assembly> assembly;  // up to the pipeline
  Flops recomputed{};                // of all ranks in the step
  bool legal = false;
  double rounds = 0;    // [PLAN-3] of its micro-batches
  Seekers seekers = 0;  // in the group in work: it fits so far, and is of interest to them
  PlanFloor floor;      // of its layouts in the group in work
  std::uint64_t cell = 0, held_by = 0, timed_by = 0;  // for which the above is
};

// A tuple of degrees with an order of ranks and a spread of experts.
struct PlanPricer::Place {
  Place(const PlanQuestion& q, const DegreeTuple& degrees, const InnerShape& choices,
        const InnerWanted& by, const Layout& bare, std::shared_ptr<PlanHeld> by_ranks,
        const Layout& in_work)
      : tuple(degrees),
        shape(choices),
        wanted(by),
        layout(bare),
        spans(headway::spans(bare, q.run.cluster)),
        held(std::move(by_ranks)),
        prices{q.run.job, in_work, q.run.cluster, q.calibration, spans} {}

  // For layouts to be priced, not only under a floor.
  void open() {
    pipes.resize(shape.pipes.size());
    for (std::size_t i = 0; i < pipes.size(); ++i) pipes[i].stages = &held->stages(i);
    updates.resize(2 * shape.shards.size() * pipes.size());
  }

  const DegreeTuple& tuple;
  const InnerShape& shape;
  const InnerWanted& wanted;
  Layout layout;  // of the cell entered last, without inner choices
  Spans spans;
  std::shared_ptr<PlanHeld> held;
  Prices prices;  // of the layout in work
  std::vector<Pipe> pipes;
  struct Update {
    std::optional<PricedUpdate> priced;
    std::int64_t micro_batch = 0;  // for which it is, where it hangs on it
  };
  std::vector<std::vector<Update>> updates;  // by shard and pipe, without and with split norms;
                                             // of each class of stages
  std::vector<std::optional<Sequence>> sequences;  // by split: at least what each takes
  std::uint32_t micro_batch = 0;                   // its place in the list
  std::int64_t micro_batches = 1;
  std::uint64_t cell = 0;  // counts those that were entered
};

}  // namespace headway
