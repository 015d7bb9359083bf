// The search for the best layouts of a network of modules: strategies by class of layer, schemes of
// its tables, micro-batches, sharding and recomputation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/forecast.hpp"
#include "layout/fields.hpp"
#include "platform/parallel.hpp"
#include "platform/shard.hpp"
#include "run/run.hpp"

namespace headway {

/// A field that is searched, and the numbers that it may be.
struct NetworkChoice {
  const FieldRow* row;
  std::vector<double> numbers;
};

/// What may be chosen for a network on the ranks of its run: of classes that it has, strategies
/// that some layout may have; what was given is not searched. Their product is the space.
std::vector<NetworkChoice> network_choices(const RequestedRun& run);
std::uint64_t layouts_of(const std::vector<NetworkChoice>& choices);

struct NetworkSearch {
  /// planner: what its planner takes the tables to cost [PLAN-6].
  enum class By : std::uint8_t { time, memory, energy, planner } by = By::time;
  double headroom = 0;  // share of the memory that stays free
  std::size_t top = 1;
  int threads = 0;
  std::uint64_t most = 200'000;  // layouts that are all tried; of larger spaces some
  Progress progress = {};
};

struct FoundLayout {
  std::uint64_t index;  // in the space
  Layout layout;
  double value;  // seconds, bytes or joules of a step; by planner seconds of its tables
};
struct NetworkPlan {
  std::vector<FoundLayout> best;  // the best first
  std::uint64_t tried = 0;
  bool exact = true;  // all of the space was tried
  bool stopped = false;
  Bytes least_memory{};  // of all that were tried
  /// No layout of the space can be below: products at the peak rate [PLAN-5]. Of time alone.
  Seconds floor{};
};

/// All layouts of a small space; of a larger one those that change one choice after the other from
/// three starts (as `zero` says, copies, shards) as long as one is better. Pure but for threads;
/// the same for any number of them.
NetworkPlan plan_network(const RequestedRun& run, const std::vector<NetworkChoice>& choices,
                         const Calibration& calibration, const NetworkSearch& how);

/// What was tried of one part of that: of a small space every layout whose place is in it, of a
/// larger one the ways from the starts that are.
struct NetworkPart {
  struct Point {
    std::uint64_t index;
    double value;  // as of FoundLayout
  };
  std::vector<Point> best;          // that fit, the best first
  std::vector<std::uint64_t> seen;  // of a larger space: which were tried
  std::uint64_t tried = 0;
  bool any = false;      // legal
  Bytes least_memory{};  // of these
  Seconds floor{};
};

/// None where it was stopped.
std::optional<NetworkPart> plan_network_part(const RequestedRun& run,
                                             const std::vector<NetworkChoice>& choices,
                                             const Calibration& calibration,
                                             const NetworkSearch& how, const Shard& part);

/// plan_network() from all its parts; none where what they say of a layout is not so.
std::optional<NetworkPlan> plan_network_of_parts(const RequestedRun& run,
                                                 const std::vector<NetworkChoice>& choices,
                                                 const Calibration& calibration,
                                                 const NetworkSearch& how,
                                                 const std::vector<NetworkPart>& parts);

}  // namespace headway
