#include "limits/forms/closed_forms.hpp"

#include <gtest/gtest.h>

#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

Setting on(const std::string& machine) {
  Setting out = setting_on(machine_for_test(machine));
  out.duration = Seconds(365.25 * 86400 / 4);  // the closed forms' three months
  return out;
}

void expect_near(double found, double published, double relative) {
  EXPECT_LT(apart(found, published), relative) << found << " against " << published;
}

TEST(LimitsClosedForms, LIMIT_18_the_latency_limit_is_2e31_flop) {
  // [LIMIT-18] Published: 2.305e31 at 9 us, 100 times that at a tenth, 1.70e32 and 2.6e36 where the
  // batch grows faster than the layers.
  expect_near(closed_forms(on("h100-sxm"), 0).latency.value(), 2.305e31, 5e-4);
  expect_near(closed_forms(on("h100-low-latency"), 0).latency.value(), 2.305e33, 5e-4);
  expect_near(closed_forms(on("h100-sxm"), 1.0 / 6 - 0.1154).latency.value(), 1.70e32, 5e-3);
  expect_near(closed_forms(on("h100-sxm"), 0.2).latency.value(), 2.6e36, 2e-2);
}

TEST(LimitsClosedForms, LIMIT_19_linear_scaling_ends_where_the_study_says) {
  // [LIMIT-19]
  expect_near(closed_forms(on("v100-sxm"), 0).linear_scaling.value(), 1.305e27, 1e-3);
  expect_near(closed_forms(on("a100-sxm"), 0).linear_scaling.value(), 2.622e28, 1e-3);
  expect_near(closed_forms(on("h100-sxm"), 0).linear_scaling.value(), 1.924e28, 1e-3);
  expect_near(closed_forms(on("v100-sxm"), 0.2).linear_scaling.value(), 2.19e29, 5e-3);
  expect_near(closed_forms(on("a100-sxm"), 0.2).linear_scaling.value(), 3.25e31, 5e-3);
  expect_near(closed_forms(on("h100-sxm"), 0.2).linear_scaling.value(), 1.94e31, 5e-3);
}

TEST(LimitsClosedForms, a_node_needs_as_many_tokens_and_as_wide_a_shard_as_the_study_says) {
  const std::pair<const char*, NodeNeeds> published[] = {
      {"v100-sxm", {279, 26791}}, {"a100-sxm", {401, 16633}}, {"h100-sxm", {590, 26385}}};
  for (const auto& [machine, expected] : published) {
    const NodeNeeds found = node_needs(on(machine));
    EXPECT_NEAR(found.tokens, expected.tokens, 0.5);
    EXPECT_NEAR(found.shard, expected.shard, 0.5);
  }
}

TEST(LimitsClosedForms, the_laws_imply_the_study_s_exponents) {
  // Sparse: layers grow as T^0.1154 and experts as T^0.1538; the batch as T^(1/6) sqrt(experts).
  Setting setting;
  setting.sparsity.sparse = true;
  EXPECT_NEAR(implied_alpha(setting), 1.0 / 6 + 0.1538 / 2 - 0.1154, 1e-4);
  setting.batch.constant = true;
  EXPECT_NEAR(implied_alpha(setting), -0.1154, 1e-4);
}

TEST(LimitsClosedForms, a_network_without_limit_scales_without_end) {
  EXPECT_TRUE(
      std::isinf(closed_forms(on("h100-infinite-network-low-latency"), 0).linear_scaling.value()));
}

}  // namespace
}  // namespace headway::limits
