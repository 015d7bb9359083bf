#include "study/jobs/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/jobs/look.hpp"

namespace headway {
namespace {

constexpr int kCopiesOfPool = 10;

double uniform(SplitMix& random) {
  return static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

// [JOBS-8] The values of a skew-normal law of limits.
std::vector<double> skewed_fractions(const JobLaw& law, double skewness, SplitMix random) {
  constexpr std::size_t kValues = 50000;
  const double delta = skewness / std::sqrt(1 + skewness * skewness);
  const auto normal = [&] { return normal_of(1 - uniform(random), uniform(random)); };
  std::vector<double> out;
  out.reserve(kValues);
  for (std::size_t i = 0; i < kValues; ++i) {
    const double half = std::abs(normal());
    out.push_back(delta * half + std::sqrt(1 - delta * delta) * normal());
  }
  const auto [low, high] = std::minmax_element(out.begin(), out.end());
  const double from = *low, width = *high - *low;
  for (double& value : out) {
    const double stretched = (value - from) / width * law.most;
    value = std::round(std::max(law.least, stretched) / law.step) * law.step;
  }
  return out;
}

// Jobs one after another.
struct JobDrawer {
  const JobLaw& law;
  const JobMachine& machine;
  SplitMix random;
  std::vector<std::size_t> pool = {};
  Seconds now = {};
  std::vector<std::vector<double>> skewed = {};  // of each law of limits, once it is asked for

  std::size_t kind() {
    if (pool.empty()) {
      for (std::size_t kind = 0; kind < law.weights.size(); ++kind) {
        pool.insert(pool.end(), static_cast<std::size_t>(kCopiesOfPool * law.weights[kind]), kind);
      }
    }
    const std::size_t at = random.next() % pool.size();
    std::swap(pool[at], pool.back());
    const std::size_t out = pool.back();
    pool.pop_back();
    return out;
  }

  double fraction() {
    const std::size_t which = law.limits.size() > 1 ? random.next() % law.limits.size() : 0;
    if (law.limits[which]) {
      skewed.resize(law.limits.size());
      std::vector<double>& values = skewed[which];
      if (values.empty()) values = skewed_fractions(law, *law.limits[which], {random.next()});
      return values[random.next() % values.size()];
    }
    const auto steps =
        static_cast<std::uint64_t>(std::floor((law.most - law.least) / law.step + 1e-9));
    return law.least + static_cast<double>(random.next() % (steps + 1)) * law.step;
  }

  JobArrival listed(const ListedArrival& job) {
    JobArrival out{job.kind ? *job.kind : kind(), job.arrival, {}};
    out.limit = job.limit ? *job.limit : fraction() * machine.alone(out.kind);
    return out;
  }

  JobArrival next() {
    JobArrival out{kind(), now, {}};
    out.limit = fraction() * machine.alone(out.kind);
    const bool even = law.arrivals == ArrivalKind::fixed;
    now += even ? law.interval : -std::log(1 - uniform(random)) * law.interval;
    return out;
  }
};

bool is_hopeless(const JobMachine& machine, const JobArrival& job, JobRules rules) {
  const BusyServers none(machine.servers());
  for (const int degree : machine.degrees(job.kind, machine.servers())) {
    const auto start = machine.start(job.kind, degree, none);
    if (start && rules.hold(start->time, job.limit)) return false;
  }
  return true;
}

}  // namespace

std::vector<JobArrival> drawn_jobs(const JobLaw& law, const JobMachine& machine, std::uint64_t seed,
                                   std::size_t count) {
  JobDrawer drawer{law, machine, {split_mixed(seed)}};
  std::vector<JobArrival> out;
  out.reserve(count);
  if (!law.listed.empty()) {
    for (const ListedArrival& job : law.listed) out.push_back(drawer.listed(job));
    return out;
  }
  for (std::size_t i = 0; i < count; ++i) out.push_back(drawer.next());
  return out;
}

std::vector<JobArrival> drawn_until(const JobLaw& law, const JobMachine& machine,
                                    std::uint64_t seed, Seconds horizon) {
  JobDrawer drawer{law, machine, {split_mixed(seed)}};
  std::vector<JobArrival> out;
  while (drawer.now < horizon) out.push_back(drawer.next());
  return out;
}

int chosen_degree(const JobPolicy& policy, const JobCluster& cluster,
                  const std::vector<JobArrival>& jobs, std::size_t at, const JobLaw* law,
                  SplitMix& random) {
  const JobArrival& job = jobs[at];
  if (policy.kind == JobPolicyKind::lookahead) {
    const std::size_t known = std::min(static_cast<std::size_t>(policy.depth), jobs.size() - at);
    return looked_ahead(cluster, std::span(jobs).subspan(at, known));
  }
  if (policy.kind == JobPolicyKind::rollout && law != nullptr) {
    return rolled_out(policy, cluster, job, *law, random);
  }
  return degree_of(policy, cluster.machine(), job, cluster.degrees(job.kind), cluster.busy(),
                   cluster.rules(), random);
}

StreamOutcome run_stream(const std::vector<JobArrival>& jobs, const JobMachine& machine,
                         const JobPolicy& policy, JobRules rules, const JobLaw* law,
                         std::uint64_t seed, Seconds horizon) {
  StreamOutcome out{.jobs = jobs.size()};
  JobCluster cluster(machine, rules);
  SplitMix random{split_mixed(seed + 1)};
  const Seconds end = horizon > Seconds() || jobs.empty() ? horizon : jobs.back().arrival;
  out.end = end;
  double held = 0;
  const bool shares = machine.shares_links();
  struct Started {
    std::size_t job;
    JobOutcome outcome;
  };
  std::vector<Started> started;  // on shared links, where ends are known later
  const auto take_ended = [&] {
    for (const EndedJob& ended : cluster.take_ended()) {
      const auto& [at, outcome] = started[ended.submitted];
      const Seconds time = ended.end - jobs[at].arrival;
      const Seconds inside = std::max(Seconds(), std::min(ended.end, end) - jobs[at].arrival);
      held += static_cast<double>(outcome.servers) * inside.value();
      // While it waits for the network a server draws what it draws idle.
      out.energy += outcome.energy;
      if (const auto costs = machine.costs()) {
        out.energy += static_cast<double>(outcome.servers) * (costs->idle * (time - outcome.time));
      }
      out.failures += outcome.failures;
      out.times.push_back(time.value());
      out.slacks.push_back(1 - time / jobs[at].limit);
      out.slowdowns.push_back(time / outcome.time);
      out.late += rules.hold(time, jobs[at].limit) ? 0 : 1;
    }
  };
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobArrival& job = jobs[i];
    cluster.advance(job.arrival);
    const JobOutcome outcome =
        cluster.submit(job, chosen_degree(policy, cluster, jobs, i, law, random));
    if (outcome.degree == 0) ++out.refused;
    const Seconds until = job.arrival + outcome.time;
    const bool cut = rules.published && !outcome.blocked && until > end;
    out.blocked += outcome.blocked || cut ? 1 : 0;
    if (outcome.blocked) {
      out.hopeless += is_hopeless(machine, job, rules) ? 1 : 0;
      continue;
    }
    if (shares) {
      started.push_back({i, outcome});
      take_ended();
      continue;
    }
    const Seconds inside = std::max(Seconds(), std::min(until, end) - job.arrival);
    held += static_cast<double>(outcome.servers) * inside.value();
    out.energy += outcome.energy;
    out.failures += outcome.failures;
    if (cut) continue;
    out.times.push_back(outcome.time.value());
    out.slacks.push_back(1 - outcome.time / job.limit);
  }
  if (shares) {
    cluster.advance(Seconds(std::numeric_limits<double>::infinity()));
    take_ended();
  }
  const double whole = static_cast<double>(machine.servers()) * end.value();
  out.utilisation = whole > 0 ? held / whole : 0;
  return out;
}

}  // namespace headway
