#include "study/jobs/look.hpp"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

// What choices cost: fewer blocked jobs first, then fewer server-seconds that are still held after
// the last of the jobs has come, then fewer in all.
struct ChoiceCost {
  double blocked = std::numeric_limits<double>::infinity(), left = 0, held = 0;
  friend auto operator<=>(const ChoiceCost&, const ChoiceCost&) = default;

  void add(const JobOutcome& outcome, Seconds arrival, Seconds last) {
    const double servers = static_cast<double>(outcome.servers);
    blocked += outcome.blocked ? 1 : 0;
    left += servers * std::max(0.0, (arrival + outcome.time - last).value());
    held += servers * outcome.time.value();
  }
};

struct Best {
  ChoiceCost cost;
  int degree = 0;
};

// The best of all choices for the jobs, where so much has been paid before.
Best best_of(JobCluster cluster, std::span<const JobArrival> jobs, ChoiceCost paid,
             ChoiceCost bound) {
  if (jobs.empty()) return {paid, 0};
  const JobArrival& job = jobs.front();
  const Seconds last = jobs.back().arrival;
  Best out{bound, 0};
  cluster.advance(job.arrival);
  for (const int degree : cluster.degrees(job.kind)) {
    JobCluster next = cluster;
    const JobOutcome outcome = next.submit(job, degree);
    if (outcome.blocked) continue;
    ChoiceCost cost = paid;
    cost.add(outcome, job.arrival, last);
    if (cost >= out.cost) continue;
    const Best rest = best_of(std::move(next), jobs.subspan(1), cost, out.cost);
    if (rest.cost < out.cost) out = {rest.cost, degree};
  }
  ChoiceCost refusing = paid;
  refusing.blocked += 1;
  if (refusing < out.cost) {
    const Best rest = best_of(std::move(cluster), jobs.subspan(1), refusing, out.cost);
    if (rest.cost < out.cost) out = {rest.cost, 0};
  }
  return out;
}

// What follows where `base` decides all that comes.
ChoiceCost cost_of_future(JobCluster cluster, const std::vector<JobArrival>& jobs,
                          JobPolicyKind base, SplitMix& random) {
  ChoiceCost out{0, 0, 0};
  for (const JobArrival& job : jobs) {
    cluster.advance(job.arrival);
    const int degree = degree_of({.kind = base}, cluster.machine(), job, cluster.degrees(job.kind),
                                 cluster.busy(), cluster.rules(), random);
    out.add(cluster.submit(job, degree), job.arrival, jobs.back().arrival);
  }
  return out;
}

}  // namespace

int looked_ahead(const JobCluster& cluster, std::span<const JobArrival> jobs) {
  return best_of(cluster, jobs, {0, 0, 0}, {}).degree;
}

int rolled_out(const JobPolicy& policy, const JobCluster& cluster, const JobArrival& job,
               const JobLaw& law, SplitMix& random) {
  std::vector<std::vector<JobArrival>> futures;
  for (int i = 0; i < policy.futures; ++i) {
    auto drawn = drawn_jobs(law, cluster.machine(), random.next(),
                            static_cast<std::size_t>(policy.horizon) + 1);
    drawn.erase(drawn.begin());
    for (JobArrival& each : drawn) each.arrival += job.arrival;
    futures.push_back(std::move(drawn));
  }
  Best best;
  std::vector<int> choices = cluster.degrees(job.kind);
  choices.push_back(0);
  for (const int degree : choices) {
    JobCluster next = cluster;
    const JobOutcome outcome = next.submit(job, degree);
    if (degree != 0 && outcome.blocked) continue;
    // By the better of two ways to go on.
    for (const JobPolicyKind base : {JobPolicyKind::cheapest, JobPolicyKind::shortest}) {
      ChoiceCost cost{0, 0, 0};
      for (const auto& future : futures) {
        const ChoiceCost more = cost_of_future(next, future, base, random);
        cost.blocked += more.blocked + (outcome.blocked ? 1 : 0);
        cost.left += more.left;
        cost.held += more.held;
      }
      if (cost < best.cost) best = {cost, degree};
    }
  }
  return best.degree;
}

}  // namespace headway
