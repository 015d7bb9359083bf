#include "study/limits/transformer.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "limits/search/curve.hpp"
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
  EXPECT_GT(found->priced, 10U);
  EXPECT_NEAR(
      found->duration.value(),
      found->forecast.step_time.value() * shape.tokens / static_cast<double>(shape.batch_tokens),
      1);
}

TEST(TransformerLimits, LIMIT_35_longer_sequences_are_those_of_the_setting) {
  // [LIMIT-35] Sequences are the setting's: attention takes a larger share of each token's FLOP,
  // 12 s d of 72 d^2 + 12 s d a layer, counted in full.
  Made made;
  const limits::Shape shape = limits::shape_of(made.setting, 12288);
  made.setting.sequence = 8192;
  const limits::Shape longer = limits::shape_of(made.setting, 12288);
  EXPECT_EQ(longer.batch_tokens, 8192 * longer.batch_sequences);
  const auto flop = [&](const limits::Shape& of) {
    const auto run = fastest_transformer(made.setting, of, made.cluster, made.calibration,
                                         std::int64_t{1} << 14, Seconds(1e9));
    return run ? run->training.value() : 0;
  };
  const double d = 12288, layers = static_cast<double>(shape.layers);
  const auto expected = [&](double sequence) {
    return (layers * (72 * d * d + 12 * sequence * d) + 6 * d * 131'072) * shape.tokens;
  };
  EXPECT_NEAR(flop(shape) / expected(2048), 1, 1e-3);
  EXPECT_NEAR(flop(longer) / expected(8192), 1, 1e-3);
}

TEST(TransformerLimits, LIMIT_38_no_step_is_shorter_than_its_bound) {
  // [LIMIT-38] Over degrees, schedules and recomputation of a small model whose parts weigh
  // differently; and leaving out by it changes no answer: a limit on the duration that the best
  // layout just keeps finds that layout.
  Made made;
  const limits::Shape shape = limits::shape_of(made.setting, 12288);
  const Model model = transformer_of(shape);
  Job job;
  job.sequence = 2048;
  job.global_batch = shape.batch_sequences;
  job.attention = AttentionKernel::flash2;
  const FlopsPerSecond peak = made.cluster.accelerator.peak_of(Precision::bf16);
  std::size_t seen = 0;
  for (const std::int64_t tp : {1, 8, 16}) {
    for (const std::int64_t pp : {1, 4, 64}) {
      for (const std::int64_t vpp : {1, 3}) {
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::zero_bubble_v}) {
            Layout layout;
            layout.tp = tp;
            layout.pp = pp;
            layout.vpp = vpp;
            layout.dp = 4;
            layout.recompute = recompute;
            layout.schedule = schedule;
            const Cluster whole = extended_to(made.cluster, layout.ranks());
            const headway::Run run{model, whole, job, layout};
            if (!is_legal(run)) continue;
            ++seen;
            EXPECT_LT(least_step_time(shape, job, layout, peak),
                      forecast(run, made.calibration).step_time)
                << tp << " " << pp << " " << vpp;
          }
        }
      }
    }
  }
  EXPECT_GT(seen, 30U);
  const auto free =
      fastest_transformer(made.setting, shape, made.cluster, made.calibration, 4096, Seconds(1e12));
  ASSERT_TRUE(free.has_value());
  const auto capped = fastest_transformer(made.setting, shape, made.cluster, made.calibration, 4096,
                                          free->duration * (1 + 1e-9));
  ASSERT_TRUE(capped.has_value());
  EXPECT_EQ(capped->layout, free->layout);
  EXPECT_LE(capped->priced, free->priced);
  EXPECT_FALSE(fastest_transformer(made.setting, shape, made.cluster, made.calibration, 4096,
                                   free->duration * (1 - 1e-9))
                   .has_value());
}

TEST(TransformerLimits, LIMIT_36_the_end_of_linear_scaling_counts_from_the_best_before_it) {
  // [LIMIT-36]
  const double rises_and_falls[] = {0.30, 0.40, 0.33, 0.32, 0.10};
  EXPECT_EQ(end_of_linear_scaling(rises_and_falls, 0.8), std::size_t{3});  // 0.8 x 0.40
  EXPECT_EQ(end_of_linear_scaling(rises_and_falls, 0.2), std::nullopt);
  EXPECT_EQ(end_of_linear_scaling({}, 0.8), std::nullopt);
}

TEST(TransformerLimits, what_only_the_idealised_model_knows_is_refused) {
  Made made;
  EXPECT_TRUE(transformer_problems(made.setting, made.cluster).empty());
  made.setting.sparsity.sparse = true;
  made.setting.machine.sites = 4;
  EXPECT_TRUE(transformer_problems(made.setting, made.cluster).empty());
  made.setting.steps_between_syncs = 50;
  made.setting.precision = Precision::fp4;  // not of an H100
  EXPECT_EQ(transformer_problems(made.setting, made.cluster).size(), 2U);
}

// A slow link between two sites costs a synchronous run time, DiLoCo nothing to speak of.
TEST(TransformerLimits, sites_and_methods_are_those_of_runs) {
  Made made;
  const limits::Shape shape = limits::shape_of(made.setting, 12288);
  const auto fastest = [&](const limits::Setting& setting) {
    return fastest_transformer(setting, shape, made.cluster, made.calibration, 4096,
                               setting.duration * 100);
  };
  const auto here = fastest(made.setting);
  limits::Setting apart = made.setting;
  apart.machine.sites = 2;
  apart.machine.levels.push_back({"site", 0, BytesPerSecond(1e7), Seconds(0.01)});
  const auto in_step = fastest(apart);
  apart.relaxation.method = "DiLoCo";
  apart.relaxation.name = "diloco";
  apart.relaxation.sync_every = 500;
  const auto seldom = fastest(apart);
  ASSERT_TRUE(here && in_step && seldom);
  EXPECT_GT(in_step->duration / here->duration, 1.1);
  EXPECT_LT(seldom->duration / here->duration, 1.05);
  EXPECT_EQ(seldom->layout.replicas, 2);
}

TEST(TransformerLimits, experts_are_those_of_the_shape) {
  Made made;
  limits::Shape shape = limits::shape_of(made.setting, 12288);
  shape.experts = 8;
  const Model model = transformer_of(shape);
  ASSERT_TRUE(model.kinds[0].experts.has_value());
  EXPECT_EQ(model.kinds[0].experts->count, 8);
  EXPECT_EQ(model.kinds[0].experts->active, 1);
  EXPECT_FALSE(model.kinds[0].feed_forward.has_value());
}

}  // namespace
}  // namespace headway
