// Machines: accelerators and the levels that join them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/quantity.hpp"
#include "cluster/precision.hpp"

namespace headway {

/// What accelerators of one architecture share (data/architectures.toml).
struct Architecture {
  std::string title;                    // as charts call it; empty: among the others
  int flash_attention = 2;              // the newest generation made for it; 0: none runs
  bool before_flash_attention = false;  // published runs on it came before flash attention
};

struct Accelerator {
  std::string name;          // "h100-sxm"
  std::string title;         // "NVIDIA H100 SXM5 80 GB"
  std::string architecture;  // the name by which fitted kernel constants are shared
  Architecture traits;
  std::string previous;  // the accelerator of the generation before; empty: not stated
  std::string source;
  std::array<FlopsPerSecond, kPrecisions> peak{};  // dense, by Precision; 0: not supported
  Bytes memory;  // what the data sheet states, 80 GB HBM written as GiB where it is
  BytesPerSecond memory_bandwidth;
  Bytes cache;                     // last-level on-chip cache
  std::int64_t compute_units = 0;  // SMs, CUs, tensor cores of a TPU
  Watts tdp;                       // at which its rates stand
  Watts board_power;               // what its boards are set to; 0: tdp
  Watts idle_power;
  Seconds launch_overhead;        // of a kernel behind the one before, in a graph
  BytesPerSecond host_bandwidth;  // to host memory, one direction (offload)

  FlopsPerSecond peak_of(Precision p) const { return peak[static_cast<int>(p)]; }
  /// Whether it multiplies blocks of 32 elements with scales of their own (OCP's MX formats): those
  /// that multiply 4-bit numbers do, compute capability 10 of NVIDIA and CDNA 4 of AMD.
  bool scales_blocks() const { return peak_of(Precision::fp4).value() > 0; }
  /// The most that it may draw.
  Watts power_limit() const { return board_power > Watts(0) ? board_power : tdp; }
};

enum class Topology { switched, ring, torus, mesh };

/// One level of the machine: what joins the domains of the level below into a larger domain.
/// E.g. level 0 "node": 8 accelerators on NVLink; level 1 "rail": 32 nodes on one leaf switch.
struct Level {
  std::string name;
  std::string network;    // class whose fitted constants hold: "nvlink4", "ib-ndr", ...
  std::int64_t size = 0;  // accelerators in one domain of this level
  /// Of these, how many a run takes of each domain when it needs several domains: schedulers leave
  /// the 8 spare accelerators of a rack of 72 out. 0: all. See domains_in_use().
  std::int64_t usable = 0;
  Topology topology = Topology::switched;
  BytesPerSecond bandwidth;              // of one accelerator, per direction, when all of them send
  BytesPerSecond port_bandwidth;         // that one accelerator reaches when the others are silent
  Seconds latency;                       // one message between two accelerators at this level
  double slowed = 1;                     // times what latencies of its class are, where one asks
  double oversubscription = 1;           // at this level's switches: 2 = half the bandwidth upwards
  bool in_network_reduction = false;     // the switches can sum (NVLink SHARP, IB SHARP)
  std::vector<std::int64_t> dimensions;  // of a torus, in domains of the level below
  std::int64_t nics = 0;                 // that a domain of the level below shares; 0: not stated
  bool nics_on_processor = false;        // and not with the accelerators on a PCIe switch
  /// Constants measured on this level, field by field over those of its network class; the fields
  /// are those of data/calibration/networks.toml. An empty root: none.
  Document constants;
};

struct Cluster {
  std::string name;
  std::string title;
  std::string source;
  Accelerator accelerator;
  std::vector<Level> levels;              // from the package outwards, sizes strictly growing
  std::int64_t accelerators = 0;          // the most this cluster offers; equals levels.back().size
  double price_per_accelerator_hour = 0;  // US dollars; 0: not stated
  double power_usage_effectiveness = 1.2;
  Watts host_power_per_accelerator;  // share of CPU, NIC, fans
};

constexpr int kMostLevels = 6;

/// Of the rates of a level, what the way from accelerators to network cards lets through.
double let_through(const Level& level);

/// How many of the inner levels let accelerators read and write each other's memory (NVLink, xGMI,
/// ICI): those inside the first that network cards join, and never the outermost.
int memory_levels(const Cluster& cluster);

/// How many ranks of a run of `total` ranks lie in one full domain of each level:
/// - the size of the level, where the run fits in one of its domains or fills them;
/// - `usable`, where the level states it and it divides the run;
/// - else an equal slice of each of the fewest domains that hold the run, where those can have as
///   many ranks each, in whole domains of the level inside;
/// - else the size: all domains are full but one, which has the rest.
/// The levels further out shrink in proportion. 64 or 72 ranks on GB200 NVL72 lie in one rack of
/// 72; 256 in 4 racks of 64; 1,440 in 20 racks of 72 (64 does not divide 1,440); 96 in 2 racks of
/// 48. 6,144 TPU v4 are two pods of 3,072, not one of 4,096 and one of 2,048: groups that divide a
/// slice stay within a pod. 20 ranks on nodes of 8 are 8, 8 and 4.
std::array<std::int64_t, kMostLevels> domains_in_use(const Cluster& cluster, std::int64_t total);

}  // namespace headway
