// Links that carry bytes one way, and what asks to cross them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/quantity.hpp"

namespace headway::network {

using LinkId = std::uint32_t;
using NodeId = std::uint32_t;
/// Links in the order in which they are crossed, each at most once.
using Route = std::span<const LinkId>;

constexpr NodeId kNowhere = std::numeric_limits<NodeId>::max();
constexpr BytesPerSecond kUnbounded(std::numeric_limits<double>::infinity());

/// One direction of a cable or port.
struct Link {
  NodeId from = kNowhere, to = kNowhere;  // nowhere: its ends are not known
  BytesPerSecond capacity;
  Seconds latency;
};

/// What a flow asks of the links that it crosses.
struct Demand {
  Route route;
  double weight = 1;                  // rates of flows that share are in proportion to it
  BytesPerSecond bound = kUnbounded;  // the flow itself can do no more
};

}  // namespace headway::network
