#include "study/jobs/cluster.hpp"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

// Sums of times differ in their last digits: a job that ends as another arrives has ended.
constexpr Seconds kTogether{1e-7};

}  // namespace

JobCluster::JobCluster(const JobMachine& machine, JobRules rules)
    : machine_(&machine), rules_(rules), busy_(machine.servers()), free_(machine.servers()) {}

void JobCluster::remove_ended() {
  RunningJob& job = running_.back();
  for (const std::size_t server : job.servers) busy_[server] = false;
  free_ += job.servers.size();
  if (machine_->shares_links()) ended_.push_back({job.submitted, job.end});
  running_.pop_back();
}

// What is left of each job shrinks as fast as those that run let it.
void JobCluster::pass_until(Seconds now) {
  for (RunningJob& job : running_) job.left -= (1 / job.slowdown) * (now - now_);
  now_ = now;
}

// [JOBS-14] With the jobs that run now, until one comes or goes.
void JobCluster::slow_down() {
  std::vector<RunsOn> jobs;
  for (const RunningJob& job : running_) jobs.push_back({job.kind, job.degree, job.servers});
  const std::vector<double> slowdowns = machine_->slowdowns(jobs);
  for (std::size_t i = 0; i < running_.size(); ++i) {
    running_[i].slowdown = slowdowns[i];
    running_[i].end = now_ + slowdowns[i] * running_[i].left;
  }
  std::stable_sort(running_.begin(), running_.end(),
                   [](const RunningJob& a, const RunningJob& b) { return a.end > b.end; });
}

void JobCluster::advance(Seconds now) {
  if (!machine_->shares_links()) {
    while (!running_.empty() && running_.back().end <= now + kTogether) remove_ended();
    return;
  }
  while (!running_.empty() && running_.back().end <= now + kTogether) {
    pass_until(running_.back().end);
    while (!running_.empty() && running_.back().end <= now_ + kTogether) remove_ended();
    slow_down();
  }
  if (now < Seconds(std::numeric_limits<double>::infinity())) pass_until(now);
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
  running_.insert(at.base(), {.end = end,
                              .servers = std::move(start->servers),
                              .kind = job.kind,
                              .degree = degree,
                              .submitted = started_,
                              .left = start->time});
  ++started_;
  if (machine_->shares_links()) slow_down();
  return out;
}

}  // namespace headway
