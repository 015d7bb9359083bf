#include "study/jobs/replay.hpp"

#include <cmath>
#include <map>

#include "study/ramp/published_for_test.hpp"
#include "study/ramp/step_time.hpp"

namespace headway {
namespace {

std::unique_ptr<JobMachine> published_machine(double bandwidth) {
  return ramp_job_machine({.node_bandwidth = BytesPerSecond(bandwidth), .published = true},
                          built_in_profiles());
}

std::size_t kind_of(const std::string& name) {
  const auto& profiles = built_in_profiles();
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (profiles[i].name == name) return i;
  }
  return profiles.size();
}

Result<ReplayedStream> replayed(const std::string& rows, bool published = true) {
  const auto table =
      parse_csv("policy,total_node_bandwidth_B_s,job,graph,beta,arrival\n" + rows, "stream.csv");
  return replay_stream(*table, built_in_profiles(), published);
}

// [JOBS-5] [JOBS-6] [JOBS-7]: published code, run as it is (JCT alone on the empty cluster).
TEST(RampJobs, OneJobAloneTakesWhatThePublishedCodeSays) {
  const BusyServers none(32);
  const auto fast = published_machine(1.6e12), slow = published_machine(3.125e9);
  const auto time = [&](const JobMachine& machine, const char* name, int degree) {
    return machine.start(kind_of(name), degree, none)->time.value();
  };
  EXPECT_NEAR(time(*fast, "vgg16", 2), 17267.730385485993, 1e-5);
  EXPECT_NEAR(time(*fast, "vgg16", 4), 8638.717773931807, 1e-5);
  EXPECT_NEAR(time(*fast, "alexnet", 8), 4508.410099262296, 1e-5);
  EXPECT_NEAR(time(*slow, "gnmt", 16), 366.2709760798668, 1e-6);
  EXPECT_NEAR(time(*slow, "alexnet", 2), 18211.10432839398, 1e-5);
  EXPECT_NEAR(slow->alone(kind_of("squeezenet1_0")).value(), 38000.15, 1e-9);
}

TEST(RampJobs, EveryPublishedJobAloneIsReproducedTo1e9) {
  const Csv table = workloads_table("pacml_single_job.csv");
  if (table.rows.empty()) GTEST_SKIP() << "pacml_single_job.csv is not here";
  std::map<double, std::unique_ptr<JobMachine>> machines;
  for (const CsvRow& row : table.rows) {
    const double bandwidth = number_of(table, row, "total_node_bandwidth_B_s");
    auto& machine = machines[bandwidth];
    if (machine == nullptr) machine = published_machine(bandwidth);
    const std::size_t kind = kind_of(cell_of(table, row, "graph"));
    const double alone = number_of(table, row, "sequential_jct");
    EXPECT_NEAR(machine->alone(kind).value(), alone, 1e-12 * alone);
    const int degree = static_cast<int>(number_of(table, row, "partitions"));
    const auto start = machine->start(kind, degree, BusyServers(32));
    ASSERT_TRUE(start.has_value());
    const bool holds = JobRules{.published = true}.hold(start->time, machine->alone(kind));
    EXPECT_EQ(holds, cell_of(table, row, "accepted_at_beta_1") == "1") << "line " << row.line;
    if (!holds) continue;
    const double jct = number_of(table, row, "jct");
    EXPECT_NEAR(start->time.value(), jct, 1e-9 * jct) << "line " << row.line;
    EXPECT_EQ(start->servers.size(), number_of(table, row, "workers"));
  }
  EXPECT_EQ(table.rows.size(), 50U);
}

// Of 580 jobs the published code blocks the same ones at the same degrees. Where two transfers take
// equally long it takes one by the order of a hash table: alexnet in two parts over slow links, 27
// jobs, 1.4e-4.
TEST(RampJobs, EveryPublishedStreamIsDecidedAlikeJobByJob) {
  const Csv table = workloads_table("pacml_stream.csv");
  if (table.rows.empty()) GTEST_SKIP() << "pacml_stream.csv is not here";
  const auto stream = replay_stream(table, built_in_profiles(), true);
  ASSERT_TRUE(stream.ok());
  ASSERT_EQ(stream->jobs.size(), 580U);
  int off = 0;
  for (std::size_t i = 0; i < stream->jobs.size(); ++i) {
    const CsvRow& row = table.rows[i];
    const JobOutcome& outcome = stream->jobs[i].outcome;
    EXPECT_EQ(outcome.degree, number_of(table, row, "degree")) << "line " << row.line;
    EXPECT_EQ(outcome.blocked, number_of(table, row, "blocked") == 1) << "line " << row.line;
    if (outcome.blocked) continue;
    const double error = outcome.time.value() / number_of(table, row, "jct") - 1;
    off += std::abs(error) > 1e-9 ? 1 : 0;
    EXPECT_LT(std::abs(error), 1.5e-4) << "line " << row.line;
  }
  EXPECT_EQ(off, 27);
  EXPECT_EQ(stream->agreeing, 553U);
}

// The first jobs of a published stream: max, 1.6e12 B/s. The fifth finds no server; gnmt on the
// sixteen that vgg16 leaves is quicker than on the empty cluster, where it takes 21.
TEST(RampJobs, TheFirstJobsOfAPublishedStreamAreDecidedAlike) {
  const auto stream = replayed(
      "max,1.6e12,0,vgg16,0.8,0\nmax,1.6e12,1,gnmt,0.6,1000\nmax,1.6e12,2,resnet18,0.35,2000\n"
      "max,1.6e12,3,alexnet,0.65,3000\nmax,1.6e12,4,resnet18,0.3,4000\n");
  ASSERT_TRUE(stream.ok());
  const double times[] = {2168.2359941830496, 308.38909048359994, 2295.8188240718487,
                          2254.7583303838487};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(stream->jobs[i].outcome.degree, 16);
    EXPECT_NEAR(stream->jobs[i].outcome.time.value(), times[i], 1e-9 * times[i]);
  }
  EXPECT_TRUE(stream->jobs[4].outcome.blocked);
  EXPECT_EQ(stream->jobs[4].outcome.degree, 0);
}

// resnet18 whole, its limit the time alone: refused by the last digit of a sum.
TEST(RampJobs, ALimitThatHoldsButForTheLastDigitIsAQuirkOfThePublishedCode) {
  const std::string row = "none,1.6e12,0,resnet18,1,0\n";
  EXPECT_TRUE(replayed(row, true)->jobs[0].outcome.blocked);
  EXPECT_EQ(replayed(row, true)->jobs[0].outcome.degree, 1);
  EXPECT_FALSE(replayed(row, false)->jobs[0].outcome.blocked);
}

TEST(RampJobs, EveryRunOfAFileBeginsWithAnEmptyMachine) {
  const auto stream = replayed(
      "max,1.6e12,0,vgg16,0.8,0\nmax,1.6e12,1,vgg16,0.8,0\nmax,1.6e12,2,vgg16,0.8,0\n"
      "max,1.6e12,0,vgg16,0.8,0\nmin,1.6e12,1,vgg16,0.8,0\n");
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->jobs[2].outcome.degree, 0);
  EXPECT_EQ(stream->jobs[3].outcome.degree, 16);
  EXPECT_EQ(stream->jobs[4].outcome.degree, 2);
}

TEST(RampJobs, WhatCannotBeReplayedIsRefusedAllAtOnce) {
  const auto stream = replayed(
      "best,1.6e12,0,vgg16,0.8,0\nmax,-1,1,vgg,0.8,0\nmax,1.6e12,x,gnmt,,0\n"
      "max,1.6e12,1,gnmt,1,5\nmax,1.6e12,2,gnmt,1,4\nrollout,1.6e12,2,gnmt,1,4\n");
  ASSERT_FALSE(stream.ok());
  EXPECT_EQ(stream.problems().size(), 7U);
}

}  // namespace
}  // namespace headway
