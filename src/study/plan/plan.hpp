// The best layouts of a run, and what follows from them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forecast/forecast.hpp"
#include "run/run.hpp"
#include "study/plan/answer.hpp"
#include "study/plan/networks/networks.hpp"

namespace headway {

/// What may be best. Of a given number of accelerators throughput and money follow the step time.
/// table-planner: of tables what TorchRec's planner takes them to cost [PLAN-6], then time.
constexpr std::string_view kTablePlanner = "table-planner";
constexpr std::array<std::string_view, 6> kObjectiveNames = {"time",   "throughput", "memory",
                                                             "energy", "money",      kTablePlanner};
PlanObjective objective_of(std::string_view name);

/// One of the best layouts.
struct PlannedLayout {
  std::uint64_t index = 0;  // in the space
  RequestedRun run;
  Forecast forecast;
  double dollars = 0;      // for a step; 0: the cluster states no price
  bool undecided = false;  // its interval meets that of the best
};

struct PlannedPoint {
  PlanPoint point;
  Layout layout;
};

/// What takes a part of the best layout's step.
struct PlanBound {
  std::string what;  // "compute", or a group's calls over a level: "dp over rail"
  double share = 0;  // of the step
};

/// The answer of `plan`.
struct Plan {
  RequestedRun run;  // without a layout
  std::string objective;
  double headroom = 0;
  std::int64_t accelerators = 0;
  std::uint64_t layouts = 0;  // in the space
  bool proven = true;         // not stopped
  bool all = true;            // none of the space can be better; of some networks not all was tried
  std::vector<std::string> notes;
  std::vector<PlannedLayout> best;    // of each kind, the best first
  std::vector<PlannedPoint> front;    // time against memory
  std::vector<PlanBound> bounds;      // of the best layout, the largest share first
  std::optional<PlannedPoint> roomy;  // the best with memory without end, where that is another
  std::vector<PlanWithout> without;
  std::vector<PlanSensitivity> sensitivity;
  std::vector<PlanRemedy> remedies;  // where nothing fits
};

/// What one walk after another finds in a part of a space, whatever is best in the others: of all
/// parts together follows what plan_of() says.
struct PlanPart {
  std::vector<PlanPoint> best;                        // of each kind, the best first
  std::vector<std::optional<PlanPoint>> without;      // each feature that there is, in their order
  std::vector<PlanPoint> front;                       // time against memory
  std::optional<PlanPoint> roomy;                     // with memory without end
  std::vector<std::optional<PlanPoint>> changed;      // under each change of the cluster
  std::optional<NetworkPart> network = std::nullopt;  // of a network of modules, in place of these
};

/// What is asked.
struct PlanTask {
  RequestedRun run;                             // without a layout; its ranks are those to be split
  std::vector<PlanFilter> filters;              // of the space
  std::string objective = "time";               // a name of kObjectiveNames
  double headroom = 0;                          // share of the memory that stays free
  std::vector<std::string> notes;               // for the answer
  PlanSearch how;                               // its objective is that of the name
  std::function<void(const Plan&)> found = {};  // told of the best, before what follows from them
  bool sooner = false;  // told before, too, of a long search: of the best of a part, not proven
  std::vector<PlanPart> parts = {};  // found before, of the whole space; empty: search. Of
                                     // plan_part(): found in other parts, where something was
};

/// Plans; or why there is no space to search.
Result<Plan> plan_of(PlanTask task);

struct PlanPartsKept;

/// One part of what plan_of() does, to be its task's with all others; or why there is no space, or
/// that it was stopped. What other parts found already is not looked for again: it stands in the
/// part, too, where nothing better is. `kept`: what the part leaves to the next one of the same
/// task, whose progress and known parts alone may be others.
Result<PlanPart> plan_part(PlanTask task, const Shard& part, std::shared_ptr<PlanPartsKept>& kept);

}  // namespace headway
