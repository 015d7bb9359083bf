#include "study/jobs/policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr int kMostOfName = 64;

constexpr std::pair<std::string_view, JobPolicyKind> kNames[] = {
    {"none", JobPolicyKind::none},           {"min", JobPolicyKind::min},
    {"sipml", JobPolicyKind::sipml},         {"max", JobPolicyKind::max},
    {"random", JobPolicyKind::random},       {"acceptable", JobPolicyKind::acceptable},
    {"cheapest", JobPolicyKind::cheapest},   {"shortest", JobPolicyKind::shortest},
    {"lookahead", JobPolicyKind::lookahead}, {"rollout", JobPolicyKind::rollout}};

// Kinds whose name ends in a number.
bool has_number(JobPolicyKind kind) {
  return kind == JobPolicyKind::sipml || kind == JobPolicyKind::lookahead;
}

// The degree whose start is least by `measure` among those that hold the limit; 0: none does.
template <class Measure>
int least_that_holds(const JobMachine& machine, const JobArrival& job,
                     const std::vector<int>& degrees, const BusyServers& busy, JobRules rules,
                     Measure measure) {
  int out = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const int degree : degrees) {
    const auto start = machine.start(job.kind, degree, busy);
    if (!start || !rules.hold(start->time, job.limit)) continue;
    const double value = measure(*start);
    if (value < least) out = degree, least = value;
  }
  return out;
}

int most_within(const std::vector<int>& degrees, int cap) {
  int out = degrees.front();
  for (const int degree : degrees) out = degree <= cap ? degree : out;
  return out;
}

int acceptable_degree(const JobMachine& machine, const JobArrival& job,
                      const std::vector<int>& degrees) {
  const double wanted = std::ceil(machine.alone(job.kind) / job.limit);
  const auto at =
      std::find_if(degrees.begin(), degrees.end(), [&](int degree) { return degree >= wanted; });
  return at == degrees.end() ? degrees.back() : *at;
}

}  // namespace

std::string JobPolicy::name() const {
  std::string out;
  for (const auto& [text, each] : kNames) {
    if (each == kind) out = text;
  }
  if (has_number(kind)) out += std::to_string(kind == JobPolicyKind::sipml ? cap : depth);
  return out;
}

std::optional<JobPolicy> job_policy_of(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (name.substr(0, text.size()) != text) continue;
    const std::string_view rest = name.substr(text.size());
    JobPolicy out{.kind = kind};
    if (rest.empty()) {
      if (kind != JobPolicyKind::sipml) return out;
      continue;
    }
    const auto number = whole_number(rest);
    const std::int64_t most = kind == JobPolicyKind::lookahead ? 6 : kMostOfName;
    if (!has_number(kind) || !number || *number < 1 || *number > most) continue;
    (kind == JobPolicyKind::sipml ? out.cap : out.depth) = static_cast<int>(*number);
    return out;
  }
  return std::nullopt;
}

std::vector<std::string> job_policy_names() {
  std::vector<std::string> out;
  for (const auto& [text, kind] : kNames) {
    out.push_back(std::string(text) + (kind == JobPolicyKind::sipml ? "CAP" : ""));
  }
  return out;
}

int degree_of(const JobPolicy& policy, const JobMachine& machine, const JobArrival& job,
              const std::vector<int>& degrees, const BusyServers& busy, JobRules rules,
              SplitMix& random) {
  if (degrees.empty()) return 0;
  const int most = degrees.back();
  switch (policy.kind) {
    case JobPolicyKind::none:
      return degrees.front();
    case JobPolicyKind::min:
      return most_within(degrees, 2);
    case JobPolicyKind::sipml:
      return most_within(degrees, policy.cap);
    case JobPolicyKind::random:
      return degrees[random.next() % degrees.size()];
    case JobPolicyKind::acceptable:
      return acceptable_degree(machine, job, degrees);
    case JobPolicyKind::cheapest:
      return least_that_holds(machine, job, degrees, busy, rules, [](const JobStart& start) {
        return static_cast<double>(start.servers.size()) * start.time.value();
      });
    case JobPolicyKind::shortest:
      return least_that_holds(machine, job, degrees, busy, rules,
                              [](const JobStart& start) { return start.time.value(); });
    case JobPolicyKind::max:
    case JobPolicyKind::lookahead:
    case JobPolicyKind::rollout:
      break;
  }
  return most;
}

}  // namespace headway
