// Requests placed in time, step by step of the engine. Internal to src/study/infer.
#pragma once

#include <vector>

#include "study/infer/steps.hpp"

namespace headway {

struct Answered {
  std::vector<double> first_token, each_token, latency;  // seconds, of each request as it ends
  Seconds elapsed;                                       // until the last is answered
  double tokens = 0;                                     // made in all
  double most = 0;                                       // sequences at a time
};

constexpr std::int64_t kRequestsOfClient = 10, kRandomRequests = 2000;

/// [INFER-7] Of one copy of attention: ten requests of each client, or 2,000 that come at random.
/// `room`: tokens that the cache holds.
Answered answered(const StepTimes& steps, const Load& load, double room);

}  // namespace headway
