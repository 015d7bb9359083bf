// Streams of jobs that are drawn by a law, or listed, and what policies make of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "study/jobs/cluster.hpp"

namespace headway {

enum class ArrivalKind : std::uint8_t { fixed, poisson };

/// A job that is listed; what it leaves open is drawn.
struct ListedArrival {
  Seconds arrival;
  std::optional<std::size_t> kind;
  std::optional<Seconds> limit;
};

/// How jobs come.
struct JobLaw {
  std::vector<ListedArrival> listed;  // in the order of their arrival; empty: all are drawn
  ArrivalKind arrivals = ArrivalKind::fixed;
  Seconds interval{1000};             // between two, in the mean
  std::vector<std::int64_t> weights;  // copies of each kind in the pool that kinds are drawn from
  double least = 0.1, most = 1, step = 0.01;  // limits as fractions of the time alone
  // Laws of limits, of which each job draws one: the skewness of a skew-normal one, or uniform.
  std::vector<std::optional<double>> limits = {std::nullopt};
};

/// [JOBS-8] The first `count` jobs: kinds drawn from a shuffled pool that is filled again when it
/// is empty, limits uniform on least, least + step, ... most or by a skew-normal law, arrivals
/// every interval or with exponential gaps. The same for the same seed. The skew-normal law is
/// PAC-ML's: 50,000 values (Azzalini 1985), moved and stretched so that they reach from 0 to most,
/// those below least set to it, rounded to `step`.
std::vector<JobArrival> drawn_jobs(const JobLaw& law, const JobMachine& machine, std::uint64_t seed,
                                   std::size_t count);
/// Those that arrive before `horizon`.
std::vector<JobArrival> drawn_until(const JobLaw& law, const JobMachine& machine,
                                    std::uint64_t seed, Seconds horizon);

struct StreamOutcome {
  std::size_t jobs = 0, blocked = 0, refused = 0;
  std::size_t hopeless = 0;        // no degree holds their limit, even on the empty machine
  double utilisation = 0;          // of server-seconds until the last arrival, or the horizon
  Seconds end = {};                // that arrival, or the horizon
  Joules energy = {};              // of the jobs that ran, whole
  double failures = 0;             // expected of them
  std::vector<double> times = {};  // of the jobs that ran, seconds
  // On machines whose jobs share links: of the jobs that ran, what each took over what it takes
  // alone; those that ended after their limit, as others came.
  std::vector<double> slowdowns = {};
  std::size_t late = 0;
  std::vector<double> slacks = {};  // what their limits leave, as a share of the limit

  double blocking() const {
    return jobs == 0 ? 0 : static_cast<double>(blocked) / static_cast<double>(jobs);
  }
};

/// Every job decided on its arrival. `law`: of what may come, for rollout. `horizon` 0: until the
/// last arrival; published rules block what still runs then.
StreamOutcome run_stream(const std::vector<JobArrival>& jobs, const JobMachine& machine,
                         const JobPolicy& policy, JobRules rules, const JobLaw* law,
                         std::uint64_t seed, Seconds horizon);

/// The degree that the policy chooses for jobs[at], of all policies.
int chosen_degree(const JobPolicy& policy, const JobCluster& cluster,
                  const std::vector<JobArrival>& jobs, std::size_t at, const JobLaw* law,
                  SplitMix& random);

}  // namespace headway
