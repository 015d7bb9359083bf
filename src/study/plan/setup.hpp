// What planning a whole space and planning a part of it share. Internal to the planner.
#pragma once

#include <memory>

#include "study/plan/plan.hpp"

namespace headway {

/// A task, and the space that it asks of.
struct PlanSetup {
  PlanTask task;
  PlanSearch how;
  Calibration calibration;
  PlanSpace space;

  PlanQuestion question(const Shard& part = {}) const {
    return {task.run, calibration, space, task.headroom, part};
  }
  std::int64_t accelerators() const { return task.run.layout.ranks(); }
};

Result<PlanSetup> set_up(PlanTask task);

/// Who walks over the space: for each question that plan_of() asks of it an answer.
struct PlanWalks {
  std::function<PlanBest()> best;
  std::function<PlanAlternatives(const std::vector<PlanPoint>& best)> alternatives;
  std::function<std::optional<PlanPoint>(const std::vector<PlanPoint>& best)> roomy;
  // `which` of the changes, and how many there are.
  std::function<std::optional<PlanSensitivity>(const PlanChange&, const Calibration&,
                                               std::size_t which, std::size_t of)>
      under_change;
  PlanSearch of_remedies;  // how to look for what helps where nothing fits
};

/// What follows from the walks.
Result<Plan> plan_by(const PlanSetup& setup, const PlanQuestion& question, const PlanWalks& walks);
/// The same of the task's parts.
Result<Plan> plan_of_parts(const PlanSetup& setup);

/// plan_part() of a space that is none of a network.
Result<PlanPart> plan_part_of_space(PlanTask task, const Shard& part,
                                    std::shared_ptr<PlanPartsKept>& kept);
/// Of a part that is not whole; of parts that say what is not so.
Problem stopped_part();
Problem parts_of_another_space();

/// What may be changed about the cluster, whatever the layout.
std::vector<PlanChange> changes_of(const Run& run);
/// Whether any layout can be legal under a change: so says a layout of each tuple of degrees.
bool may_be_legal(const PlanSpace& space, Run changed);
/// The run on a machine with memory without end.
Run with_endless_memory(const Run& run);

/// A part of a longer piece of work, of which it takes the share from `from` to `to`, told as so
/// many of the space's layouts.
PlanSearch part_of(PlanSearch how, std::uint64_t layouts, double from, double to);
/// Their shares, by how long they take of published mixtures of experts (docs/plan.md).
inline constexpr double kFloorsDone = 0.1, kSearchDone = 0.2, kAlternativesDone = 0.65,
                        kRoomyDone = 0.7;

}  // namespace headway
