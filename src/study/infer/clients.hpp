// Clients that each send a request when the last is answered, step by step of the engine. Internal
// to src/study/infer.
#pragma once

#include "study/infer/steps.hpp"

namespace headway {

struct Answered {
  Seconds first_token, each_token, latency;  // in the mean over all requests
  Seconds elapsed;                           // until the last is answered
  double tokens = 0;                         // made in all
  double most = 0;                           // sequences at a time
};

/// [INFER-7] Of one copy of attention: `load.batch` clients, ten requests each. `room`: tokens that
/// the cache holds.
Answered answered(const StepTimes& steps, const Load& load, double room);

}  // namespace headway
