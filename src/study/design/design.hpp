// What which part of a machine brings: every combination of what is varied, what binds each, and
// where that changes. Formulas: docs/models/design.md.
#pragma once

#include <string>
#include <vector>

#include "platform/parallel.hpp"
#include "study/bounds/bounds.hpp"
#include "study/design/axes.hpp"

namespace headway {

/// One of the times of a workload on a machine.
struct DesignTime {
  Seconds time;
  BoundTimes bounds;
  Elasticities rates{};  // -d ln t / d ln rate [DESIGN-1]

  /// d ln t / d ln of all fixed times together.
  double latency() const { return bounds[Bound::latency] / time; }
};

struct DesignPoint {
  std::vector<std::size_t> at;  // of each axis, its value; none: the machine as it is
  BuiltMachine machine;
  bool fits = false;
  std::string why_not;            // where there are no times
  std::vector<DesignTime> times;  // by DesignWorkload::times
  double tokens_per_second = 0;
  /// [DESIGN-11] US$ of an accelerator's links and network, of those that differ from machine to
  /// machine, where all of them have a price.
  std::optional<PriceRange> fabric = {};
  /// No other is as fast and draws as little, on as little area and of parts that cost as little
  /// where that is known.
  bool on_front = false;

  bool stands() const { return !times.empty(); }
  Watts power() const { return (machine.least_power + machine.most_power) / 2; }
};

/// Along an axis of numbers, what most of a time goes to becomes another.
struct BoundMove {
  std::size_t axis = 0, time = 0;
  std::vector<std::size_t> at;  // of the other axes; of this one the value before
  double value = 0;             // where it happens
  Bound before{}, after{};
};

struct DesignAnswer {
  DesignWorkload workload;
  std::vector<DesignAxis> axes;
  DesignPoint base{};
  std::optional<WouldFit> would_fit{};  // where the base does not
  std::vector<DesignPoint> points{};    // the last axis runs fastest
  std::vector<BoundMove> moves{};
  /// Whether the front counts what parts cost, and links and network where they differ: all have a
  /// price.
  bool counts_money = false;

  /// Whether machines differ in links or network.
  bool varies_fabric() const;
};

/// Problems: constants that nobody knows, or stopped.
Result<DesignAnswer> make_design(DesignWorkload workload, std::vector<DesignAxis> axes,
                                 const Progress& progress);

}  // namespace headway
