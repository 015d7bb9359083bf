#include "study/sweep/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/temporary_folder_for_test.hpp"
#include "study/sweep/axes.hpp"
#include "study/sweep/choice.hpp"
#include "study/sweep/plans.hpp"

namespace headway {
namespace {

using FieldList = std::initializer_list<std::pair<const char*, const char*>>;

RunRequest request(FieldList fields) {
  RunRequest out = {{"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"},
                    {"gpus", "64"},          {"global-batch", "128"}, {"framework", "fsdp"}};
  for (const auto& [name, text] : fields) out.push_back({std::string(name), std::string(text)});
  return out;
}

Result<SweepAnswer> ask(SweepAxis axis, FieldList fields, const LayoutChoice& best = {}) {
  auto question = read_sweep(axis, request(fields));
  if (!question) return question.problems();
  return make_sweep(std::move(question).value(), best, 1);
}

std::vector<std::string> labels(const SweepSeries& series) {
  std::vector<std::string> out;
  for (const SweepPoint& point : series.points) out.push_back(point.label);
  return out;
}

bool complains_at(const Problems& problems, const std::string& where) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return where_text(problem).find(where) != std::string::npos;
  });
}

TEST(ReadSweep, ReportsAllThatIsWrongWithRunAssumptionsAndAxisAtOnce) {
  const auto wrong = read_sweep(
      SweepAxis::weak,
      request({{"tp", "3"}, {"mtbf", "12"}, {"at", "8,x"}, {"threshold", "2"}, {"att", "1"}}));
  ASSERT_FALSE(wrong.ok());
  for (const char* where : {"--tp", "--mtbf", "--at", "--threshold", "--att"}) {
    EXPECT_TRUE(complains_at(wrong.problems(), where)) << where;
  }
}

TEST(ReadSweep, SaysWhatIsWrongInAFileWhereItStandsThere) {
  const testing::TemporaryFolder folder;
  const std::string file =
      folder.write("is.toml", "base = \"dgx-h100\"\naccelerators = \"x\"\ntitel = \"y\"\n");
  const std::string names = file + ",is,dgx-a100-80gb";
  const auto wrong = read_sweep(SweepAxis::hardware, request({{"at", names.c_str()}}));
  ASSERT_FALSE(wrong.ok());
  ASSERT_EQ(wrong.problems().size(), 3u);
  EXPECT_EQ(where_text(wrong.problems()[0]), file + ":2: accelerators");
  EXPECT_EQ(where_text(wrong.problems()[1]), file + ":3: titel");
  EXPECT_EQ(where_text(wrong.problems()[2]), "--at");
  EXPECT_TRUE(wrong.problems()[2].message.starts_with("'is' is not a known cluster"));
}

TEST(ReadSweep, RefusesListsThatAreNoneOfTheAxis) {
  const auto refused = [](SweepAxis axis, FieldList fields) {
    const auto read = read_sweep(axis, request(fields));
    return !read.ok() && read.problems().size() == 1;
  };
  EXPECT_TRUE(refused(SweepAxis::weak, {{"at", ""}}));
  EXPECT_TRUE(refused(SweepAxis::weak, {{"at", "8,,16"}}));
  EXPECT_TRUE(refused(SweepAxis::weak, {{"at", "0"}}));
  EXPECT_TRUE(refused(SweepAxis::weak, {{"at", "8.5"}}));
  EXPECT_TRUE(refused(SweepAxis::weak, {{"bandwidth", "2"}}));
  EXPECT_TRUE(refused(SweepAxis::network, {{"bandwidth", "0"}}));
  EXPECT_TRUE(refused(SweepAxis::network, {{"latency", "nan"}}));
  EXPECT_TRUE(refused(SweepAxis::network, {{"domain", "1"}}));
  EXPECT_TRUE(refused(SweepAxis::model, {{"at", "llama-2-7b,llama-2-8b"}}));
  EXPECT_TRUE(refused(SweepAxis::hardware, {{"at", "dgx-h1000"}}));
  EXPECT_TRUE(refused(SweepAxis::context, {{"keep", "both"}}));
  std::string many = "1";
  for (int i = 2; i <= 100; ++i) many += "," + std::to_string(i);
  EXPECT_TRUE(refused(SweepAxis::strong, {{"at", many.c_str()}}));
}

TEST(ReadSweep, ListsAreSortedAndWithoutRepeats) {
  const auto read = read_sweep(SweepAxis::weak, request({{"at", "64, 8,16 ,8"}}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->at, (std::vector<std::int64_t>{8, 16, 64}));
}

TEST(ReadSweep, WhatIsGivenOfMicroBatchAndRecomputationIsNotChosen) {
  const auto open = read_sweep(SweepAxis::weak, request({}));
  ASSERT_TRUE(open.ok());
  EXPECT_TRUE(open->free.micro_batch && open->free.recompute);
  const auto given =
      read_sweep(SweepAxis::weak, request({{"micro-batch", "2"}, {"recompute", "full"}}));
  ASSERT_TRUE(given.ok());
  EXPECT_FALSE(given->free.micro_batch || given->free.recompute);
  const auto answer = ask(SweepAxis::weak, {{"micro-batch", "2"}, {"recompute", "full"}});
  ASSERT_TRUE(answer.ok());
  for (const SweepPoint& point : answer->series.front().points) {
    EXPECT_EQ(point.run.layout.micro_batch, 2);
    EXPECT_EQ(point.run.layout.recompute, Recompute::full);
  }
}

TEST(SweepPlans, DefaultsOfEachAxis) {
  const auto names = [](SweepAxis axis) {
    std::vector<std::vector<std::string>> out;
    for (const SweepPlan& plan : sweep_plans(read_sweep(axis, request({})).value())) {
      out.emplace_back();
      for (const SweepCase& at : plan.cases) out.back().push_back(at.label);
    }
    return out;
  };
  using Names = std::vector<std::vector<std::string>>;
  EXPECT_EQ(names(SweepAxis::weak),
            (Names{{"64", "128", "256", "512", "1,024", "2,048", "4,096"}}));
  EXPECT_EQ(names(SweepAxis::model), (Names{{"llama-2-7b", "llama-2-13b", "llama-2-70b"}}));
  // A rank has two sequences of the 128: of twice the length it has one.
  EXPECT_EQ(names(SweepAxis::context), (Names{{"1,024", "2,048", "4,096", "8,192"}}));
  EXPECT_EQ(names(SweepAxis::strong), (Names{{"64", "128"}}));
  EXPECT_EQ(names(SweepAxis::hardware).size(), 2U);
  EXPECT_EQ(names(SweepAxis::network).size(), 3U);
  EXPECT_EQ(names(SweepAxis::layout),
            (Names{{"1"}, {"2", "4", "8"}, {"2", "4", "8"}, {"2", "4", "8"}}));
}

// Defaults that follow from the accelerator are settled for each: V100 knows no bf16.
TEST(SweepPlans, HardwareThatNeedsAnotherRecipeTakesIt) {
  const auto answer = ask(SweepAxis::hardware, {{"at", "dgx-v100,dgx-h100"}});
  ASSERT_TRUE(answer.ok());
  const SweepSeries& own = answer->series.front();
  ASSERT_EQ(labels(own), (std::vector<std::string>{"dgx-v100", "dgx-h100"}));
  EXPECT_EQ(own.points[0].run.job.recipe->name, "fp16");
  EXPECT_EQ(own.points[1].run.job.recipe->name, "bf16");
  const auto given = ask(SweepAxis::hardware, {{"at", "dgx-v100"}, {"precision", "bf16"}});
  ASSERT_TRUE(given.ok());
  ASSERT_EQ(given->series.front().left_out.size(), 1U);
}

TEST(MakeSweep, AFasterNetworkIsNeverSlowerAndALaterOneNeverFaster) {
  const auto answer = ask(SweepAxis::network, {{"micro-batch", "2"}, {"recompute", "none"}});
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->series.size(), 3U);
  for (std::size_t series = 0; series < 2; ++series) {
    const auto& points = answer->series[series].points;
    ASSERT_EQ(points.size(), 7U);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double before = points[i - 1].forecast.tokens_per_second;
      const double here = points[i].forecast.tokens_per_second;
      if (series == 0) {
        EXPECT_GE(here, before * (1 - 1e-12));
      } else {
        EXPECT_LE(here, before * (1 + 1e-12));
      }
    }
  }
}

TEST(MakeSweep, TheBestLayoutIsAskedWhereOneIsGiven) {
  const auto answer = ask(SweepAxis::strong, {{"at", "64,128"}},
                          [](const headway::Run& run) { return with_degrees(run, 1, 1, 2); });
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->series.front().points.size(), 2U);
  for (const SweepPoint& point : answer->series.front().points) {
    EXPECT_EQ(point.run.layout.pp, 2);
  }
}

TEST(MakeSweep, TheBestOfAllIsNoSlowerThanTheLayoutAsGiven) {
  const auto given = ask(SweepAxis::strong, {{"at", "64,128"}, {"tp", "2"}});
  const auto best = ask(SweepAxis::strong, {{"at", "64,128"}, {"tp", "2"}}, best_of_all());
  ASSERT_TRUE(given.ok() && best.ok());
  const auto &a = given->series[0].points, &b = best->series[0].points;
  ASSERT_EQ(a.size(), 2U);
  ASSERT_EQ(b.size(), 2U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(b[i].run.layout.ranks(), a[i].run.layout.ranks());
    EXPECT_LE(b[i].forecast.step_time, a[i].forecast.step_time);
  }
}

TEST(MakeSweep, AmongLayoutsTheBestStandsBesideTheOthers) {
  const auto answer = ask(SweepAxis::layout, {},
                          [](const headway::Run& run) { return with_degrees(run, 1, 1, 4); });
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->series.size(), 5U);
  EXPECT_EQ(answer->series[1].points.front().run.layout.tp, 2);
  EXPECT_EQ(answer->series[4].name, "best");
  ASSERT_EQ(answer->series[4].points.size(), 1U);
  EXPECT_EQ(answer->series[4].points.front().run.layout.pp, 4);
  ASSERT_TRUE(answer->crossover.has_value());
  EXPECT_EQ(answer->crossover->pure.run.layout.pp, 1);
}

}  // namespace
}  // namespace headway
