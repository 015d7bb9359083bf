#include "study/jobs/question.hpp"

#include <gtest/gtest.h>

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

// The difference of a policy to itself's rival is the mean of the paired differences, and its
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
