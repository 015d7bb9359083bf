// Interruptions of a whole run, which no single step shows.
#pragma once

#include "base/quantity.hpp"

namespace headway {

struct Failures {
  Seconds every;             // mean time between those of all accelerators [SCALE-1]
  Seconds detection;         // from one until it is seen
  Seconds restart;           // from then on until training goes on from the checkpoint before
  Seconds checkpoint;        // that one stops training
  Seconds checkpoint_every;  // of training
};

/// [SIM-38] Of the time, the share that trains and is not lost.
double useful_share(const Failures& failures);

}  // namespace headway
