#include "limits/search/sensitivity.hpp"

#include <gtest/gtest.h>

#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

Setting on(const std::string& machine) {
  return setting_on(machine_for_test(machine));
}

TEST(LimitsSensitivity, LIMIT_24_elasticities_of_the_formulas_are_their_derivatives) {
  // [LIMIT-24] Against central differences of the formulas themselves.
  for (const char* machine : {"h100-sxm", "h100-superpod", "h100-sites"}) {
    for (const bool sparse : {false, true}) {
      Setting setting = on(machine);
      setting.sparsity.sparse = sparse;
      for (const Knob& knob : knobs_of(setting)) {
        if (knob.number == Number::level_size) continue;  // an integer
        SCOPED_TRACE(machine + (" " + name_of(setting, knob)));
        constexpr double kStep = 1e-5;
        const Setting more = *scaled(setting, knob, 1 + kStep);
        const Setting less = *scaled(setting, knob, 1 - kStep);
        const ClosedForms high = closed_forms(more, implied_alpha(more));
        const ClosedForms low = closed_forms(less, implied_alpha(less));
        const Elasticity found = closed_form_elasticity(setting, knob, implied_alpha(setting));
        EXPECT_NEAR(found.linear_scaling,
                    std::log(high.linear_scaling / low.linear_scaling) / (2 * kStep), 1e-4);
        EXPECT_NEAR(found.latency, std::log(high.latency / low.latency) / (2 * kStep), 1e-4);
      }
    }
  }
}

TEST(LimitsSensitivity, LIMIT_24_a_node_twice_as_large_scales_as_its_elasticity_says) {
  // [LIMIT-24] The form is a power of the node's size, so the arc is exact: 2^2 at alpha 0.
  const Setting setting = on("h100-sxm");
  const Knob size{Number::level_size, 0};
  EXPECT_EQ(closed_form_elasticity(setting, size, 0).linear_scaling, 2);
  EXPECT_NEAR(closed_forms(*scaled(setting, size, 2), 0).linear_scaling /
                  closed_forms(setting, 0).linear_scaling,
              4, 1e-9);
}

TEST(LimitsSmooth, points_that_rise_have_their_mean) {
  const auto found = never_increasing({{0, 3}, {1, 1}, {2, 2}, {3, 0}});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[1].y, 1.5);
  EXPECT_EQ(found[2].y, 1.5);
  EXPECT_NEAR(*falls_to(found, 0.75), 2.5, 1e-12);
  EXPECT_FALSE(falls_to(found, -1).has_value());
  EXPECT_FALSE(falls_to(found, 4).has_value());
}

TEST(LimitsSmooth, averages_keep_a_straight_line_and_spread_a_point) {
  const auto line = averaged({{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}, 2);
  EXPECT_NEAR(line[2].y, 2, 1e-12);  // both sides whole
  const auto point = averaged({{0, 0}, {1, 0}, {2, 9}, {3, 0}, {4, 0}}, 2);
  EXPECT_NEAR(point[2].y, 3, 1e-12);        // weights 1 2 3 2 1
  EXPECT_NEAR(point[4].y, 9.0 / 6, 1e-12);  // at an end 1 2 3
  EXPECT_EQ(averaged({{0, 5}}, 4).front().y, 5);
}

TEST(LimitsSmooth, a_line_through_points_of_a_line_is_that_line) {
  EXPECT_NEAR(*line_reaches({{0, 1}, {1, 3}, {5, 11}}, 0), -0.5, 1e-12);
  EXPECT_FALSE(line_reaches({{0, 1}, {1, 0}}, 0).has_value());
}

TEST(LimitsSmooth, LIMIT_21_utilisation_does_not_jump_where_the_next_cluster_is_needed) {
  // [LIMIT-21] A duration just above and just below what a cluster takes: the smallest cluster
  // doubles, the utilisation of the curve jumps, the exact one does not and is that of the cluster.
  Setting setting = on("h100-sxm");
  const Shape shape = shape_of(setting, 53248);
  const limits::Run found = *Search(setting, shape).smallest_cluster();
  setting.duration = found.duration * (1 + 1e-9);
  EXPECT_NEAR(exact_utilization(setting, shape), found.utilization, 1e-6);
  setting.duration = found.duration * (1 - 1e-9);
  EXPECT_NEAR(exact_utilization(setting, shape), found.utilization, 1e-6);
  EXPECT_LT(Search(setting, shape).smallest_cluster()->utilization, found.utilization * 0.99);
}

TEST(LimitsSmooth, LIMIT_22_rises_with_every_quarter_of_a_doubling_of_the_fabric) {
  // [LIMIT-22] The crossing of the curve, on clusters that double, takes seven values there.
  const Setting setting = on("h100-sxm");
  double before = 0;
  for (int quarter = -8; quarter <= 8; ++quarter) {
    const Setting other =
        *scaled(setting, {Number::level_bandwidth, 1}, std::pow(2, quarter / 4.0));
    const double end = smooth_linear_scaling(other)->value();
    EXPECT_GT(end, before) << quarter;
    before = end;
  }
}

TEST(LimitsSmooth, LIMIT_22_LIMIT_23_smooth_limits_lie_near_the_published_ones) {
  // [LIMIT-22] [LIMIT-23] First and last crossing of 80 %, and the last feasible model, of the
  // published curves: within a factor of 2.1.
  const struct {
    const char* machine;
    double first_below, last_above, wall;
  } published[] = {{"v100-sxm", 2.846604e27, 1.306e27, 2.707375e31},
                   {"a100-sxm", 3.401521e28, 2.048e28, 2.707375e31},
                   {"h100-sxm", 2.048422e28, 5.803e28, 2.707375e31},
                   {"h100-low-latency", 1.338485e29, 1.338485e29, 5.476251e33},
                   {"h100-global-nvlink", 4.065442e29, 5.758e29, 2.707375e31}};
  for (const auto& row : published) {
    SCOPED_TRACE(row.machine);
    const SmoothLimits found = smooth_limits(on(row.machine));
    ASSERT_TRUE(found.linear_scaling && found.wall);
    EXPECT_GT(found.linear_scaling->value(), std::min(row.first_below, row.last_above) / 2.1);
    EXPECT_LT(found.linear_scaling->value(), std::max(row.first_below, row.last_above) * 2.1);
    EXPECT_GT(found.wall->value(), row.wall / 2.1);
    EXPECT_LT(found.wall->value(), row.wall * 2.1);
  }
}

TEST(LimitsSensitivity, LIMIT_25_the_wall_moves_as_the_latency_formula_says) {
  // [LIMIT-25] All latencies a tenth: the formula says 100 at alpha 0, 10^(2p) = 170 at the
  // alpha of the laws (0.0513); the curve's wall moves by between the two, or near. Together the
  // elasticities of all latencies are minus that of the duration, as only their ratio counts.
  const double moved =
      *smooth_limits(on("h100-low-latency")).wall / *smooth_limits(on("h100-sxm")).wall;
  EXPECT_GT(moved, 70);
  EXPECT_LT(moved, 250);

  const Setting setting = on("h100-sxm");
  const std::vector<Variant> variants = variants_of(setting);
  std::vector<SmoothLimits> limits;
  for (const Variant& variant : variants) {
    const bool of_the_wall =
        !variant.knob || less_is_better(*variant.knob) || variant.knob->number == Number::duration;
    limits.push_back(of_the_wall ? smooth_limits(variant.setting) : SmoothLimits{});
  }
  const Sensitivities found = sensitivities(setting, variants, limits);
  double latencies = 0, duration = 0;
  for (const Sensitivity& one : found.each) {
    if (less_is_better(one.knob)) latencies += one.wall_elasticity.value_or(0);
    if (one.knob.number == Number::duration) duration = one.wall_elasticity.value_or(0);
  }
  EXPECT_NEAR(latencies, -duration, 0.35);
  EXPECT_NEAR(duration, 2.2, 0.4);

  // No improvement of a machine moves the wall but those of latency.
  const auto best = best_improvement(found, Which::wall, true);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->knob.number, Number::kernel_latency);
}

TEST(LimitsSensitivity, what_means_nothing_is_not_varied) {
  Setting setting = on("h100-superpod");
  EXPECT_FALSE(scaled(setting, {Number::sustained, 0}, 2).has_value());
  EXPECT_FALSE(scaled(setting, {Number::level_size, 0}, 1000).has_value());
  EXPECT_FALSE(scaled(setting, {Number::level_size, 1}, 0.01).has_value());
  for (const Knob& knob : knobs_of(on("h100-infinite-network-low-latency"))) {
    EXPECT_NE(knob.number, Number::level_bandwidth);
  }
}

}  // namespace
}  // namespace headway::limits
