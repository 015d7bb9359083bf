// How much of a run's time trains, where failures come at random: checkpoints, lost work, restarts,
// waiting for repair; the best interval between checkpoints; quantiles of the whole run's time.
#pragma once

#include <cstdint>

#include "base/quantity.hpp"

namespace headway {

/// What interrupts a run and what an interruption costs.
struct Reliability {
  Seconds mean_time_between;  // interruptions of the whole run; 0: there are none
  Seconds checkpoint;         // that a checkpoint keeps training from going on
  Seconds hidden_write;       // that the rest of its write takes beside training, until it is safe
  Seconds restart;            // from the interruption until training goes on from a checkpoint
};

/// The time of one accelerator between interruptions, shared by `accelerators`: failures of many
/// are a Poisson process of the sum of their rates. 0 (there are none) stays 0 [SCALE-1].
Seconds mean_time_between(Seconds of_one, std::int64_t accelerators);

/// Mean time and its variance to pass one interval of work and its checkpoint [SCALE-2], [SCALE-3].
struct Segment {
  Seconds mean;
  double variance = 0;  // s²
  double failures = 0;  // expected
  Seconds recovery;     // of the mean: restarts, and work redone for want of a safe checkpoint
};
Segment segment(const Reliability& reliability, Seconds interval);

/// Whether failures come so often that a segment of this interval is hardly ever passed.
bool is_hopeless(const Reliability& reliability, Seconds interval);

/// The interval that makes the expected time least, exactly [SCALE-4]. Infinite without failures.
Seconds best_interval(const Reliability& reliability);
/// √(2 δ M) (Young 1974), its limit for checkpoints much shorter than the time between failures.
Seconds young_interval(const Reliability& reliability);
/// The higher-order estimate of Daly (2006).
Seconds daly_interval(const Reliability& reliability);

/// Where the expected time of a run goes. The parts sum to it.
struct RunTime {
  Seconds training, checkpoints, lost_work, restarts, waiting;
  double failures = 0;  // expected
  double goodput = 1;   // training / total
  double variance = 0;  // of the total, s²
  Seconds total() const { return training + checkpoints + lost_work + restarts + waiting; }
  /// With nothing but training and checkpoints: no run is faster.
  Seconds least() const { return training + checkpoints; }
};

/// The expected time of `training` seconds of work with a checkpoint after each `interval`.
/// `waiting_share`: of the time, what the run stands still for want of a node [SCALE-6].
RunTime run_time(const Reliability& reliability, Seconds training, Seconds interval,
                 double waiting_share = 0);

/// The time that the share `q` of such runs takes at most [SCALE-5]. 0.001 ≤ q ≤ 0.999.
Seconds quantile_of(const RunTime& run, double q);

/// The share of time that a run stands still because more of its nodes are in repair than it has
/// spares [SCALE-6]. `failing_between`: mean time between failures of nodes of the whole run that
/// need repair.
double waiting_share(Seconds failing_between, Seconds repair, std::int64_t spares);
/// The number of spare nodes with which a run on `nodes` costs least: one more would cost more, all
/// along, than the waiting that it saves. Nodes and spares cost the same.
std::int64_t cheapest_spares(Seconds failing_between, Seconds repair, std::int64_t nodes);

/// The standard normal quantile, to 1e-9 (Acklam's rational form and one step of Halley).
double normal_quantile(double q);

}  // namespace headway
