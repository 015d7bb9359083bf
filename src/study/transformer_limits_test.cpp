#include "study/transformer_limits.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "limits/curve.hpp"
#include "limits/load.hpp"
#include "model/count.hpp"

namespace headway {
namespace {

struct Made {
  limits::Setting setting = limits::setting_on(*limits::embedded_machine("h100-sxm"));
  Cluster cluster = load_cluster("dgx-h100").value();
  Calibration calibration = calibration_for(cluster).value();
};

TEST(TransformerLimits, LIMIT_34_a_transformer_has_half_again_the_weights_of_the_stack) {
  // [LIMIT-34] 12 d^2 L instead of 8 d^2 L; embeddings and norms are small beside them.
  const Made made;
  const limits::Shape shape = limits::shape_of(made.setting, 12288);
  const Model model = transformer_of(shape);
  EXPECT_EQ(model.layers(), shape.layers);
  EXPECT_NEAR(static_cast<double>(parameters(model).total) / shape.parameters, 1.5, 0.05);
  EXPECT_EQ(model.kinds[0].attention->heads * 128, 12288);
  const Cluster large = extended_to(made.cluster, std::int64_t{1} << 26);
  EXPECT_EQ(large.accelerators, std::int64_t{1} << 26);
  EXPECT_EQ(extended_to(made.cluster, 8).accelerators, made.cluster.accelerators);
}

TEST(TransformerLimits, LIMIT_35_the_full_prediction_is_below_the_idealised_answer) {
  // [LIMIT-35] At 6e24 FLOP: slower than the idealised stack, but a share that runs reach.
  const Made made;
  const limits::Shape shape = limits::shape_of(made.setting, 12288);
  const auto found =
      smallest_transformer_cluster(made.setting, shape, made.cluster, made.calibration);
  ASSERT_TRUE(found.has_value());
  const auto ideal = limits::run_at(made.setting, 12288);
  ASSERT_TRUE(ideal.has_value());
  EXPECT_LE(found->duration, made.setting.duration);
  EXPECT_TRUE(found->forecast.fits);
  EXPECT_EQ(found->layout.ranks(), found->accelerators);
  EXPECT_LT(found->forecast.mfu, ideal->utilization);
  EXPECT_GT(found->forecast.mfu, 0.2);
  EXPECT_GT(found->tried, 10U);
  EXPECT_NEAR(
      found->duration.value(),
      found->forecast.step_time.value() * shape.tokens / static_cast<double>(shape.batch_tokens),
      1);
}

}  // namespace
}  // namespace headway
