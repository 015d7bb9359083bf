// Runs of ranks that differ, for tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "forecast/random_run_for_test.hpp"
#include "simulate/ranks/summary.hpp"

namespace headway::testing {

/// A run of llama-2-7b on dgx-h100 with so many replicas of tp times pp ranks, in which nothing
/// runs beside anything else, no host is slower than its kernels, and replicas meet at the end of
/// the step alone.
inline Case plain_run(std::int64_t dp, std::int64_t micro_batches, std::int64_t tp = 1,
                      std::int64_t pp = 1) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  for (FrameworkConstants& host : c.calibration.frameworks) {
    host.host_launch = host.host_call = Seconds(0);
  }
  c.job.framework = framework_from("nanotron").value();
  c.layout.dp = dp;
  c.layout.tp = tp;
  c.layout.pp = pp;
  c.layout.overlap_gradients = c.layout.overlap_parameters = c.layout.overlap_tensor = Choice::off;
  c.job.sequence = 4096;
  c.job.global_batch = dp * micro_batches;
  return c;
}

struct Drawn {
  SimulatedStep alike;
  RanksWork work;
  Drawn(const Case& c, const Perturbations& differ)
      : alike(simulate_step(c, c.calibration)), work(ranks_work(c, c.calibration, differ, alike)) {}
  RankedStep step(std::uint64_t seed = 0, RankedDetail detail = {}) const {
    return place_ranks(work, seed, detail);
  }
  Seconds more(std::uint64_t seed = 0) const { return step(seed).step_time - alike.step_time; }
};

/// Of what seeds 0 ... draw: the mean and its standard error, and the deviation.
struct Sampled {
  double mean = 0, error = 0, deviation = 0;
};
inline Sampled sampled(const Drawn& drawn, std::uint64_t seeds) {
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < seeds; ++i) {
    const double more = drawn.more(i).value();
    sum += more;
    squares += more * more;
  }
  const auto n = static_cast<double>(seeds);
  Sampled out;
  out.mean = sum / n;
  out.deviation = std::sqrt(std::max(0.0, squares / n - out.mean * out.mean));
  out.error = out.deviation / std::sqrt(n);
  return out;
}

}  // namespace headway::testing
