// The graph of a stage as one order of kernels, with calls between them. Internal to
// src/simulate/live.
#pragma once

#include <optional>
#include <vector>

#include "simulate/workload/workload.hpp"

namespace headway {

/// Before each kernel, and at the end: calls that can be handed over; time in which nothing runs
/// but the host; calls that waited for it; and the kernel itself.
struct StageOrder {
  struct Place {
    std::vector<std::size_t> early = {};
    Seconds idle = Seconds(0);
    std::vector<std::size_t> calls = {};
    std::optional<std::size_t> kernel = std::nullopt;
  };
  std::vector<WorkloadNode> nodes;
  std::vector<std::vector<std::size_t>> needs;  // of each node, the one before it on its stream too
  std::vector<Place> places;
};

inline bool is_live_call(const WorkloadNode& node) {
  return node.kind != WorkloadNode::Kind::compute && node.kind != WorkloadNode::Kind::host;
}

StageOrder order_of_stage(const std::vector<WorkloadNode>& nodes);

}  // namespace headway
