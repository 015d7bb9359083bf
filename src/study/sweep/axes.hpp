// The axes of sweeps: a run with one thing changed. What follows from the change is changed with
// it; whether the result is legal is said by check().
#pragma once

#include <cstdint>
#include <string>

#include "study/sweep/sweep.hpp"

namespace headway {

/// What happens to the batch where the accelerators change: weak scaling keeps the sequences of a
/// data-parallel rank, strong scaling those of all.
enum class BatchRule : std::uint8_t { of_a_rank, of_all };

/// On another number of accelerators, by another number of data-parallel ranks; tensor, context and
/// pipeline degrees stay.
Result<RequestedRun> with_accelerators(const RequestedRun& base, std::int64_t accelerators,
                                       BatchRule rule);

/// With sequences of another length: as many tokens in a step, or as many sequences.
Result<RequestedRun> with_sequence(const RequestedRun& base, std::int64_t sequence,
                                   bool same_tokens);

/// Degrees that split a model.
struct Degrees {
  std::int64_t tp = 1, cp = 1, pp = 1;
};
/// On as many accelerators with other degrees; data parallelism takes what they leave.
Result<RequestedRun> with_degrees(const RequestedRun& base, Degrees degrees);

/// With copies of sharded states that so many ranks share (hybrid sharding).
Result<RequestedRun> with_shard(const RequestedRun& base, std::int64_t ranks);

/// The network beyond the innermost level: rates times `factor`.
Result<RequestedRun> with_bandwidth(const RequestedRun& base, double factor);
/// Its latencies, and the times that its class takes for each call and message, times `factor`.
Result<RequestedRun> with_latency(const RequestedRun& base, double factor);
/// With the switches of the innermost level (NVLink) joining `size` accelerators.
Result<RequestedRun> with_domain(const RequestedRun& base, std::int64_t size);
/// With all levels but the innermost taken from `other`.
Result<RequestedRun> with_network_of(const RequestedRun& base, const Cluster& other);

/// Its latency, every time in the constants of its class, and what engines' own kernels begin with,
/// times `factor`.
Problems slow_down(Level& level, double factor);
/// Each level a whole number of domains of the one below, and the cluster the outermost of them.
void settle_sizes(Cluster& cluster);

}  // namespace headway
