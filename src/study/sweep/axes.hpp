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
Result<Run> with_accelerators(const Run& base, std::int64_t accelerators, BatchRule rule);

/// With sequences of another length: as many tokens in a step, or as many sequences.
Result<Run> with_sequence(const Run& base, std::int64_t sequence, bool same_tokens);

/// Degrees that split a model.
struct Degrees {
  std::int64_t tp = 1, cp = 1, pp = 1;
};
/// On as many accelerators with other degrees; data parallelism takes what they leave.
Result<Run> with_degrees(const Run& base, Degrees degrees);

/// With copies of sharded states that so many ranks share (hybrid sharding).
Result<Run> with_shard(const Run& base, std::int64_t ranks);

/// The network beyond the innermost level: rates times `factor`.
Result<Run> with_bandwidth(const Run& base, double factor);
/// Its latencies, and the times that its class takes for each call and message, times `factor`.
Result<Run> with_latency(const Run& base, double factor);
/// With the switches of the innermost level (NVLink) joining `size` accelerators.
Result<Run> with_domain(const Run& base, std::int64_t size);
/// With all levels but the innermost taken from `other`.
Result<Run> with_network_of(const Run& base, const Cluster& other);

}  // namespace headway
