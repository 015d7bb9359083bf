// Fits the constants of the network classes on measured collectives, and says how well they
// predict.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/generated.hpp"
#include "base/result.hpp"
#include "cost/collective/collective.hpp"
#include "fit/collectives/data.hpp"
#include "fit/statistics.hpp"

namespace headway {

/// The constants of network classes by name ("ib-ndr").
using NetworkClasses = std::map<std::string, NetworkParameters>;

/// The constants that price the clusters of `data`: the embedded calibration, or what stood there
/// before any fit (the start of a fit).
Result<NetworkClasses> calibrated_classes(const CollectiveData& data);
Result<NetworkClasses> estimated_classes(const CollectiveData& data);

struct FittedNetwork {
  NetworkParameters parameters;
  ErrorSummary error;             // on the rows it was fitted on, all sizes
  ErrorSummary error_above_1mib;  // on those above 1 MiB
  std::set<std::string> systems;  // measured ones
  std::set<std::string> sources;
  std::vector<std::string> held;  // constants that no row decides: kept as they started
};

struct CollectiveFit {
  std::map<std::string, FittedNetwork> classes;
  NetworkClasses start;  // where the search began
  NetworkClasses all;    // of every class of the data, fitted or as it started
  std::map<std::string, std::size_t> too_few;  // classes not fitted, with their rows
};

/// Whether long messages of all-to-alls have a bandwidth of their own. Of the classes of the
/// project one system alone measured both ways, where exchanges reach 0.97 of rings: they stay as
/// rings.
enum class Exchanges : std::uint8_t { as_rings, of_their_own };

/// Fits each class on the rows whose outermost level it is, inner classes first. Deterministic;
/// some seconds. Constants are drawn a little to `start`, so that what few rows decide stays
/// physical; classes with fewer than 20 rows are left as they start.
CollectiveFit fit_collectives(const CollectiveData& data, const NetworkClasses& start,
                              Exchanges exchanges = Exchanges::of_their_own);

/// The calibration of the project: a fit from the embedded estimates, in which classes without rows
/// of their own borrow the fitted constants of those that their entries name.
Result<CollectiveFit> calibrate_collectives(const CollectiveData& data);

/// The text of data/calibration/networks.toml; `date` as "2026-11-21".
std::string to_toml(const CollectiveFit& fit, const std::string& date);

enum class SizeRange { up_to_1mib, up_to_64mib, above };
std::string to_name(SizeRange size);
SizeRange size_range_of(Bytes bytes);

/// One line of an error table.
struct CollectiveErrorLine {
  std::string name;  // of the system, or what was predicted from what
  std::string op;
  SizeRange size;
  ErrorSummary error;
  ErrorSummary left_out;  // by constants fitted without the system; no rows: not asked for
};

/// How the rows of a class of size err: all alike, and each system as one.
struct CollectiveErrors {
  ErrorSummary rows;
  double of_systems = 0;  // median of the systems' medians
};
struct CollectiveSizeLine {
  SizeRange size;
  std::size_t systems = 0;
  CollectiveErrors error, left_out;  // no rows: not asked for
};

struct CollectiveReport {
  std::size_t rows = 0;
  std::vector<CollectiveErrorLine> lines;           // system by operation by size class
  std::vector<CollectiveSizeLine> sizes;            // of all systems
  std::vector<CollectiveErrorLine> generalisation;  // empty unless asked for: from_few_nodes()
  std::vector<SkippedMeasurements> skipped;
};

/// The report on the errors of all rows, as collective_errors() and left_out_errors() give them;
/// `left_out` may be empty.
CollectiveReport collective_report(const CollectiveData& data, const std::vector<double>& errors,
                                   const std::vector<double>& left_out = {});

/// predicted/measured - 1 of each row by constants that were fitted anew, estimates included,
/// without all rows of its system: what a system that nobody measured is to expect. A class that no
/// other system measured has what its estimate borrows. As long as a calibration for each system.
Result<std::vector<double>> left_out_errors(const CollectiveData& data, int threads = 0);

/// How the model extrapolates: fitted on at most 16 nodes, errors on 32 and more.
Result<std::vector<CollectiveErrorLine>> from_few_nodes(const CollectiveData& data);

/// Tables for a terminal.
std::string to_text(const CollectiveReport& report);

/// The tables of docs/models/collectives.md: "collectives-sizes", "collectives-systems" and
/// "collectives-nodes", of a report with everything in it.
GeneratedBlocks collective_blocks(const CollectiveReport& report);

/// The constants of each level of a cluster.
LevelParameters level_parameters(const Cluster& cluster, const NetworkClasses& classes);

/// predicted/measured - 1 of each row, in their order.
std::vector<double> collective_errors(const CollectiveData& data, const NetworkClasses& classes);

}  // namespace headway
