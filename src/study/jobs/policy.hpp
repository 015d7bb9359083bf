// How far a job is split when it arrives, or whether it is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random/random.hpp"
#include "study/jobs/machine.hpp"

namespace headway {

struct JobArrival {
  std::size_t kind = 0;
  Seconds arrival;
  Seconds limit;  // on completion, from arrival
};

enum class JobPolicyKind : std::uint8_t {
  none,        // one server
  min,         // two, or one where no more is free
  sipml,       // as many as the cap allows
  max,         // as many as there are
  random,      // any that is offered
  acceptable,  // the first from time alone over limit on, else the most
  cheapest,    // the fewest servers that hold the limit by what they take, else refused
  shortest,    // that which ends first and holds the limit, else refused
  lookahead,   // the best of all choices for this job and the next ones, which are known
  rollout,     // the best by futures drawn from the stream
};

/// What blocks a job besides a place that is missing.
struct JobRules {
  // As PAC-ML's code has it: a time over the limit by the last digit is over it, a kind at a degree
  // takes what its first job at that degree took, wherever it lies, and jobs that still run at the
  // end are blocked.
  bool published = false;

  bool hold(Seconds time, Seconds limit) const {
    return time <= (published ? limit : limit * (1 + 1e-9));
  }
};

struct JobPolicy {
  JobPolicyKind kind = JobPolicyKind::max;
  int cap = 8;                     // sipml
  int depth = 4;                   // lookahead: jobs, this one among them
  int futures = 16, horizon = 12;  // rollout: how many, and jobs in each

  std::string name() const;
};

/// "none", "min", "sipml8", "max", "random", "acceptable", "cheapest", "shortest", "lookahead4",
/// "rollout"; nothing for another text.
std::optional<JobPolicy> job_policy_of(std::string_view name);
/// What job_policy_of() knows, as help has it.
std::vector<std::string> job_policy_names();

/// A policy that looks at this job alone: its degree, 0 to refuse. `degrees`: what is offered.
int degree_of(const JobPolicy& policy, const JobMachine& machine, const JobArrival& job,
              const std::vector<int>& degrees, const BusyServers& busy, JobRules rules,
              SplitMix& random);

}  // namespace headway
