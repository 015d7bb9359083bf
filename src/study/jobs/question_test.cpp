#include "study/jobs/question.hpp"

#include <gtest/gtest.h>

#include "base/formatted.hpp"

namespace headway {
namespace {

Result<JobsQuestion> asked(const std::string& text, const JobsOverrides& overrides = {}) {
  const auto document = parse_toml(text, "stream.toml");
  EXPECT_TRUE(document.ok());
  return read_jobs_question(*document, overrides);
}

JobsAnswer answered(const std::string& text, int threads = 1) {
  const auto question = asked(text);
  EXPECT_TRUE(question.ok()) << (question ? "" : question.problems()[0].message);
  if (!question) return {};
  const auto answer = answer_jobs(*question, threads, {});
  return answer ? *answer : JobsAnswer();
}

std::string all_of(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

TEST(JobsQuestion, EveryThingThatIsWrongIsSaidAtOnce) {
  const auto question = asked(
      "seeds = 0\npolicies = [\"best\"]\nspeed = 1\n[arrivals]\nkind = \"bursts\"\ninterval = "
      "\"5\"\n"
      "jobs = 5\nhorizon = \"1 h\"\n[limits]\nleast = -1\nlaw = [\"flat\"]\n[machine]\ngroups = "
      "99\n"
      "[[job]]\nprofile = \"vgg99\"\n");
  ASSERT_FALSE(question.ok());
  const std::string all = all_of(question.problems());
  for (const char* field :
       {"seeds", "policies", "speed", "arrivals.kind", "arrivals.interval", "arrivals.jobs",
        "limits.least", "limits.law", "machine.groups", "profile"}) {
    EXPECT_NE(all.find(field), std::string::npos) << field << "\n" << all;
  }
}

TEST(JobsQuestion, TheSameIsAnsweredOnAnyNumberOfThreads) {
  const std::string text =
      "seeds = 2\npolicies = [\"min\", \"random\"]\n[arrivals]\njobs = 6\n"
      "intervals = [\"500 s\", \"2000 s\"]\n";
  const JobsAnswer one = answered(text, 1), four = answered(text, 4);
  ASSERT_EQ(one.rows.size(), 4U);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].blocking(), four.rows[i].blocking());
    EXPECT_EQ(one.rows[i].time_quantile(0.5), four.rows[i].time_quantile(0.5));
  }
}

TEST(JobsQuestion, ArrivalsOfATableAreThoseOfTheStream) {
  const auto table =
      parse_csv("arrival_s,job,limit_s\n0,vgg16,40000\n10,vgg16,1\n500,,\n", "arrivals.csv");
  ASSERT_TRUE(table.ok());
  const auto question = asked("policies = [\"none\"]\nseeds = 2\n", {{}, 0, false, *table});
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->intervals, (std::vector<Seconds>{Seconds(250)}));
  const auto machine = question->machine();
  const auto jobs = drawn_jobs(question->law, *machine, 0, question->count);
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(machine->kinds()[jobs[0].kind], "vgg16");
  EXPECT_EQ(jobs[1].arrival, Seconds(10));
  EXPECT_EQ(jobs[1].limit, Seconds(1));
  EXPECT_GT(jobs[2].limit, Seconds());
  // The first has vgg16's 34,525 s; no server does it in one second.
  const auto answer = answer_jobs(*question, 1, {});
  ASSERT_TRUE(answer.ok());
  for (const StreamOutcome& seed : answer->rows[0].seeds) {
    EXPECT_EQ(seed.jobs, 3U);
    EXPECT_GE(seed.hopeless, 1U);
    EXPECT_NEAR(seed.times.front(), 34525.35, 0.01);
  }
  EXPECT_GE(answer->hopeless, 1.0 / 3);
}

TEST(JobsQuestion, ArrivalsMayBeListedInPlace) {
  const auto question = asked(
      "[[arrivals.listed]]\narrival_s = 0\njob = \"gnmt\"\n[[arrivals.listed]]\narrival_s = "
      "30.5\nlimit_s = 100\n");
  ASSERT_TRUE(question.ok());
  ASSERT_EQ(question->law.listed.size(), 2U);
  EXPECT_EQ(question->law.listed[1].arrival, Seconds(30.5));
  EXPECT_EQ(question->law.listed[1].limit, Seconds(100));
  EXPECT_FALSE(asked("[arrivals]\njobs = 5\nlisted = [{ arrival_s = 1 }]\n").ok());
}

TEST(JobsQuestion, EverythingThatIsWrongWithATableOfArrivalsIsSaid) {
  const auto table =
      parse_csv("arrival_s,job,limit_s,size\n5,vgg99,1,1\n1,vgg16,-1,1\nx,,,\n", "arrivals.csv");
  const auto question = asked("", {{}, 0, false, *table});
  ASSERT_FALSE(question.ok());
  const std::string all = all_of(question.problems());
  for (const char* part : {"size", "vgg99", "comes before the row above", "'-1'", "'x'"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
  EXPECT_FALSE(asked("[arrivals]\njobs = 3\n", {{}, 0, false, *table}).ok());
}

// One kind on one node of eight: n jobs one after another, each alone.
constexpr const char* kOneNode =
    "policies = [\"max\"]\nseeds = 1\n[arrivals]\ninterval = \"40 d\"\njobs = 3\n[limits]\n"
    "least = 2\nmost = 2\n[machine]\ncluster = \"dgx-h100\"\nnodes = 2\n%s[[job]]\nname = "
    "\"small\"\nsteps = 100000\nnodes = [1]\nrun = { model = \"tinyllama-1.1b\", seq = 2048, "
    "global-batch = 128 }\n";

TEST(JobsQuestion, AFleetPaysForAllItsNodesAllTheTime) {
  const JobsAnswer answer = answered(formatted(kOneNode, ""));
  ASSERT_EQ(answer.rows.size(), 1U);
  ASSERT_TRUE(answer.costs.has_value());
  EXPECT_EQ(answer.costs->accelerators, 8);
  const PolicyAtLoad& row = answer.rows[0];
  const FleetView view = fleet_view(row, answer.servers, *answer.costs);
  // [JOBS-12] Two nodes for 80 days; the third job arrives at the end.
  EXPECT_NEAR(view.price, 2 * answer.costs->price * 80 * 24, 1e-6 * view.price);
  EXPECT_NEAR(view.idle.value(),
              (2 - 2 * row.utilisation()) * answer.costs->idle.value() * 80 * 86400,
              1e-6 * view.idle.value());
  EXPECT_EQ(row.done(), 3);
  EXPECT_EQ(row.failures(), 0);
  // Three jobs of 8 accelerators draw between idling and their 700 W with their host's share.
  const double each = view.energy.value() / (24 * *row.time_quantile(0.5));
  EXPECT_GT(each, 200);
  EXPECT_LT(each, 1500);
}

TEST(JobsQuestion, FailuresMakeJobsLongerAsOftenAsTheyCome) {
  const JobsAnswer without = answered(formatted(kOneNode, ""));
  const JobsAnswer with = answered(formatted(kOneNode, "mtbf = \"200 h\"\n"));
  ASSERT_EQ(with.rows.size(), 1U);
  const double alone = *without.rows[0].time_quantile(0.5),
               longer = *with.rows[0].time_quantile(0.5);
  EXPECT_GT(longer, alone);
  // [JOBS-11] Eight accelerators that fail once in 200 h each: once in 25 h.
  EXPECT_NEAR(with.rows[0].failures() / (3 * longer / (25 * 3600)), 1, 0.05);
  EXPECT_FALSE(asked(formatted(kOneNode, "failures = false\nmtbf = \"200 h\"\n")).ok());
}

TEST(JobsQuestion, AMachineOfTooManyServersIsRefused) {
  const auto question = asked("[machine]\ngroups = 32\nracks = 32\nplaces = 32\n");
  ASSERT_FALSE(question.ok());
  EXPECT_NE(all_of(question.problems()).find("at most 1024 servers"), std::string::npos);
}

// The difference of two policies is the mean of the paired differences, and its
// interval that of Student's law.
TEST(JobsQuestion, AGainIsTheMeanOfDifferencesOnTheSameStreams) {
  const JobsAnswer answer =
      answered("seeds = 3\npolicies = [\"none\", \"max\"]\n[arrivals]\njobs = 40\n");
  ASSERT_EQ(answer.gains.size(), 1U);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    sum += answer.rows[1].seeds[i].blocking() - answer.rows[0].seeds[i].blocking();
  }
  EXPECT_NEAR(answer.gains[0].mean, sum / 3, 1e-12);
  EXPECT_LT(*answer.gains[0].low, answer.gains[0].mean);
  EXPECT_NEAR(*answer.gains[0].low + *answer.gains[0].high, 2 * answer.gains[0].mean, 1e-12);
}

TEST(JobsQuestion, AnExhaustiveLookAheadBlocksFewerThanTheBestPublishedPolicies) {
  const JobsAnswer answer = answered(
      "seeds = 3\npolicies = [\"max\", \"acceptable\", \"lookahead4\"]\n[arrivals]\njobs = 60\n"
      "interval = \"800 s\"\n");
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_LT(answer.rows[2].blocking(), answer.rows[0].blocking());
  EXPECT_LT(answer.rows[2].blocking(), answer.rows[1].blocking());
}

// A real cluster: times are forecasts, so that more nodes take less time, and a limit that none
// holds is said.
TEST(JobsQuestion, OnARealClusterJobsTakeWhatIsForecast) {
  const std::string text =
      "seeds = 1\npolicies = [\"min\", \"max\"]\n[arrivals]\njobs = 10\ninterval = \"1 h\"\n"
      "[machine]\ncluster = \"dgx-h100\"\nnodes = 8\n[[job]]\nname = \"tune\"\nsteps = 1000\n"
      "nodes = [1, 2, 4]\nrun = { model = \"llama-2-7b\", seq = 4096, global-batch = 64, tp = 8 "
      "}\n";
  const auto question = asked(text);
  ASSERT_TRUE(question.ok()) << all_of(question.problems());
  const auto machine = question->machine();
  EXPECT_EQ(machine->servers(), 8U);
  const BusyServers none(8);
  const auto one = machine->start(0, 1, none), four = machine->start(0, 4, none);
  ASSERT_TRUE(one && four);
  EXPECT_GT(one->time / four->time, 2);
  EXPECT_LT(one->time / four->time, 4.001);
  EXPECT_EQ(machine->degrees(0, 3), (std::vector<int>{1, 2}));
}

TEST(JobsQuestion, AKindThatFitsNowhereIsRefused) {
  const auto question = asked(
      "[machine]\ncluster = \"dgx-h100\"\nnodes = 2\n[[job]]\nname = \"large\"\nsteps = 10\n"
      "nodes = [1]\nrun = { model = \"gpt3-175b\", seq = 2048, global-batch = 8, tp = 8 }\n");
  ASSERT_FALSE(question.ok());
  EXPECT_NE(all_of(question.problems()).find("fits in memory at none of its degrees"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
