// Training whose replicas meet rarely: published scaling laws, and what the exchange costs in time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

/// scale · N^exponent, N parameters [LAW-1].
struct PowerLaw {
  double scale = 0, exponent = 0;
  double at(double parameters) const;
};

/// The laws of one number of replicas.
struct ReplicaLaws {
  std::int64_t replicas = 0;  // 0: data parallelism
  PowerLaw loss, rate, batch;
  std::optional<double> outer_rate;  // the best of those tried, from 335 M parameters on
};

/// scale · N^exponent · M^replica_exponent [LAW-2].
struct JointLaw {
  double scale = 0, exponent = 0, replica_exponent = 0;
  double at(double parameters, double replicas) const;
};

struct LocalUpdateLaws {
  std::string source;
  double least_parameters = 0, most_parameters = 0;  // that were trained
  double tokens_a_parameter = 0, sync_every = 0;
  JointLaw loss, rate, batch;
  std::vector<ReplicaLaws> replicas;
  // Of exchange_until_bandwidth() [LAW-5].
  double bits_a_parameter = 0, hidden_share = 0;

  /// The laws of that many replicas (0: data parallelism), or null.
  const ReplicaLaws* of(std::int64_t count) const;
  /// Loss with `count` replicas over that of data parallelism [LAW-3]: of their own fit, or, of
  /// other counts than those, of the joint one.
  double penalty(double parameters, std::int64_t count) const;
};

/// data/laws/local_updates.toml.
Result<LocalUpdateLaws> embedded_local_update_laws();

/// A network of the wall clock of arXiv 2503.09799v1, appendix A.
struct SimpleNetwork {
  BytesPerSecond bandwidth;  // of a node
  Seconds latency;           // of an all-reduce
};

/// Seconds that `nodes` take to sum `size` [LAW-4]: 2·size/W·(1 - 1/nodes) + latency.
Seconds all_reduce_time(Bytes size, double nodes, const SimpleNetwork& network);

/// What the wall clock is asked [LAW-4].
struct WallClock {
  Flops training;       // 6·N·D
  FlopsPerSecond rate;  // of a node
  double nodes = 1, steps = 1;
  Bytes gradient;
  std::int64_t replicas = 0;  // 0: data parallelism over all nodes
  double sync_every = 1;      // steps
  SimpleNetwork inside, across;
};
/// Computation and communication one after another, nothing hidden.
Seconds wall_clock(const WallClock& clock);

/// A step whose replicas exchange `exchange` bits every `sync_every` steps [LAW-5].
struct SparseExchange {
  Seconds step;
  double bits = 0;  // of one exchange, of each replica
  double sync_every = 1;
  double hidden = 0;     // seconds of computation that hide it, over `step`
  double last_part = 0;  // share of the exchange that is ready only at the end: one layer's
};
/// Computation over computation and exposed exchange, at `bandwidth` bits a second.
double compute_utilisation(const SparseExchange& exchange, double bandwidth);
/// The first bandwidth of the grid of the published tables, 50 points from 0.1 to 1000 Gbit/s, with
/// which the utilisation is reached; bits a second. Nothing: none of them.
std::optional<double> grid_bandwidth(const SparseExchange& exchange, double utilisation);

}  // namespace headway
