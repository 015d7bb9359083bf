// Plans of networks of modules.
#include "study/plan/networks/networks.hpp"

#include <gtest/gtest.h>

#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

RequestedRun run_of(const std::string& model, const std::string& gpus, const std::string& batch,
                    RunRequest more = {}) {
  RunRequest request = {
      {"model", model}, {"cluster", "dgx-a100-80gb"}, {"gpus", gpus}, {"global-batch", batch}};
  request.insert(request.end(), more.begin(), more.end());
  auto run = make_run(request);
  EXPECT_TRUE(run.ok()) << (run ? "" : run.problems()[0].message);
  run->given = more;  // the rest is searched
  return std::move(run).value();
}

NetworkPlan plan(const RequestedRun& run, NetworkSearch how) {
  return plan_network(run, network_choices(run), *calibration_for(run), how);
}

// A space that is tried whole holds what the search of some of it finds, and nothing better.
TEST(NetworkPlans, OfSomeLayoutsAreNoBetterThanOfAll) {  // [PLAN-5]
  const RequestedRun run =
      run_of("dlrm-v1", "16", "65536", {{"micro-batch", "4096"}, {"zero", "0"}});
  NetworkSearch how{.most = 1'000'000};
  const NetworkPlan all = plan(run, how);
  how.most = 1;
  const NetworkPlan some = plan(run, how);
  ASSERT_TRUE(all.exact);
  ASSERT_FALSE(some.exact);
  ASSERT_FALSE(all.best.empty());
  ASSERT_FALSE(some.best.empty());
  EXPECT_LE(all.best[0].value, some.best[0].value);
  EXPECT_LT(some.tried, all.tried);
  EXPECT_NEAR(some.best[0].value, all.best[0].value, 0.02 * all.best[0].value);
}

// The plain layout is one of the space: the best takes no longer. No layout is below the floor.
TEST(NetworkPlans, AreNoSlowerThanPlainOnesAndNotBelowTheFloor) {  // [PLAN-5]
  for (const char* model : {"dlrm-dcnv2", "vit-l"}) {
    const RequestedRun run = run_of(model, "16", "4096");
    const NetworkPlan found = plan(run, {.top = 5});
    ASSERT_FALSE(found.best.empty()) << model;
    const Forecast plain = forecast(run, *calibration_for(run));
    if (plain.fits) {
      EXPECT_LE(found.best[0].value, plain.step_time.value() * (1 + 1e-12)) << model;
    }
    EXPECT_GE(found.best[0].value, found.floor.value()) << model;
    for (std::size_t i = 1; i < found.best.size(); ++i) {
      EXPECT_LE(found.best[i - 1].value, found.best[i].value);
    }
  }
}

TEST(NetworkPlans, AreTheSameForAnyNumberOfThreads) {
  const RequestedRun run = run_of("dlrm-v1", "16", "65536", {{"zero", "0"}});
  const NetworkPlan one = plan(run, {.top = 3, .threads = 1});
  const NetworkPlan two = plan(run, {.top = 3, .threads = 2});
  ASSERT_EQ(one.best.size(), two.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    EXPECT_EQ(one.best[i].index, two.best[i].index);
    EXPECT_EQ(one.best[i].value, two.best[i].value);
  }
}

// What is given is not searched; classes that a network lacks are not among the choices.
TEST(NetworkPlans, SearchWhatIsNotGivenAndThere) {
  const RequestedRun run = run_of("vit-l", "16", "4096", {{"attentions", "sharded"}});
  bool seen = false;
  for (const NetworkChoice& choice : network_choices(run)) {
    EXPECT_NE(choice.row->field.name, "tables");
    EXPECT_NE(choice.row->field.name, "interactions");
    if (choice.row->field.name != "attentions") continue;
    seen = true;
    EXPECT_EQ(choice.numbers, std::vector<double>({static_cast<double>(Strategy::sharded)}));
  }
  EXPECT_TRUE(seen);
}

TEST(NetworkPlans, OfWhatFitsNowhereSayTheLeastMemory) {
  const RequestedRun run = run_of("vit-120b", "8", "64");
  const NetworkPlan found = plan(run, {});
  EXPECT_TRUE(found.best.empty());
  EXPECT_GT(found.least_memory, run.cluster.accelerator.memory);
}

}  // namespace
}  // namespace headway
