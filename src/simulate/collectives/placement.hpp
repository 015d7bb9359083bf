// A pattern placed in time on a topology.
#pragma once

#include "simulate/collectives/pattern.hpp"

namespace headway::network {

/// Messages of one step that are placed one by one where they share links unevenly.
constexpr std::uint64_t kMostAtOnce = 65'536;

struct PlacedPattern {
  Seconds time = {};
  bool by_classes = false;     // steps alike were placed once
  std::uint64_t messages = 0;  // that were placed one by one
  bool too_many = false;       // more than kMostAtOnce: there is no time
};

/// [SIM-14] Every message one by one; or, unless `every_rank`, each kind of step once where that is
/// the same: where all actors begin a step together, and every message ends at the same time. That
/// is found, not assumed: by equal shares of links in which each message crosses one of the
/// narrowest shares, else by placing the step's messages. Where it is not so, one by one.
PlacedPattern place(const Pattern& pattern, const Topology& on, bool every_rank = false);

/// What the rank that sends most sends.
Bytes most_sent(const Pattern& pattern, std::uint32_t ranks);

}  // namespace headway::network
