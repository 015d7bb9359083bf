#include "study/sweep/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "forecast/predict/predict.hpp"
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
  EXPECT_EQ(names(SweepAxis::model),
            (Names{{"tinyllama-1.1b", "llama-2-7b", "llama-2-13b", "llama-2-70b"}}));
  // A rank has two sequences of the 128: of twice the length it has one.
  EXPECT_EQ(names(SweepAxis::context), (Names{{"1,024", "2,048", "4,096", "8,192"}}));
  EXPECT_EQ(names(SweepAxis::strong), (Names{{"64", "128"}}));
  EXPECT_EQ(names(SweepAxis::hardware).size(), 2U);
  EXPECT_EQ(names(SweepAxis::network).size(), 3U);
  EXPECT_EQ(
      names(SweepAxis::layout),
      (Names{{"1"},
             {"2", "4", "8"},
             {"2", "4", "8"},
             {"2", "4", "8"},
             {"2", "4", "8"},
             {"2 x 2", "2 x 4", "2 x 8", "4 x 2", "4 x 4", "4 x 8", "8 x 2", "8 x 4", "8 x 8"},
             {"8", "32"}}));
}

TEST(SweepPlans, ModelsOfAnotherFamilyAreThoseBesideItBySize) {
  auto question = read_sweep(SweepAxis::model, request({{"model", "llama-3.1-70b"}}));
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->names,
            (std::vector<std::string>{"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b"}));
  question = read_sweep(SweepAxis::model, request({{"model", "mixtral-8x7b"}}));
  ASSERT_TRUE(question.ok());
  EXPECT_EQ(question->names, std::vector<std::string>{"mixtral-8x7b"});
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
                          [](const RequestedRun& run) { return with_degrees(run, {.pp = 2}); });
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

const SweepSeries& series_of(const SweepAnswer& answer, std::string_view name) {
  return *std::find_if(answer.series.begin(), answer.series.end(),
                       [&](const SweepSeries& series) { return series.name == name; });
}

// Two FSDP weight copies of Llama 2 70B in 16 bit alone take 276 GB: it can train only where
// gathered weights are dropped; the smaller ones keep theirs, as was asked.
TEST(MakeSweep, ModelsThatDoNotFitWithGatheredWeightsDropThem) {
  const auto answer =
      ask(SweepAxis::model, {{"no-reshard", "true"}, {"gpus", "256"}, {"global-batch", "512"}});
  ASSERT_TRUE(answer.ok());
  const SweepSeries& models = answer->series.front();
  ASSERT_EQ(labels(models), (std::vector<std::string>{"tinyllama-1.1b", "llama-2-7b", "llama-2-13b",
                                                      "llama-2-70b"}));
  for (const SweepPoint& point : models.points) {
    EXPECT_EQ(point.run.layout.reshard_after_forward, point.label == "llama-2-70b") << point.label;
    EXPECT_TRUE(point.forecast.fits);
  }
  // Elsewhere what was asked stands.
  const auto strong = ask(SweepAxis::strong, {{"no-reshard", "true"},
                                              {"model", "llama-2-70b"},
                                              {"gpus", "256"},
                                              {"global-batch", "512"},
                                              {"at", "256"}});
  ASSERT_TRUE(strong.ok());
  EXPECT_EQ(strong->series.front().left_out.size(), 1U);
}

// (p-1)/(v m) of the work is bubble, with v virtual stages and m micro-batches (arXiv 2104.04473).
TEST(MakeSweep, AmongLayoutsPipelinesAreInterleavedAndCombinedWithTensorDegrees) {
  const auto answer = ask(SweepAxis::layout, {{"micro-batch", "1"}, {"global-batch", "512"}});
  ASSERT_TRUE(answer.ok());
  const SweepSeries& plain = series_of(*answer, "pipeline");
  const SweepSeries& interleaved = series_of(*answer, "interleaved");
  ASSERT_EQ(plain.points.size(), 3U);
  ASSERT_EQ(labels(interleaved), labels(plain));
  for (std::size_t i = 0; i < 3; ++i) {
    const Layout& layout = interleaved.points[i].run.layout;
    EXPECT_EQ(plain.points[i].run.layout.vpp, 1);
    EXPECT_GT(layout.vpp, 1);
    EXPECT_EQ(32 % (layout.pp * layout.vpp), 0);
    EXPECT_LT(interleaved.points[i].forecast.parts.bubble, plain.points[i].forecast.parts.bubble);
  }
  const SweepSeries& grid = series_of(*answer, kGridName);
  ASSERT_EQ(grid.points.size(), 9U);
  for (const SweepPoint& point : grid.points) {
    const Layout& layout = point.run.layout;
    EXPECT_EQ(point.label, std::to_string(layout.tp) + " x " + std::to_string(layout.pp));
    RequestedRun once = point.run;
    once.layout.vpp = 1;
    EXPECT_LE(point.forecast.step_time, predict(once)->step_time) << point.label;
  }
  // What is given of virtual stages stands.
  const auto given =
      ask(SweepAxis::layout, {{"pp", "2"}, {"vpp", "2"}, {"global-batch", "512"}, {"at", "2,4"}});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->series.size(), 6U);
  for (const SweepPoint& point : series_of(*given, kGridName).points) {
    EXPECT_EQ(point.run.layout.vpp, 2);
  }
}

// A group of s ranks holds a copy of the states: each rank holds an s-th instead of a 64th.
TEST(MakeSweep, AmongLayoutsHybridShardingIsAnAxis) {
  const auto answer =
      ask(SweepAxis::layout, {{"at", "2"}, {"shard", "8,16"}, {"micro-batch", "1"}});
  ASSERT_TRUE(answer.ok());
  const SweepSeries& hybrid = series_of(*answer, kHybridName);
  ASSERT_EQ(labels(hybrid), (std::vector<std::string>{"8", "16"}));
  const Forecast& pure = answer->series.front().points.front().forecast;
  for (const SweepPoint& point : hybrid.points) {
    const double copies = 64 / point.value;
    EXPECT_NEAR(point.forecast.memory.optimizer / pure.memory.optimizer, copies, 1e-9);
    EXPECT_EQ(point.run.layout.tp * point.run.layout.cp * point.run.layout.pp, 1);
  }
  const auto whole = ask(SweepAxis::layout, {{"at", "2"}, {"zero", "0"}, {"shard", "8"}});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(series_of(*whole, kHybridName).left_out.size(), 1U);
}

TEST(MakeSweep, AmongLayoutsTheBestStandsBesideTheOthers) {
  const auto answer = ask(SweepAxis::layout, {},
                          [](const RequestedRun& run) { return with_degrees(run, {.pp = 4}); });
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->series[1].points.front().run.layout.tp, 2);
  EXPECT_EQ(answer->series.back().name, "best");
  ASSERT_EQ(answer->series.back().points.size(), 1U);
  EXPECT_EQ(answer->series.back().points.front().run.layout.pp, 4);
  ASSERT_TRUE(answer->crossover.has_value());
  EXPECT_EQ(answer->crossover->pure.run.layout.pp, 1);
}

}  // namespace
}  // namespace headway
