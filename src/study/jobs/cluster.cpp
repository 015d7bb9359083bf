#include "study/jobs/cluster.hpp"

#include <algorithm>

namespace headway {
namespace {

// Sums of times differ in their last digits: a job that ends as another arrives has ended.
constexpr Seconds kTogether{1e-7};

}  // namespace

JobCluster::JobCluster(const JobMachine& machine, JobRules rules)
    : machine_(&machine), rules_(rules), busy_(machine.servers()), free_(machine.servers()) {}

void JobCluster::advance(Seconds now) {
  while (!running_.empty() && running_.back().end <= now + kTogether) {
    for (const std::size_t server : running_.back().servers) busy_[server] = false;
    free_ += running_.back().servers.size();
    running_.pop_back();
  }
}

std::vector<int> JobCluster::degrees(std::size_t kind) const {
  return machine_->degrees(kind, free_);
}

JobOutcome JobCluster::submit(const JobArrival& job, int degree) {
  JobOutcome out{.degree = degree};
  if (degree == 0) return out;
  auto start = machine_->start(job.kind, degree, busy_);
  if (!start) return out;
  if (rules_.published) {
    start->time = first_times_.try_emplace({job.kind, degree}, start->time).first->second;
  }
  if (!rules_.hold(start->time, job.limit)) return out;
  out.blocked = false;
  out.time = start->time;
  out.servers = start->servers.size();
  out.energy = start->energy;
  out.failures = start->failures;
  for (const std::size_t server : start->servers) busy_[server] = true;
  free_ -= out.servers;
  const Seconds end = job.arrival + start->time;
  const auto at = std::find_if(running_.rbegin(), running_.rend(),
                               [&](const RunningJob& other) { return other.end >= end; });
  running_.insert(at.base(), {end, std::move(start->servers)});
  return out;
}

}  // namespace headway
