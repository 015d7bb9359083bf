// What a machine is asked to do: a training step, or a batch or clients that are served.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/infer/search/change.hpp"

namespace headway {

/// What a machine takes for it. `times` by DesignWorkload::times; none where it does not fit.
struct WorkloadTimes {
  bool fits = false;
  std::vector<Seconds> times;
  double tokens_per_second = 0;  // of all accelerators
  std::string refused;           // why it cannot run there at all; empty: it can
};
using Measure = std::function<WorkloadTimes(const Cluster&)>;

/// What would make a workload fit on its own machine that does not.
struct WouldFit {
  std::optional<std::vector<ServingChange>> changes{};  // of what is served
  std::string words;
};

struct DesignWorkload {
  std::string title;
  std::vector<std::string> times;  // what is timed: the first decides what binds
  Cluster base;
  std::int64_t accelerators = 1;
  /// How long it takes on machines that differ in their rates alone: by the constants of `cluster`.
  std::function<Result<Measure>(const Cluster& cluster)> with_constants_of;
  /// Asked of what does not fit alone: it looks at many.
  std::function<WouldFit()> would_fit;
};

/// One step. The run is legal on its own cluster.
DesignWorkload training_workload(RequestedRun run);
/// A batch that starts and ends together, or clients: each token, the first, the whole answer.
DesignWorkload serving_workload(Serving serving, Load load);

}  // namespace headway
