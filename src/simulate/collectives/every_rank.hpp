// Every message of a pattern placed in time, each as soon as its sender may send it.
#pragma once

#include "simulate/collectives/placement.hpp"

namespace headway::network {

/// As long as all actors begin a step at the same moment, all messages of that step are placed
/// together, by the load of each of their links; not so with `one_by_one`, which gives the same
/// times. From the first step on whose messages do not all end at the same time actors go on by
/// themselves: some are steps ahead of others, and what comes early waits.
PlacedPattern place_every_rank(const Pattern& pattern, const Topology& on, bool one_by_one = false);

}  // namespace headway::network
