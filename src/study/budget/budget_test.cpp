#include "study/budget/budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limits/load.hpp"

namespace headway {
namespace {

limits::Setting h100() {
  limits::Setting out = limits::setting_on(*limits::embedded_machine("h100-sxm"));
  out.last_d_model = 20480;
  return out;
}

BudgetQuestion few_machines() {
  BudgetQuestion out;
  out.domains = {"8", "64"};
  out.fabrics = {"25 GB/s", "50 GB/s"};
  return out;
}

// The least middle of money, and the widest model, by trying every cluster of every machine with no
// order and no bound.
struct Tried {
  std::int64_t width = 0;
  double dollars = INFINITY;
};
Tried tried_all(double budget) {
  Tried out;
  const MachineShop shop = *machine_shop(nullptr);
  for (const std::int64_t width : limits::widths(h100())) {
    double least = INFINITY;
    for (const std::int64_t domain : {8, 64}) {
      for (const double fabric : {25e9, 50e9}) {
        limits::Setting setting = h100();
        setting.machine.levels.front().size = domain;
        setting.machine.levels.back().bandwidth = BytesPerSecond(fabric);
        const limits::Shape shape = limits::shape_of(setting, width);
        for (std::int64_t gpus = 1024; gpus <= 65536; gpus *= 2) {
          if (!limits::Search(setting, shape).fastest(gpus, setting.duration)) continue;
          const Bill bill = bill_of(shop, "h100-sxm", setting.machine, gpus);
          least = std::min(least, bill.total().dollars.middle());
        }
      }
    }
    if (least <= budget) out = {width, least};
  }
  return out;
}

TEST(Budget, LIMIT_42_the_widest_model_and_its_least_machine_are_those_of_trying_all) {
  // [LIMIT-42]
  for (const double budget : {150e6, 400e6, 1e9}) {
    BudgetQuestion question = few_machines();
    question.budget = budget;
    const auto found = answer_budget(question, h100(), 1, {});
    const Tried tried = tried_all(budget);
    ASSERT_TRUE(found) << budget;
    ASSERT_TRUE(found->best) << budget;
    EXPECT_EQ(found->shape.d_model, tried.width) << budget;
    const PricedMachine& best = found->choices[*found->best];
    EXPECT_DOUBLE_EQ(best.bill.total().dollars.middle(), tried.dollars) << budget;
    EXPECT_LE(best.run->duration, h100().duration);
    EXPECT_EQ(best.run->gpus, best.run->layout.gpus());
  }
}

TEST(Budget, more_money_never_trains_less_and_less_time_never_costs_less) {
  std::int64_t width = 0;
  for (const double budget : {1e8, 3e8, 9e8}) {
    BudgetQuestion question = few_machines();
    question.budget = budget;
    const auto found = answer_budget(question, h100(), 1, {});
    ASSERT_TRUE(found);
    if (found->best) {
      EXPECT_GE(found->shape.d_model, width);
    }
    width = found->shape.d_model;
  }
  double least = INFINITY;
  for (const double months : {1, 2, 4, 8}) {
    BudgetQuestion question = few_machines();
    question.width = 16384;
    limits::Setting setting = h100();
    setting.duration = Seconds(months * limits::kSecondsOfAMonth);
    const auto found = answer_budget(question, setting, 1, {});
    ASSERT_TRUE(found && found->best);
    const double dollars = found->choices[*found->best].bill.total().dollars.middle();
    EXPECT_LE(dollars, least) << months;
    least = dollars;
  }
}

TEST(Budget, a_budget_of_power_looks_for_the_least_power_and_too_little_has_no_answer) {
  BudgetQuestion question = few_machines();
  question.power_budget = "8 MW";
  const auto found = answer_budget(question, h100(), 1, {});
  ASSERT_TRUE(found && found->best);
  EXPECT_TRUE(found->by_power);
  for (const PricedMachine& each : found->choices) {
    if (!each.run) continue;
    EXPECT_LE(each.bill.total().watts.middle(), 8e6);
    EXPECT_GE(each.bill.total().watts.middle(),
              found->choices[*found->best].bill.total().watts.middle());
  }
  question.power_budget = "1 W";
  const auto none = answer_budget(question, h100(), 1, {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->best);
}

TEST(Budget, everything_that_is_wrong_is_named_at_once) {
  BudgetQuestion question;
  question.budget = -1;
  question.power_budget = "5";
  question.width = 12345;
  question.domains = {"one"};
  question.fabrics = {"50"};
  limits::Setting unknown = h100();
  unknown.machine.name = "mine";
  const auto found = answer_budget(question, unknown, 1, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.problems().size(), 6U);
}

TEST(Budget, stationary_weights_need_a_cluster_that_holds_them) {
  // The memory of all GPUs is 83 MiB each, and holds two bytes of each weight at least: more than
  // products alone would ask for.
  const auto machine = limits::embedded_machine("h100-weight-stationary");
  ASSERT_TRUE(machine);
  const limits::Setting setting = limits::setting_on(*machine);
  const limits::Shape shape = limits::shape_of(setting, 12288);
  const auto run = limits::Search(setting, shape).smallest_cluster();
  ASSERT_TRUE(run.has_value());
  EXPECT_GE(static_cast<double>(run->gpus) * 83 * 1024 * 1024, 2 * shape.parameters);
  const auto usual = limits::Search(h100(), shape).smallest_cluster();
  EXPECT_GT(run->gpus, usual->gpus);
}

}  // namespace
}  // namespace headway
