// A plan in parts is the plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/commands.hpp"
#include "api/shard/file.hpp"

namespace headway {
namespace {

PlanRequest small_plan(const std::string& model, std::int64_t accelerators, std::int64_t batch) {
  PlanRequest out;
  out.fields = {{"model", model, "test"},
                {"cluster", "dgx-h100", "test"},
                {"gpus", std::to_string(accelerators), "test"},
                {"seq", "4096", "test"},
                {"global-batch", std::to_string(batch), "test"}};
  out.threads = 1;
  out.json = true;
  return out;
}

// The file of a part, as it is read again.
ShardFile part_of(const PlanRequest& request, const Shard& shard) {
  ShardFile out{.version = "1",
                .data = "d",
                .arguments = {"plan", "--gpus", "8"},
                .files = {},
                .shard = shard,
                .found = {}};
  PlanRequest asked = request;
  asked.division = {.only = shard, .into = &out.found};
  const CommandOutput output = run_plan(asked);
  EXPECT_TRUE(output.problems.empty() && output.text.empty());
  auto read = read_shard_file(shard_file_text(out), "part.json");
  EXPECT_TRUE(read.ok());
  return std::move(read).value();
}

std::vector<NamedShardFile> parts_of(const PlanRequest& request, std::uint64_t count) {
  std::vector<NamedShardFile> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    out.push_back({"part" + std::to_string(i), part_of(request, {i, count})});
  }
  return out;
}

CommandOutput merged(PlanRequest request, const std::vector<NamedShardFile>& files) {
  const auto parts = all_parts(files);
  EXPECT_TRUE(parts.ok());
  request.division = {.parts = &*parts};
  return run_plan(request);
}

void expect_the_same(const PlanRequest& request, std::uint64_t count) {
  const CommandOutput whole = run_plan(request);
  std::vector<NamedShardFile> files = parts_of(request, count);
  std::shuffle(files.begin(), files.end(), std::mt19937(static_cast<unsigned>(count)));
  const CommandOutput out = merged(request, files);
  ASSERT_TRUE(out.problems.empty());
  EXPECT_EQ(out.text, whole.text) << count;
  EXPECT_EQ(out.exit_code, whole.exit_code);
}

TEST(PlanParts, TogetherSayWhatThePlanSaysForAnyNumberOfThemInAnyOrder) {
  for (const std::uint64_t count : {1, 2, 3, 7}) {
    PlanRequest request = small_plan("llama-2-7b", 8, 4);
    request.fixed = {"recompute=none", "micro-batch=1", "cp=1"};
    expect_the_same(request, count);
  }
}

// As the parts of one process are: by pricers that worked on those before, in any order.
TEST(PlanParts, ThatShareWhatOneHasPricedAreThoseThatEachWorksOutAlone) {
  PlanRequest request = small_plan("mixtral-8x7b", 16, 32);
  request.fixed = {"recompute=none", "cp=1"};
  constexpr std::uint64_t kParts = 5;
  std::shared_ptr<void> shared;
  for (const std::uint64_t part : {3, 0, 4, 2, 1, 3}) {
    PartLines alone, after_others;
    request.division = {.only = Shard{part, kParts}, .into = &alone};
    EXPECT_TRUE(run_plan(request).problems.empty());
    request.division = {.only = Shard{part, kParts}, .into = &after_others, .shared = &shared};
    EXPECT_TRUE(run_plan(request).problems.empty());
    EXPECT_EQ(after_others, alone) << part;
  }
  EXPECT_NE(shared, nullptr);
}

TEST(PlanParts, AreTheSameWhereMostOfThemAreEmpty) {
  PlanRequest request = small_plan("llama-2-7b", 4, 4);
  request.fixed = {"tp=2", "pp=2"};
  expect_the_same(request, 12);
}

// A space of which all is tried; one so large that ways from three starts are; one where nothing
// fits.
TEST(PlanParts, OfNetworksAreTheirPlanForAnyNumberOfThem) {
  const auto plan = [](const char* model, const char* accelerators, const char* batch) {
    PlanRequest out;
    out.fields = {{"model", model, "test"},
                  {"cluster", "dgx-h100", "test"},
                  {"gpus", accelerators, "test"},
                  {"global-batch", batch, "test"}};
    out.threads = 1;
    out.json = true;
    return out;
  };
  PlanRequest crowded = plan("resnet-50", "8", "64");
  crowded.headroom = "99.9%";
  for (const std::uint64_t count : {1, 2, 5}) {
    expect_the_same(plan("resnet-50", "8", "64"), count);
    expect_the_same(plan("dlrm-a-transformer", "128", "65536"), count);
    expect_the_same(crowded, count);
  }
  EXPECT_EQ(run_plan(crowded).exit_code, 1);
  // Of 225,792 layouts not all are tried.
  const std::string some = run_plan(plan("dlrm-a-transformer", "128", "65536")).text;
  const std::string all = run_plan(plan("resnet-50", "8", "64")).text;
  EXPECT_NE(some.find("\"proven\": false"), std::string::npos);
  EXPECT_NE(all.find("\"proven\": true"), std::string::npos);
}

TEST(PlanParts, OfNetworksAreNotBelievedWhereTheySayWhatIsNotSo) {
  PlanRequest request;
  request.fields = {{"model", "resnet-50", "test"},
                    {"cluster", "dgx-h100", "test"},
                    {"gpus", "8", "test"},
                    {"global-batch", "64", "test"}};
  request.threads = 1;
  std::vector<NamedShardFile> files = parts_of(request, 2);
  for (NamedShardFile& file : files) {
    for (std::string& line : file.file.found["network-best"]) {
      line.replace(line.find(' '), std::string::npos, " 1e-9");
    }
  }
  const CommandOutput out = merged(request, files);
  ASSERT_EQ(out.problems.size(), 1U);
  EXPECT_NE(out.problems[0].message.find("not of this space"), std::string::npos);
}

TEST(PlanParts, FindTheSmallestChangeWithWhichSomethingFitsWhereNothingDoes) {
  PlanRequest request = small_plan("llama-2-70b", 4, 4);
  request.headroom = "50%";
  request.fixed = {"offload=none"};
  expect_the_same(request, 2);
  EXPECT_EQ(run_plan(request).exit_code, 1);
}

TEST(PlanParts, AreThePlanWhateverIsBestAndWhateverStaysFree) {
  std::uint64_t count = 1;
  for (const char* objective : {"time", "memory", "energy", "money"}) {
    for (const char* headroom : {"", "70%"}) {
      PlanRequest request = small_plan("gpt-neox-1.3b", 4, 4);
      request.fixed = {"recompute=none", "micro-batch=1", "cp=1"};
      request.objective = objective;
      request.headroom = headroom;
      request.top = count;
      request.json = count % 2 == 0;
      expect_the_same(request, ++count);
    }
  }
}

TEST(PlanParts, AreRefusedWhereTheySayWhatNoLayoutTakes) {
  const PlanRequest request = small_plan("llama-2-7b", 4, 4);
  const std::vector<NamedShardFile> files = parts_of(request, 2);
  const auto refused = [&](const auto& change) {
    std::vector<NamedShardFile> changed = files;
    change(changed.front().file.found);
    const CommandOutput out = merged(request, changed);
    EXPECT_EQ(out.problems.size(), 1U);
    EXPECT_TRUE(out.text.empty());
  };
  refused([](PartLines& found) { found["best"].front() = "0 0.001 1e9 1"; });
  refused([](PartLines& found) { found["best"].front() = "99999999999999 1 1 1"; });
  refused([](PartLines& found) { found["front"].push_back("1 0.001 1 1"); });
  refused([](PartLines& found) { found["roomy"].front() = "3 nan 1 1"; });
  refused([](PartLines& found) { found["roomy"].clear(); });
  refused([](PartLines& found) { found["without"].pop_back(); });
  refused([](PartLines& found) { found["changed"].emplace_back("-"); });
  refused([](PartLines& found) { found.erase("changed"); });
  refused([](PartLines& found) { found["more"] = {}; });
}

}  // namespace
}  // namespace headway
