// A machine with the jobs that run on it, over time.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "study/jobs/policy.hpp"

namespace headway {

struct JobOutcome {
  int degree = 0;  // the policy's choice, kept where the job is then blocked; 0: refused
  bool blocked = true;
  Seconds time = {};        // to completion, where it is not blocked
  std::size_t servers = 0;  // that it runs on
  Joules energy = {};
  double failures = 0;
};

/// A job that ran on shared links, when it has ended.
struct EndedJob {
  std::size_t submitted = 0;  // its place among the jobs that were started
  Seconds end;
};

/// Jobs are asked for in the order of their arrival. May be copied to look ahead.
class JobCluster {
 public:
  JobCluster(const JobMachine& machine, JobRules rules);

  /// Jobs that have ended by then leave.
  void advance(Seconds now);
  /// Those that have ended since the last call, on machines whose jobs share links: when they end
  /// hangs on what comes after them, and `time` of their outcome is what they take alone.
  std::vector<EndedJob> take_ended() { return std::exchange(ended_, {}); }
  /// Degrees that are offered to a job of that kind now.
  std::vector<int> degrees(std::size_t kind) const;
  /// Starts it at `now` where there is a place and its limit holds. There is no queue.
  JobOutcome submit(const JobArrival& job, int degree);

  const BusyServers& busy() const { return busy_; }
  std::size_t free() const { return free_; }
  std::size_t running() const { return running_.size(); }
  JobRules rules() const { return rules_; }
  const JobMachine& machine() const { return *machine_; }

 private:
  struct RunningJob {
    Seconds end;
    std::vector<std::size_t> servers;
    // On shared links:
    std::size_t kind = 0;
    int degree = 0;
    std::size_t submitted = 0;
    Seconds left = {};  // of its time alone, at now_
    double slowdown = 1;
  };
  void remove_ended();
  void slow_down();
  void pass_until(Seconds now);
  const JobMachine* machine_;
  JobRules rules_;
  BusyServers busy_;
  std::size_t free_;
  Seconds now_;              // up to which running jobs have been followed on shared links
  std::size_t started_ = 0;  // jobs
  std::vector<EndedJob> ended_;
  std::vector<RunningJob> running_;                             // by their ends, the next last
  std::map<std::pair<std::size_t, int>, Seconds> first_times_;  // of a kind at a degree
};

}  // namespace headway
