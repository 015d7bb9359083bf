// The machine of the limits study: one GPU seen as four places that hold data, and the levels of
// network that join GPUs into a cluster of any size. Formulas: docs/models/limits.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "cluster/precision.hpp"

namespace headway::limits {

/// One accelerator. Data flow from memory through the L2 and the shared memory of each compute unit
/// into registers; all four work at once.
struct Gpu {
  std::string name;
  std::string title;
  std::array<FlopsPerSecond, kPrecisions> peak{};  // dense, by Precision; 0: not supported
  double sustained = 1;  // of the clock in a long run of large matrix products: the most that
                         // utilisation can reach
  std::int64_t compute_units = 0;     // SMs
  std::int64_t register_blocks = 4;   // of one compute unit, each with registers of its own
  Bytes registers;                    // of one register block
  BytesPerSecond shared_bandwidth;    // of all compute units, at the highest clock
  bool shared_between_units = false;  // units read each other's shared memory (Hopper's DSMEM)
  BytesPerSecond l2_bandwidth;
  Bytes l2;
  BytesPerSecond memory_bandwidth;
  Bytes memory;
  Seconds kernel_latency;  // of each matrix product: launch, fill and drain

  FlopsPerSecond peak_of(Precision p) const { return peak[static_cast<int>(p)]; }
};

constexpr int kMostLevels = 6;

/// What joins the domains of the level below. The outermost level has no end.
struct Level {
  std::string name;
  std::int64_t size = 0;     // GPUs in one domain; ignored at the outermost level
  BytesPerSecond bandwidth;  // of one GPU, per direction; may be infinite
  Seconds latency;           // of one message
};

struct Machine {
  std::string name;
  std::string title;
  std::string source;
  std::string stands_for;  // the cluster of data/ that it idealises; empty: none
  Gpu gpu;
  std::vector<Level> levels;  // from the inside outwards, at least one, at most kMostLevels
  // Domains of the outermost level, each with the same share of the run; 0: as many as the level
  // inside it needs. [LIMIT-32]
  std::int64_t sites = 0;
  bool replicas_cross = false;  // of the degrees only data parallelism may cross sites [LIMIT-43]
};

/// What all numbers of GPUs and sequences of a run on the machine's sites share beside powers of
/// two.
std::int64_t odd_part_of_sites(const Machine& machine);

/// How many domains of the level below (at level 0: GPUs) one domain of each level holds in a run
/// on `gpus`: the largest number that divides what is left of the run and fits. The outermost level
/// takes the rest, so the product is `gpus`.
std::array<std::int64_t, kMostLevels> domains_in_use(const Machine& machine, std::int64_t gpus);

}  // namespace headway::limits
