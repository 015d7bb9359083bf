// Commands whose pieces of work are apart from each other: in parts they say what they say.
#include <gtest/gtest.h>

#include "api/commands.hpp"

namespace headway {
namespace {

template <class Request>
std::vector<PartLines> parts_of(Request request, CommandOutput (*run)(const Request&),
                                std::uint64_t count) {
  std::vector<PartLines> out(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    request.division = {.only = Shard{i, count}, .into = &out[i]};
    const CommandOutput output = run(request);
    EXPECT_TRUE(output.problems.empty() && output.text.empty());
  }
  return out;
}

template <class Request>
void expect_the_same(Request request, CommandOutput (*run)(const Request&), std::uint64_t count) {
  const std::vector<PartLines> parts = parts_of(request, run, count);
  const CommandOutput whole = run(request);
  request.division = {.parts = &parts};
  const CommandOutput merged = run(request);
  ASSERT_TRUE(merged.problems.empty());
  EXPECT_EQ(merged.text, whole.text) << count;
  EXPECT_EQ(merged.exit_code, whole.exit_code);
}

ScaleSweepRequest small_sweep(SweepAxis axis, const std::string& at) {
  ScaleSweepRequest out;
  out.axis = axis;
  out.threads = 1;
  out.fields = {{"model", "gpt-neox-1.3b", "test"},
                {"cluster", "dgx-h100", "test"},
                {"gpus", "2", "test"},
                {"seq", "2048", "test"},
                {"global-batch", "4", "test"},
                {"at", at, "test"},
                {"best", "true", "test"}};
  return out;
}

TEST(SweepParts, OfPointsWithTheBestLayoutAreTheSweepForAnyNumberOfThem) {
  for (const std::uint64_t count : {1, 2, 3, 7}) {
    ScaleSweepRequest request = small_sweep(SweepAxis::strong, "1,2,3,4");
    request.json = count % 2 == 0;
    expect_the_same(request, run_scale_sweep, count);
  }
}

// Of the largest no layout fits: it is left out, with the reason.
TEST(SweepParts, LeaveOutWhatTheSweepLeavesOut) {
  expect_the_same(small_sweep(SweepAxis::model, "gpt-neox-1.3b,llama-2-70b"), run_scale_sweep, 2);
}

TEST(SweepParts, AreRefusedWhereThereIsNothingToDivide) {
  ScaleSweepRequest request = small_sweep(SweepAxis::strong, "2,4");
  request.fields.pop_back();
  PartLines into;
  request.division = {.only = Shard{0, 2}, .into = &into};
  EXPECT_EQ(run_scale_sweep(request).problems.size(), 1U);
  LimitsRequest limits;
  limits.presets = {"h100-sxm"};
  limits.division = request.division;
  EXPECT_EQ(run_limits(limits).problems.size(), 1U);
}

TEST(SweepParts, AreRefusedWhereTheyNameNoLayout) {
  ScaleSweepRequest request = small_sweep(SweepAxis::strong, "2,4");
  std::vector<PartLines> parts = parts_of(request, run_scale_sweep, 1);
  parts.front()["points"].front() = "0 99999999999999";
  request.division = {.parts = &parts};
  const CommandOutput merged = run_scale_sweep(request);
  EXPECT_EQ(merged.problems.size(), 1U);
  EXPECT_TRUE(merged.text.empty());
}

}  // namespace
}  // namespace headway
