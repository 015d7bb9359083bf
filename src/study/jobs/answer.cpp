#include <algorithm>
#include <cmath>

#include "base/statistics.hpp"
#include "study/jobs/question.hpp"

namespace headway {
namespace {

double mean_over(const std::vector<StreamOutcome>& seeds, double (*of)(const StreamOutcome&)) {
  double sum = 0;
  for (const StreamOutcome& seed : seeds) sum += of(seed);
  return seeds.empty() ? 0 : sum / static_cast<double>(seeds.size());
}

// Of one stream at one load, under every policy.
std::vector<StreamOutcome> outcomes_of(const JobsQuestion& question, const JobMachine& machine,
                                       Seconds interval, std::uint64_t seed) {
  JobLaw law = question.law;
  law.interval = interval;
  const std::vector<JobArrival> jobs = question.horizon > Seconds()
                                           ? drawn_until(law, machine, seed, question.horizon)
                                           : drawn_jobs(law, machine, seed, question.count);
  std::vector<StreamOutcome> out;
  for (const JobPolicy& policy : question.policies) {
    out.push_back(run_stream(jobs, machine, policy, question.rules, &law, seed, question.horizon));
  }
  return out;
}

PolicyGain gain_of(const PolicyAtLoad& row, const PolicyAtLoad& than) {
  PolicyGain out{row.policy, than.policy, row.interval, 0, {}, {}};
  std::vector<double> differences;
  for (std::size_t i = 0; i < row.seeds.size(); ++i) {
    differences.push_back(than.seeds[i].blocking() - row.seeds[i].blocking());
  }
  const double n = static_cast<double>(differences.size());
  out.mean = mean(differences).value_or(0);
  if (n < 2) return out;
  double squares = 0;
  for (const double each : differences) squares += (each - out.mean) * (each - out.mean);
  const double half =
      student_bound(0.95, static_cast<int>(n) - 1) * std::sqrt(squares / (n - 1) / n);
  out.low = out.mean - half;
  out.high = out.mean + half;
  return out;
}

}  // namespace

double PolicyAtLoad::blocking() const {
  return mean_over(seeds, [](const StreamOutcome& seed) { return seed.blocking(); });
}
double PolicyAtLoad::utilisation() const {
  return mean_over(seeds, [](const StreamOutcome& seed) { return seed.utilisation; });
}
double PolicyAtLoad::blocking_quantile(double q) const {
  std::vector<double> values;
  for (const StreamOutcome& seed : seeds) values.push_back(seed.blocking());
  return quantile(std::move(values), q).value_or(0);
}
std::optional<double> PolicyAtLoad::time_quantile(double q) const {
  std::vector<double> values;
  for (const StreamOutcome& seed : seeds) {
    values.insert(values.end(), seed.times.begin(), seed.times.end());
  }
  return quantile(std::move(values), q);
}

std::optional<double> PolicyAtLoad::slowdown_mean() const {
  std::vector<double> values;
  for (const StreamOutcome& seed : seeds) {
    values.insert(values.end(), seed.slowdowns.begin(), seed.slowdowns.end());
  }
  return mean(values);
}
std::optional<double> PolicyAtLoad::slowdown_quantile(double q) const {
  std::vector<double> values;
  for (const StreamOutcome& seed : seeds) {
    values.insert(values.end(), seed.slowdowns.begin(), seed.slowdowns.end());
  }
  return quantile(std::move(values), q);
}
double PolicyAtLoad::late() const {
  std::size_t late = 0, ran = 0;
  for (const StreamOutcome& seed : seeds) {
    late += seed.late;
    ran += seed.times.size();
  }
  return ran == 0 ? 0 : static_cast<double>(late) / static_cast<double>(ran);
}

double PolicyAtLoad::done() const {
  return mean_over(
      seeds, [](const StreamOutcome& seed) { return static_cast<double>(seed.times.size()); });
}
double PolicyAtLoad::failures() const {
  return mean_over(seeds, [](const StreamOutcome& seed) { return seed.failures; });
}
Joules PolicyAtLoad::energy() const {
  return Joules(mean_over(seeds, [](const StreamOutcome& seed) { return seed.energy.value(); }));
}
Seconds PolicyAtLoad::end() const {
  return Seconds(mean_over(seeds, [](const StreamOutcome& seed) { return seed.end.value(); }));
}

// [JOBS-12] Energy: of each job that ran, by its forecast; of servers without one idle power, until
// the last arrival or the horizon. Money: of all servers all that time.
FleetView fleet_view(const PolicyAtLoad& row, std::size_t servers, const FleetCosts& costs) {
  const auto all = static_cast<double>(servers);
  constexpr double kHour = 3600;
  return {row.energy(), all * (1 - row.utilisation()) * (costs.idle * row.end()),
          all * costs.price * row.end().value() / kHour};
}

double work_of(const JobsQuestion& question) {
  double jobs = 0, each = 0;
  for (const Seconds interval : question.intervals) {
    jobs += question.horizon > Seconds() ? question.horizon / interval
                                         : static_cast<double>(question.count);
  }
  for (const JobPolicy& policy : question.policies) {
    const bool tries = policy.kind == JobPolicyKind::rollout;
    each += tries ? 1000 : policy.kind == JobPolicyKind::lookahead ? std::pow(4, policy.depth) : 1;
  }
  return jobs * each * static_cast<double>(question.seeds);
}

Result<JobsAnswer> answer_jobs(const JobsQuestion& question, int threads,
                               const Progress& progress) {
  const std::size_t loads = question.intervals.size(), seeds = question.seeds;
  std::vector<std::vector<StreamOutcome>> outcomes(loads * seeds);
  std::vector<std::unique_ptr<JobMachine>> machines(workers_of(threads));
  const bool done = for_each_index(
      outcomes.size(), threads,
      [&](std::size_t i, std::size_t worker) {
        auto& machine = machines[worker];
        if (machine == nullptr) machine = question.machine();
        outcomes[i] = outcomes_of(question, *machine, question.intervals[i / seeds], i % seeds);
      },
      progress, 1);
  if (!done) return Problem{Where(), "stopped", Trouble::stopped};

  JobsAnswer out{.title = question.title,
                 .servers = question.machine()->servers(),
                 .costs = question.machine()->costs(),
                 .seeds = seeds,
                 .published = question.rules.published,
                 .rows = {},
                 .gains = {}};
  std::size_t jobs = 0, hopeless = 0;
  for (std::size_t load = 0; load < loads; ++load) {
    const std::size_t first = out.rows.size();
    for (std::size_t policy = 0; policy < question.policies.size(); ++policy) {
      PolicyAtLoad row{question.policies[policy].name(), question.intervals[load], {}};
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        row.seeds.push_back(std::move(outcomes[load * seeds + seed][policy]));
        jobs += row.seeds.back().jobs;
        hopeless += row.seeds.back().hopeless;
      }
      out.rows.push_back(std::move(row));
    }
    for (std::size_t row = first; row < out.rows.size(); ++row) {
      for (std::size_t than = first; than < out.rows.size(); ++than) {
        const bool is_base =
            out.rows[than].policy == "max" || out.rows[than].policy == "acceptable";
        if (is_base && row != than) out.gains.push_back(gain_of(out.rows[row], out.rows[than]));
      }
    }
  }
  out.hopeless = jobs == 0 ? 0 : static_cast<double>(hopeless) / static_cast<double>(jobs);
  return out;
}

}  // namespace headway
