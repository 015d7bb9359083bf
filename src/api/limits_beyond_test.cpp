#include <gtest/gtest.h>

#include "api/commands.hpp"
#include "limits/load.hpp"
#include "report/limits.hpp"
#include "study/limits/beyond.hpp"

namespace headway {
namespace {

std::vector<limits::Setting> settings() {
  return {limits::setting_on(*limits::embedded_machine("h100-sxm")),
          limits::setting_on(*limits::embedded_machine("h100-superpod"))};
}

TEST(LimitsBeyond, a_relaxed_setting_stands_beside_its_baseline) {
  LimitsRequest beyond;
  EXPECT_EQ(with_beyond(settings(), beyond)->size(), 2U);
  beyond.relax = "diloco";
  beyond.sync_every = 100;
  const auto found = with_beyond(settings(), beyond);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 4U);
  EXPECT_EQ((*found)[0].relaxation.sync_every, 1);
  EXPECT_EQ((*found)[1].relaxation.sync_every, 100);
  EXPECT_EQ((*found)[3].machine.name, "h100-superpod");
  const std::string text = relaxations_text(*found);
  EXPECT_NE(text.find("replicas meet every 100 steps; data needed x 1"), std::string::npos);
  EXPECT_NE(text.find("upper bound"), std::string::npos);
}

TEST(LimitsBeyond, sites_and_what_joins_them_loosely_are_both_shown) {
  LimitsRequest beyond;
  beyond.sites = "4";
  beyond.site_bandwidth = "1 GB/s";
  beyond.site_distance_km = 1000;
  beyond.relax = "federated";
  const auto found = with_beyond(settings(), beyond);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 6U);
  EXPECT_EQ((*found)[1].machine.levels.back().bandwidth, BytesPerSecond(1e9));
  EXPECT_NEAR((*found)[1].machine.levels.back().latency.value(), 5e-3, 1e-5);
  EXPECT_EQ((*found)[2].machine.sites, 4);
  EXPECT_EQ((*found)[2].relaxation.loose_level, 2U);
}

TEST(LimitsBeyond, every_problem_is_named_by_its_flag_and_once) {
  LimitsRequest beyond;
  beyond.site_distance_km = 100;
  EXPECT_EQ(where_text(with_beyond(settings(), beyond).problems().front()), "--sites");
  beyond.sites = "";
  beyond.site_bandwidth = "1 GB/s";
  const auto none = with_beyond(settings(), beyond);
  ASSERT_FALSE(none);
  ASSERT_EQ(none.problems().size(), 1U);
  EXPECT_EQ(where_text(none.problems().front()), "--sites");
  // What is given and out of range is said as such, not as missing.
  for (const char* sites : {"0", "-2", "many", "4,0", "1.5"}) {
    beyond.sites = sites;
    const auto wrong = with_beyond(settings(), beyond);
    ASSERT_FALSE(wrong) << sites;
    EXPECT_EQ(wrong.problems().size(), 1U);
    EXPECT_NE(wrong.problems().front().message.find("from 1 to 1000000"), std::string::npos);
  }
  beyond.sites = "3";  // of any number
  EXPECT_TRUE(with_beyond(settings(), beyond).ok());
  beyond = {};
  beyond.relax = "local-sgd";
  beyond.sync_every = 0;
  const auto never = with_beyond(settings(), beyond);
  ASSERT_FALSE(never);
  EXPECT_EQ(where_text(never.problems().front()), "--sync-every");
  beyond = {};
  beyond.sites = "2";
  beyond.site_bandwidth = "5";
  beyond.site_distance_km = -1;
  EXPECT_EQ(with_beyond(settings(), beyond).problems().size(), 2U);
}

TEST(LimitsBeyond, sites_relaxation_machine_and_misplaced_flags_are_judged_together) {
  LimitsRequest request;
  request.gpus = {"h100-smx"};
  request.cluster = "dgx-h100";
  request.sites = "10000000";
  request.site_bandwidth = "fast";
  request.relax = "dilocoo";
  const std::string text = problems_text(run_limits(request).problems);
  for (const char* expected : {"--cluster: is of --real", "'h100-smx' is not a known machine",
                               "--sites: must be from 1 to", "--site-bandwidth",
                               "'dilocoo' is not a known method; did you mean 'diloco'"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << " in\n" << text;
  }
}

TEST(LimitsBeyond, one_site_is_the_setting_itself_and_shown_once) {
  LimitsRequest beyond;
  beyond.sites = "1";
  beyond.site_bandwidth = "1 GB/s";
  EXPECT_EQ(with_beyond(settings(), beyond)->size(), 2U);
}

TEST(LimitsBeyond, sensitivity_says_what_moves_each_limit_most) {
  const limits::Setting setting = settings().front();
  limits::Sensitivities found;
  found.base = {Flops(1e28), Flops(2e31)};
  limits::Sensitivity latency;
  latency.knob = {limits::Number::kernel_latency, 0};
  latency.wall_elasticity = -1.5;
  latency.twice.wall = Flops(6e31);
  latency.tenfold.wall = Flops(4e32);
  found.each = {latency};
  LimitsCurve of;
  of.setting = setting;
  of.curve.first_below = Flops(2.05e28);
  const std::string text = sensitivity_text(of, found);
  EXPECT_NE(text.find("linear scaling to 1.00e28 FLOP, wall at 2.00e31"), std::string::npos);
  EXPECT_NE(text.find("first model below 80.0 % at 2.05e28, last above at none"),
            std::string::npos);
  EXPECT_NE(text.find("moves the wall most: twice better kernel latency (x3); ten times better "
                      "kernel latency (x20)"),
            std::string::npos);
  EXPECT_NE(text.find("moves the end of linear scaling most: twice better nothing moves it"),
            std::string::npos);
  const std::string svg = sensitivity_svg(setting, found);
  EXPECT_NE(svg.find("kernel latency"), std::string::npos);
  const std::string json = sensitivity_json("a title", {of}, {found});
  EXPECT_NE(json.find("\"linear_scaling_end_flop\": 2.05e+28"), std::string::npos);
  EXPECT_NE(json.find("\"wall_elasticity\": -1.5"), std::string::npos);
  EXPECT_NE(json.find("\"linear_scaling_elasticity\": null"), std::string::npos);
}

}  // namespace
}  // namespace headway
