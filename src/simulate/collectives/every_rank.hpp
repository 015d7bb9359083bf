// Every message of a pattern placed in time, each as soon as its sender may send it.
#pragma once

#include "simulate/collectives/placement.hpp"

namespace headway::network {

/// Actors go on by themselves: where links are shared unevenly some are steps ahead of others, and
/// what comes early waits.
PlacedPattern place_every_rank(const Pattern& pattern, const Topology& on);

}  // namespace headway::network
