// A collective by a named algorithm, or by the best of them: `simulate collective`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "simulate/collectives/pattern.hpp"

namespace headway::network {

struct CollectiveOptions {
  std::string algorithm = {};  // a name of algorithm_names(); empty: the best
  std::uint32_t chunks = 0;    // of algorithms in chunks; 0: as is best
  bool every_rank = false;
};

struct SimulatedCollective {
  std::string algorithm = {};
  Seconds time = {};
  std::uint64_t steps = 0;
  Bytes sent_per_rank = {};                       // of the rank that sends most
  Seconds bound = {};                             // no algorithm takes less
  double chunks = 0;                              // 0: it has none
  std::optional<double> chunks_along_first = {};  // of them begin along the first dimension
  bool by_classes = false;
  std::uint64_t messages = 0;  // placed one by one
};

std::span<const std::string_view> collective_names();
/// All algorithms, each by its own name.
std::vector<std::string> algorithm_names();
/// The algorithm of that name, or of another that it goes by.
std::optional<std::string> algorithm_named(std::string_view name);

/// [SIM-15] No all-gather or reduce-scatter takes less than (n-1)/n · bytes over the links into the
/// rank that has the slowest, no all-reduce less than twice that, or the whole bytes once where a
/// switch adds up; an all-to-all no less than an all-gather, nor than what crosses the middle of a
/// grid over the links there.
Seconds lower_bound(const Call& call, const Topology& on, bool reduced_by_switch);

/// The collective placed in time, or why no algorithm, or not this one, does it.
Result<SimulatedCollective> simulate_collective(const Call& call, const Topology& on,
                                                const CollectiveOptions& options);

}  // namespace headway::network
