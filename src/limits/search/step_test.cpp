#include "limits/search/step.hpp"

#include <gtest/gtest.h>

#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

Split split(std::int64_t node, std::int64_t fabric) {
  Split out;
  out.at[0] = node;
  out.at[1] = fabric;
  return out;
}

Setting h100(bool as_published) {
  Setting out = setting_on(machine_for_test("h100-sxm"));
  out.as_published = as_published;
  return out;
}

Shape shape_with_batch(Setting setting, bool sparse, std::int64_t sequences) {
  setting.sparsity.sparse = sparse;
  Shape out = shape_of(setting, 12288);
  out.batch_sequences = sequences;
  out.batch_tokens = sequences * setting.sequence;
  return out;
}

// data, tensor_model, tensor_ff, pipeline, expert; micro-batches, interleave, zero bubble.
constexpr int kCases = 5;
const Layout kLayouts[kCases] = {
    {split(1, 1), split(4, 1), split(2, 4), split(1, 64), split(1, 1), 128, 1, true},
    {split(1, 1), split(4, 1), split(2, 4), split(1, 64), split(1, 1), 64, 3, false},
    {split(1, 128), split(1, 1), split(8, 1), split(1, 1), split(1, 1), 1, 1, false},
    {split(2, 32), split(2, 1), split(2, 4), split(1, 2), split(1, 8), 2, 96, false},
    {split(1, 16), split(4, 1), split(2, 4), split(1, 4), split(1, 8), 8, 1, true},
};
constexpr std::int64_t kSequences[kCases] = {2048, 2048, 3584, 8192, 8192};
constexpr bool kSparse[kCases] = {false, false, false, true, true};

TEST(LimitsStep, LIMIT_13_LIMIT_15_whole_runs_match_the_reference_program) {
  // [LIMIT-13] [LIMIT-15] Seconds of the run: all, tensor, data, stages and experts, latencies.
  const double expected[kCases][6] = {
      {4562138.106166013, 0.6982406659322409, 2564940.7252758527, 0, 140270.1959135232, 3023.3088},
      {6054817.226811736, 0.5261051209305571, 2564940.7252758527, 0, 425263.6098330624,
       3341.8137599999995},
      {10559397.122834675, 0.6033432235322669, 1329969.2649578494, 1454229.7862055057, 0, 547.4304},
      {5213789.404838373, 0.6109702755481659, 2564940.7252758527, 621196.5819027456,
       425263.6098330624, 6693.5808},
      {4874188.252609276, 0.6535386374580313, 2564940.7252758527, 300578.991243264,
       372940.60024627205, 6688.60416}};
  const Setting setting = h100(true);
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    const Shape shape = shape_with_batch(setting, kSparse[i], kSequences[i]);
    const StepTimes step = step_times(setting, shape, kLayouts[i]);
    const NetworkTimes& network = step.network;
    const double steps = steps_of(shape);
    const double found[6] = {
        step.total.value() * steps,
        utilization(setting, shape, kLayouts[i].gpus(), step.total),
        network.tensor.value() * steps,
        network.data.value() * steps,
        network.pipeline.value() * steps,
        (network.tensor_latency + network.pipeline_latency + network.data_latency).value() * steps};
    for (int field = 0; field < 6; ++field) {
      EXPECT_LT(apart(found[field], expected[i][field]), 1e-12) << field;
    }
  }
}

TEST(LimitsStep, parts_add_up_to_the_whole) {
  for (const bool as_published : {true, false}) {
    const Setting setting = h100(as_published);
    for (int i = 0; i < kCases; ++i) {
      const Shape shape = shape_with_batch(setting, kSparse[i], kSequences[i]);
      const StepTimes step = step_times(setting, shape, kLayouts[i]);
      const StepParts& p = step.parts;
      const Seconds sum =
          p.arithmetic + p.memory + p.kernel_latency + p.network + p.bubble + p.network_latency;
      EXPECT_LT(apart(sum.value(), step.total.value()), 1e-12);
      for (const Seconds part :
           {p.arithmetic, p.memory, p.kernel_latency, p.network, p.bubble, p.network_latency}) {
        EXPECT_GE(part.value(), -1e-12 * step.total.value());
      }
    }
  }
}

TEST(LimitsStep, LIMIT_14_the_bubble_of_one_forward_one_backward) {
  // [LIMIT-14] (PP - 1) / (PP - 1 + M); v virtual stages divide it; none with a zero bubble.
  EXPECT_DOUBLE_EQ(bubble_share(4, 1, 12, false), 3.0 / 15);
  EXPECT_DOUBLE_EQ(bubble_share(4, 3, 12, false), 3.0 / 39);
  EXPECT_DOUBLE_EQ(bubble_share(1, 1, 1, false), 0);
  EXPECT_DOUBLE_EQ(bubble_share(4, 1, 12, true), 0);
  // Fewer micro-batches than stages: each virtual stage but one waits for the rest of the round.
  EXPECT_DOUBLE_EQ(bubble_share(4, 3, 2, false), (2.0 * 2 + 3) / (2.0 * 2 + 3 + 6));
}

TEST(LimitsStep, LIMIT_15_latency_binds_a_zero_bubble_pipeline_unless_as_published) {
  // [LIMIT-15] With a latency of 1 s a level the step of layout 0 is its serial latency: 192
  // layers, forward and backward, each an all-reduce (two messages) of d_model shards in the node
  // and of d_ff shards on both levels; and 63 borders between stages, forward and backward.
  for (const bool as_published : {true, false}) {
    Setting setting = h100(as_published);
    for (Level& level : setting.machine.levels) level.latency = Seconds(1);
    const Shape shape = shape_with_batch(setting, false, 2048);
    const StepTimes step = step_times(setting, shape, kLayouts[0]);
    const double serial = 3 * 2 * 2 * 192 + 2 * 63;
    EXPECT_DOUBLE_EQ((step.network.tensor_latency + step.network.pipeline_latency).value(), serial);
    if (as_published) {
      EXPECT_EQ(step.total, step.matmul);
    } else {
      EXPECT_DOUBLE_EQ(step.total.value(), serial);
    }
  }
}

TEST(LimitsStep, LIMIT_15_what_does_not_overlap_is_added) {
  // [LIMIT-15]
  Setting setting = h100(false);
  const Shape shape = shape_with_batch(setting, false, 2048);
  const StepTimes all = step_times(setting, shape, kLayouts[0]);
  setting.overlap.tensor = false;
  const StepTimes without = step_times(setting, shape, kLayouts[0]);
  EXPECT_DOUBLE_EQ(without.total.value(), (all.total + all.network.tensor).value());
  setting.overlap = {.tensor = true, .pipeline = true, .data = true};
  const Shape wide = shape_with_batch(setting, false, 3584);
  const StepTimes hidden = step_times(setting, wide, kLayouts[2]);
  EXPECT_LT(hidden.network.data, hidden.matmul);
  EXPECT_DOUBLE_EQ(
      hidden.total.value(),
      (hidden.matmul + hidden.network.tensor_latency + hidden.network.data_latency).value());
}

TEST(LimitsStep, recomputed_activations_cost_a_third_more_products_and_half_more_messages) {
  Setting setting = h100(false);
  const Shape shape = shape_with_batch(setting, true, 8192);
  const StepTimes once = step_times(setting, shape, kLayouts[4]);
  setting.recompute_activations = true;
  const StepTimes twice = step_times(setting, shape, kLayouts[4]);
  EXPECT_DOUBLE_EQ(twice.matmul / once.matmul, 4.0 / 3);
  EXPECT_DOUBLE_EQ(twice.network.tensor / once.network.tensor, 1.5);
  EXPECT_DOUBLE_EQ(twice.network.pipeline_latency / once.network.pipeline_latency, 1.5);
  EXPECT_EQ(twice.network.data, once.network.data);
}

TEST(LimitsStep, replicas_that_meet_every_tenth_step_send_a_tenth) {
  Setting setting = h100(false);
  const Shape shape = shape_with_batch(setting, false, 3584);
  const StepTimes always = step_times(setting, shape, kLayouts[2]);
  setting.steps_between_syncs = 10;
  const StepTimes seldom = step_times(setting, shape, kLayouts[2]);
  EXPECT_DOUBLE_EQ(always.network.data / seldom.network.data, 10);
  EXPECT_DOUBLE_EQ(always.network.data_latency / seldom.network.data_latency, 10);
}

TEST(LimitsStep, LIMIT_16_weights_stand_in_each_replica_optimizer_words_once) {
  // [LIMIT-16] 232e9 parameters of 2 bytes: DP + 4 copies in n x 80 GB.
  const Setting setting = h100(false);
  const Shape shape = shape_with_batch(setting, false, 2048);
  const double copy = 2 * shape.parameters;
  const auto least = static_cast<std::int64_t>(std::ceil(copy * (16 + 4) / 80e9));
  EXPECT_TRUE(fits(setting, shape, least, 16, 1));
  EXPECT_FALSE(fits(setting, shape, least - 1, 16, 1));
}

TEST(LimitsStep, LIMIT_39_no_layout_has_less_than_the_least_of_products) {
  // [LIMIT-39] Over degrees, few and many micro-batches, tokens that are rounded, experts,
  // recomputation, blocks and forward passes only.
  std::size_t seen = 0;
  for (const bool sparse : {false, true}) {
    for (const int kind : {0, 1, 2, 3}) {
      Setting setting = h100(sparse);
      setting.batch = {.constant = true, .tokens = 9 * 65536};
      setting.recompute_activations = kind == 1;
      setting.relaxation.blocks = kind == 2 ? 3 : 1;
      setting.relaxation.forward_only = kind == 3;
      const Shape shape = shape_of(setting, 12288);
      for (const std::int64_t data : {1, 2, 64, 9 * 1024}) {
        for (const std::int64_t stages : {1, 2, 16, 64}) {
          for (const std::int64_t tensor : {1, 8, 256}) {
            const Degrees degrees{data, tensor, tensor, stages, shape.experts};
            const std::int64_t gpus = data * tensor * tensor * stages * shape.experts;
            const LayerMatmuls layer(setting, shape, tensor, tensor);
            const std::int64_t waiting = waiting_stages(setting, stages);
            for (const bool zero_bubble : {false, true}) {
              const std::int64_t batches = (zero_bubble ? 2 : 1) * waiting;
              if (shape.batch_tokens / shape.experts / data % batches != 0) continue;
              ++seen;
              EXPECT_LE(least_matmul_time(setting, shape, gpus, shape.experts, zero_bubble).value(),
                        matmul_time(setting, shape, degrees, batches, layer).value() * (1 + 1e-12))
                  << kind << " " << data << " " << stages << " " << tensor;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(seen, 300U);
}

TEST(LimitsStep, LIMIT_27_each_group_of_replicas_in_step_holds_its_optimizer_words_once) {
  // [LIMIT-27] 16 replicas, 4 on the inner level and 4 on the outer one. All apart: 16 (1 + 4) + 2
  // copies; only the outer ones: 16 + 4 x 4 + 2; in step: 16 + 4.
  Setting setting = h100(false);
  const Shape shape = shape_with_batch(setting, false, 2048);
  Split data;
  data.at = {4, 4, 1, 1, 1, 1};
  EXPECT_EQ(loose_replicas(setting, data), 1);
  setting.relaxation.sync_every = 500;
  EXPECT_EQ(loose_replicas(setting, data), 16);
  setting.relaxation.loose_level = 1;
  EXPECT_EQ(loose_replicas(setting, data), 4);
  const double copy = 2 * shape.parameters;
  for (const auto& [loose, copies] :
       {std::pair(16, 82.0), std::pair(4, 34.0), std::pair(1, 20.0)}) {
    const auto least = static_cast<std::int64_t>(std::ceil(copy * copies / 80e9));
    EXPECT_TRUE(fits(setting, shape, least, 16, loose)) << loose;
    EXPECT_FALSE(fits(setting, shape, least - 1, 16, loose)) << loose;
  }
}

}  // namespace
}  // namespace headway::limits
