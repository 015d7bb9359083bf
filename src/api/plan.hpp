// plan: the best layouts of a run. Internal to src/api.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/commands.hpp"
#include "forecast/forecast.hpp"
#include "study/plan/answer.hpp"

namespace headway {

/// What `--objective` may say.
constexpr std::array<std::string_view, 5> kObjectiveNames = {"time", "throughput", "memory",
                                                             "energy", "money"};

/// One of the best layouts.
struct PlannedLayout {
  std::uint64_t index = 0;  // in the space
  Run run;
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
  Run run;  // without a layout
  std::string objective;
  double headroom = 0;
  std::int64_t accelerators = 0;
  std::uint64_t layouts = 0;  // in the space
  bool proven = true;
  std::vector<std::string> notes;
  std::vector<PlannedLayout> best;    // of each kind, the best first
  std::vector<PlannedPoint> front;    // time against memory
  std::vector<PlanBound> bounds;      // of the best layout, the largest share first
  std::optional<PlannedPoint> roomy;  // the best with memory without end, where that is another
  std::vector<PlanWithout> without;
  std::vector<PlanSensitivity> sensitivity;
  std::vector<PlanRemedy> remedies;  // where nothing fits
};

/// Plans; or everything that is wrong with the request.
Result<Plan> make_plan(const PlanRequest& request);

/// A table for a terminal of 80 columns, and what follows from it.
std::string plan_text(const Plan& plan);
/// The fields are listed in docs/plan.md.
std::string plan_json(const Plan& plan);
/// Time against memory: the front and the best of each kind.
std::string plan_svg(const Plan& plan);

/// The searched fields of a layout as those of a run: what a run would not take anyway.
RunRequest layout_fields(const Layout& layout);
/// The same as flags: "--dp 8 --tp 4".
std::string layout_flags(const Layout& layout);
/// "dp 8 tp 4 pp 2 ...": what is not 1, off or the framework's own.
std::string layout_words(const Layout& layout);

/// headway bench plan.
CommandOutput bench_plan(int threads);

}  // namespace headway
