// What a single measured step says of its setup.
#pragma once

#include "fit/own/shrink.hpp"
#include "layout/own_runs.hpp"

namespace headway {

/// [OWN-1], [OWN-2] of one run with this residual ln(measured / predicted).
inline OwnSetup own_of_step(const OwnPrior& prior, const Setup& setup, double residual) {
  const Shrunk shrunk = shrink(prior, std::span(&residual, 1));
  return {.setup = setup,
          .runs = 1,
          .factor = shrunk.factor,
          .interval = shrunk.interval,
          .agree = shrunk.agree,
          .looks = {}};
}

}  // namespace headway
