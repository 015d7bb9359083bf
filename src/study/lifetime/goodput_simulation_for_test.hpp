// Runs with random failures, event by event: what the closed forms are tested against.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "study/lifetime/goodput.hpp"

namespace headway {

/// The times of `runs` simulated runs of `segments` intervals. Checkpoints are safe `hidden_write`
/// after training went on; a failure falls back to the latest that is safe.
inline std::vector<double> simulate(const Reliability& r, double interval, int segments, int runs,
                                    unsigned seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> next_failure(1 / r.mean_time_between.value());
  const double s = interval + r.checkpoint.value();
  std::vector<double> out;
  for (int run = 0; run < runs; ++run) {
    double now = 0, failure = next_failure(random);
    int safe = 0;        // segments that a safe checkpoint holds
    int done = 0;        // segments whose checkpoint is taken
    double safe_at = 0;  // when that checkpoint is safe
    while (done < segments) {
      if (now >= safe_at) safe = done;
      const double end = now + s;
      if (failure >= end) {
        if (safe_at <= end) safe = done;
        now = end;
        ++done;
        safe_at = now + r.hidden_write.value();
        continue;
      }
      if (failure >= safe_at) safe = done;
      done = safe;
      // Restarts may fail as well.
      do {
        now = failure;
        failure = now + next_failure(random);
      } while (failure < now + r.restart.value());
      now += r.restart.value();
      safe_at = 0;
    }
    out.push_back(now);
  }
  return out;
}

}  // namespace headway
