// Measured collectives with the clusters they ran on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "layout/placement.hpp"
#include "step/program/collectives.hpp"

namespace headway {

/// One measured time of one collective, as nccl-tests counts sizes.
struct CollectiveMeasurement {
  std::string source;
  std::string system;       // short name: "perlmutter", "h100-scan"
  std::size_t cluster = 0;  // index into CollectiveData::clusters
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes;
  Seconds time;
  std::int64_t nodes = 1;
  GroupSpan span;
  bool fitted_on = true;  // false: only predicted
};

struct SkippedMeasurements {
  std::string system;
  std::string reason;
  std::size_t rows = 0;
};

struct CollectiveData {
  std::vector<Cluster> clusters;
  std::vector<CollectiveMeasurement> rows;
  std::vector<SkippedMeasurements> skipped;
};

/// One [[system]] of collective_systems.toml: rows of collectives whose hardware and network begin
/// with these ran on this cluster.
struct CollectiveSystem {
  std::string name, hardware, network, skip;  // skip: why its rows are not used; empty: they are
  std::size_t cluster = 0;                    // index into CollectiveSystems::clusters
  bool fitted_on = true;
};
struct CollectiveSystems {
  std::vector<CollectiveSystem> systems;
  std::vector<Cluster> clusters;

  const CollectiveSystem* of(const std::string& hardware, const std::string& network) const;
};
Result<CollectiveSystems> load_collective_systems(const std::string& data = {});

/// The operation by nccl-tests' name; nothing for those that Headway has no word for (reduce).
std::optional<CollectiveOp> collective_named(const std::string& name);

/// The measurements of collectives (collectives.csv, collectives_reported.csv,
/// nccl_allreduce_h100_scan.csv of read_measurements(data)) on the clusters that
/// collective_systems.toml beside them names.
Result<CollectiveData> load_collective_data(const std::string& data = {});

/// A group alone on its nodes, `ranks` spread evenly over `nodes`: how benchmarks run. A node is
/// the level below the outermost.
GroupSpan benchmark_span(std::int64_t ranks, std::int64_t nodes, const Cluster& cluster);

/// The network class of the outermost level a row crosses.
const std::string& outer_class(const CollectiveMeasurement& row, const CollectiveData& data);

}  // namespace headway
