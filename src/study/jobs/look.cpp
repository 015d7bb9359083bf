#include "study/jobs/look.hpp"

#include <limits>

namespace headway {
namespace {

// What choices cost: fewer blocked jobs first, then fewer server-seconds.
struct ChoiceCost {
  double blocked = std::numeric_limits<double>::infinity(), held = 0;
  friend auto operator<=>(const ChoiceCost&, const ChoiceCost&) = default;
};

double held_by(const JobOutcome& outcome) {
  return static_cast<double>(outcome.servers) * outcome.time.value();
}

struct Best {
  ChoiceCost cost;
  int degree = 0;
};

// The best of all choices for the jobs, where so much has been paid before.
Best best_of(JobCluster cluster, std::span<const JobArrival> jobs, ChoiceCost paid,
             ChoiceCost bound) {
  if (jobs.empty()) return {paid, 0};
  Best out{bound, 0};
  cluster.advance(jobs[0].arrival);
  for (const int degree : cluster.degrees(jobs[0].kind)) {
    JobCluster next = cluster;
    const JobOutcome outcome = next.submit(jobs[0], degree);
    if (outcome.blocked) continue;
    const ChoiceCost cost{paid.blocked, paid.held + held_by(outcome)};
    if (cost >= out.cost) continue;
    const Best rest = best_of(std::move(next), jobs.subspan(1), cost, out.cost);
    if (rest.cost < out.cost) out = {rest.cost, degree};
  }
  const ChoiceCost refusing{paid.blocked + 1, paid.held};
  if (refusing < out.cost) {
    const Best rest = best_of(std::move(cluster), jobs.subspan(1), refusing, out.cost);
    if (rest.cost < out.cost) out = {rest.cost, 0};
  }
  return out;
}

ChoiceCost cost_of_future(JobCluster cluster, const std::vector<JobArrival>& jobs,
                          SplitMix& random) {
  ChoiceCost out{0, 0};
  for (const JobArrival& job : jobs) {
    cluster.advance(job.arrival);
    const int degree =
        degree_of({.kind = JobPolicyKind::cheapest}, cluster.machine(), job,
                  cluster.degrees(job.kind), cluster.busy(), cluster.rules(), random);
    const JobOutcome outcome = cluster.submit(job, degree);
    out.blocked += outcome.blocked ? 1 : 0;
    out.held += held_by(outcome);
  }
  return out;
}

}  // namespace

int looked_ahead(const JobCluster& cluster, std::span<const JobArrival> jobs) {
  return best_of(cluster, jobs, {0, 0}, {}).degree;
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
    ChoiceCost cost{(outcome.blocked ? 1.0 : 0.0) * policy.futures, held_by(outcome)};
    for (const auto& future : futures) {
      const ChoiceCost more = cost_of_future(next, future, random);
      cost.blocked += more.blocked;
      cost.held += more.held;
    }
    if (cost < best.cost) best = {cost, degree};
  }
  return best.degree;
}

}  // namespace headway
