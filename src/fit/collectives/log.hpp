// Calibrates one cluster's network from logs of collectives that were measured on it: nccl-tests,
// OSU, or traces of training. [REC-8], [REC-9]: docs/models/reconcile.md.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fit/collectives/collectives.hpp"
#include "trace/analysis/align.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// The measured collectives of some logs on one cluster, equal ones as their median.
struct LoggedCollectives {
  /// One cluster, each level of which is a network class of its own, named as the level.
  CollectiveData data;
  NetworkClasses start;               // the constants of the cluster as it stands
  std::vector<std::string> warnings;  // what of the logs says nothing, and why
};

/// Measurements of `recordings` as ones on `cluster`. `gpus_per_node`: ranks on each node,
/// also where a log lists its hosts; 0: as it lists them (the hosts of one domain are one node),
/// else as many as a node of the cluster has. `known`: align() of the one recording; null: to be
/// made.
Result<LoggedCollectives> logged_collectives(std::span<const Recording> recordings,
                                             const Cluster& cluster, std::int64_t gpus_per_node = 0,
                                             const Alignment* known = nullptr);

enum class LoggedSize : std::uint8_t { up_to_64kib, up_to_16mib, above };
constexpr std::array<std::string_view, 3> kLoggedSizeNames = {"<= 64 KiB", "64 KiB-16 MiB",
                                                              "> 16 MiB"};

struct LoggedError {
  std::string level;
  CollectiveOp op = CollectiveOp::all_reduce;
  LoggedSize size = LoggedSize::above;
  ErrorSummary before, after;

  /// [REC-10] The fit, which serves all rows of a level at once, serves these worse than the
  /// constants it started from, in the tenths of a percent that are shown.
  bool worse() const { return std::round(1000 * after.median) > std::round(1000 * before.median); }
};

struct LoggedFit {
  CollectiveFit fit;  // classes are levels
  std::vector<LoggedError> errors;
  std::vector<std::string> warnings;  // of the logs, and what they cannot determine
};

LoggedFit fit_logged(const LoggedCollectives& logged);

/// A cluster file upon `base` (a name, or a path as seen from where the file will lie) with the
/// fitted constants of each level, their source and their errors. `date` as "2026-11-21".
std::string to_cluster_toml(const LoggedFit& fit, const Cluster& cluster, const std::string& base,
                            const std::vector<std::string>& logs, const std::string& date);

/// A table for a terminal of 80 columns, and the warnings.
std::string to_text(const LoggedFit& fit);

}  // namespace headway
