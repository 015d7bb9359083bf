// What is asked of a stream of jobs, and the answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/document/csv.hpp"
#include "platform/parallel.hpp"
#include "study/jobs/stream.hpp"

namespace headway {

struct JobsQuestion {
  std::string title;
  // Makes the machine anew: each thread has one of its own, which keeps answers.
  std::function<std::unique_ptr<JobMachine>()> machine;
  JobLaw law;
  std::vector<Seconds> intervals;  // loads: between arrivals, in the mean
  std::vector<JobPolicy> policies;
  std::size_t seeds = 3;
  std::size_t count = 200;  // jobs of a stream, where there is no horizon
  Seconds horizon;
  JobRules rules;
};

/// What overrides the file; empty or 0: nothing.
struct JobsOverrides {
  std::vector<std::string> policies;
  std::int64_t seeds = 0;
  bool as_published = false;
  std::optional<Csv> arrivals = {};  // a table in place of a law of arrivals
};

/// Columns arrival_s, and where they stand job (a kind's name) and limit_s. Every problem at once.
Result<std::vector<ListedArrival>> read_listed(const Csv& table,
                                               const std::vector<std::string>& kinds);

/// Of a stream's description. Every problem of it at once.
Result<JobsQuestion> read_jobs_question(const Document& document, const JobsOverrides& overrides);

/// One policy at one load.
struct PolicyAtLoad {
  std::string policy;
  Seconds interval;
  std::vector<StreamOutcome> seeds;

  double blocking() const;  // mean over seeds
  double utilisation() const;
  /// Of blocking rates over seeds; of times over all jobs that ran, seconds.
  double blocking_quantile(double q) const;
  std::optional<double> time_quantile(double q) const;
  /// Means over seeds: jobs that ran, what they draw, and what servers without a job draw until the
  /// end of the stream.
  double done() const;
  /// On shared links, over all jobs that ran; nothing elsewhere.
  std::optional<double> slowdown_mean() const;
  std::optional<double> slowdown_quantile(double q) const;
  double late() const;  // share of those that ran
  double failures() const;
  Joules energy() const;
  Seconds end() const;
};

/// A fleet over a stream, under a policy.
struct FleetView {
  Joules energy, idle;  // of jobs; of servers that have none
  double price = 0;     // US dollars of all servers until the end; 0: not known
};
FleetView fleet_view(const PolicyAtLoad& row, std::size_t servers, const FleetCosts& costs);

/// How much less `policy` blocks than `than`, on the same streams.
struct PolicyGain {
  std::string policy, than;
  Seconds interval;
  double mean = 0;
  std::optional<double> low, high;  // 95 %, by Student's law; none of a single seed
};

struct JobsAnswer {
  std::string title;
  std::size_t servers = 0;
  std::optional<FleetCosts> costs;
  std::size_t seeds = 0;
  bool published = false;
  std::vector<PolicyAtLoad> rows;  // by load, then in the order that policies were asked for
  std::vector<PolicyGain> gains;   // of every policy over max and acceptable, where asked for
  double hopeless = 0;             // share of jobs whose limit no degree holds on the empty machine
};

/// Decisions of all streams; those of policies that try choices count for what they try.
double work_of(const JobsQuestion& question);
constexpr std::int64_t kMostBoundedJobs = 2000000;  // of a request over the network

/// The same whatever the number of threads.
Result<JobsAnswer> answer_jobs(const JobsQuestion& question, int threads, const Progress& progress);

}  // namespace headway
