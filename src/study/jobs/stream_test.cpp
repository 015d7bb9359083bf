#include "study/jobs/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "study/jobs/look.hpp"
#include "study/jobs/replay.hpp"

namespace headway {
namespace {

// `servers` servers; a job of kind k takes (k + 1) * 100 s over its degree, any degree, anywhere.
class EvenMachine : public JobMachine {
 public:
  explicit EvenMachine(std::size_t servers) : servers_(servers) {}
  std::size_t servers() const override { return servers_; }
  const std::vector<std::string>& kinds() const override { return kinds_; }
  Seconds alone(std::size_t kind) const override {
    return Seconds(100 * static_cast<double>(kind + 1));
  }
  std::vector<int> degrees(std::size_t, std::size_t free) const override {
    std::vector<int> out;
    for (int degree = 1; degree <= static_cast<int>(free); degree *= 2) out.push_back(degree);
    return out;
  }
  std::optional<JobStart> start(std::size_t kind, int degree,
                                const BusyServers& busy) const override {
    JobStart out{{}, alone(kind) / degree};
    for (std::size_t i = 0;
         i < busy.size() && out.servers.size() < static_cast<std::size_t>(degree); ++i) {
      if (!busy[i]) out.servers.push_back(i);
    }
    if (out.servers.size() < static_cast<std::size_t>(degree)) return std::nullopt;
    return out;
  }

 private:
  std::size_t servers_;
  std::vector<std::string> kinds_ = {"short", "long"};
};

StreamOutcome outcome_of(const char* policy, const std::vector<JobArrival>& jobs,
                         const JobMachine& machine, const JobLaw* law = nullptr) {
  return run_stream(jobs, machine, *job_policy_of(policy), {}, law, 1, {});
}

JobLaw even_law(double interval) {
  JobLaw law;
  law.interval = Seconds(interval);
  law.weights = {1, 1};
  return law;
}

// By hand: two servers; the first job holds both under max, so that the second is blocked.
TEST(JobStream, MaxTakesAllServersAndBlocksWhoComesNext) {
  const EvenMachine machine(2);
  const std::vector<JobArrival> jobs = {{0, Seconds(0), Seconds(100)},
                                        {0, Seconds(10), Seconds(100)}};
  EXPECT_EQ(outcome_of("max", jobs, machine).blocked, 1U);
  EXPECT_EQ(outcome_of("none", jobs, machine).blocked, 0U);
  EXPECT_EQ(outcome_of("cheapest", jobs, machine).blocked, 0U);
  EXPECT_NEAR(outcome_of("none", jobs, machine).utilisation, 10.0 / (2 * 10.0), 1e-12);
}

TEST(JobStream, AJobThatEndsAsAnotherArrivesLeavesItItsServers) {
  const EvenMachine machine(1);
  const std::vector<JobArrival> jobs = {{0, Seconds(0), Seconds(100)},
                                        {0, Seconds(100), Seconds(100)}};
  EXPECT_EQ(outcome_of("max", jobs, machine).blocked, 0U);
}

TEST(JobStream, ALimitThatNoDegreeHoldsIsHopeless) {
  const EvenMachine machine(2);
  const std::vector<JobArrival> jobs = {{1, Seconds(0), Seconds(99)},
                                        {1, Seconds(9), Seconds(101)}};
  const StreamOutcome outcome = outcome_of("cheapest", jobs, machine);
  EXPECT_EQ(outcome.hopeless, 1U);
  EXPECT_EQ(outcome.refused, 1U);
}

// [JOBS-8]
TEST(JobStream, DrawsEachKindAsOftenAsItsWeightAndLimitsInTheirRange) {
  const EvenMachine machine(2);
  JobLaw law = even_law(5);
  law.weights = {1, 3};
  law.arrivals = ArrivalKind::poisson;
  const auto jobs = drawn_jobs(law, machine, 7, 4000);
  std::map<std::size_t, int> counts;
  double fractions = 0;
  for (const JobArrival& job : jobs) {
    ++counts[job.kind];
    const double fraction = job.limit / machine.alone(job.kind);
    EXPECT_GE(fraction, 0.1 - 1e-12);
    EXPECT_LE(fraction, 1 + 1e-12);
    fractions += fraction;
  }
  EXPECT_EQ(counts[0], 1000);  // whole pools of 40
  EXPECT_NEAR(fractions / 4000, 0.55, 0.02);
  EXPECT_NEAR(jobs.back().arrival.value() / 3999, 5, 0.4);
}

// A skew-normal law of -5 leans to the long limits, of 5 to the short ones.
TEST(JobStream, ASkewedLawOfLimitsLeans) {
  const EvenMachine machine(2);
  const auto mean_of = [&](double skewness) {
    JobLaw law = even_law(5);
    law.limits = {skewness};
    double sum = 0;
    for (const JobArrival& job : drawn_jobs(law, machine, 3, 500)) {
      sum += job.limit / machine.alone(job.kind);
    }
    return sum / 500;
  };
  EXPECT_GT(mean_of(-5), 0.65);
  EXPECT_LT(mean_of(5), 0.35);
}

// [JOBS-9]: the first job could hold its limit on one server or on both; the long one that comes
// needs both a moment later. Whoever looks ahead refuses neither by running the first on both, to
// be done in time.
TEST(JobLook, LooksAheadAtWhatIsKnownToCome) {
  const EvenMachine machine(2);
  const std::vector<JobArrival> jobs = {{0, Seconds(0), Seconds(100)},
                                        {1, Seconds(50), Seconds(100)}};
  EXPECT_EQ(outcome_of("cheapest", jobs, machine).blocked, 1U);
  EXPECT_EQ(outcome_of("lookahead2", jobs, machine).blocked, 0U);
}

// A bound: with all of a short stream known no policy blocks fewer.
TEST(JobLook, NoPolicyBlocksFewerThanAnExhaustiveSearchOfAShortStream) {
  const EvenMachine machine(4);
  const JobLaw law = even_law(20);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto jobs = drawn_jobs(law, machine, seed, 6);
    const std::size_t least = outcome_of("lookahead6", jobs, machine).blocked;
    for (const char* policy : {"none", "min", "sipml2", "max", "acceptable", "cheapest", "shortest",
                               "random", "rollout"}) {
      EXPECT_LE(least, outcome_of(policy, jobs, machine, &law).blocked) << policy;
    }
  }
}

// [JOBS-10]: rollout knows what may come and blocks fewer than what takes every server.
TEST(JobLook, RolloutBlocksFewerThanTheMaximumUnderLoad) {
  const EvenMachine machine(4);
  const JobLaw law = even_law(22);
  std::size_t rollout = 0, max = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto jobs = drawn_jobs(law, machine, seed, 40);
    rollout += outcome_of("rollout", jobs, machine, &law).blocked;
    max += outcome_of("max", jobs, machine, &law).blocked;
  }
  EXPECT_LT(rollout, max);
}

TEST(JobStream, IsTheSameForTheSameSeed) {
  const EvenMachine machine(4);
  const JobLaw law = even_law(30);
  const auto jobs = drawn_jobs(law, machine, 5, 50);
  EXPECT_EQ(outcome_of("rollout", jobs, machine, &law).times,
            outcome_of("rollout", jobs, machine, &law).times);
}

TEST(JobPolicyNames, AreReadBackAndOthersAreNot) {
  for (const char* name : {"none", "min", "sipml8", "max", "random", "acceptable", "cheapest",
                           "shortest", "lookahead3", "rollout"}) {
    ASSERT_TRUE(job_policy_of(name).has_value()) << name;
    EXPECT_EQ(job_policy_of(name)->name(), name);
  }
  for (const char* name : {"", "sipml", "sipml0", "max2", "lookahead99", "best"}) {
    EXPECT_FALSE(job_policy_of(name).has_value()) << name;
  }
}

// Published: SiP-ML's maximum over links of 3.125e9 B/s, a job each 1000: 0.533 of a horizon of
// 1e6; of 1e5 here.
TEST(JobStream, APublishedPointOfLoadIsMet) {
  const auto machine = ramp_job_machine(
      {.node_bandwidth = BytesPerSecond(3.125e9), .published = true}, built_in_profiles());
  JobLaw law;
  law.weights = {1, 1, 1, 1, 1};
  const Seconds horizon(1e5);
  double blocking = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto jobs = drawn_until(law, *machine, seed, horizon);
    blocking +=
        run_stream(jobs, *machine, *job_policy_of("max"), {.published = true}, &law, seed, horizon)
            .blocking() /
        3;
  }
  EXPECT_NEAR(blocking, 0.533, 0.06);
}

}  // namespace
}  // namespace headway
