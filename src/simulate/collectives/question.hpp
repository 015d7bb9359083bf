// What `simulate collective` is asked, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/document/document.hpp"
#include "simulate/collectives/collective.hpp"

namespace headway::network {

struct CollectiveText {
  std::string op, algorithm, bytes, topology;
  std::string bandwidth, latency;  // lists, "200 GB/s, 100 GB/s"; empty: as usual
  std::optional<std::int64_t> ranks, chunks;
  std::int64_t seed = 0;
  bool every_rank = false;
};

struct CollectiveQuestion {
  Call call;
  Topology on;
  CollectiveOptions options;
};

/// The network that calls go over, and how.
struct LinksQuestion {
  Topology on;
  CollectiveOptions options;
};

/// Whether the topology is a file.
bool names_topology_file(const std::string& topology);

/// What was asked for, or everything that is wrong with it. `file`: of the topology, or what was
/// wrong with it; nothing where it is none.
Result<CollectiveQuestion> read_collective(const CollectiveText& asked,
                                           const std::optional<Result<Document>>& file);
/// The same where calls are not asked for.
Result<LinksQuestion> read_network_of(const CollectiveText& asked,
                                      const std::optional<Result<Document>>& file);

}  // namespace headway::network
