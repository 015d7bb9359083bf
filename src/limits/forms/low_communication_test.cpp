#include "limits/forms/low_communication.hpp"

#include <gtest/gtest.h>

#include "limits/golden_for_test.hpp"
#include "limits/search/curve.hpp"

namespace headway::limits {
namespace {

constexpr std::int64_t kWidths[] = {20480, 53248, 131072};

Setting h100() {
  return setting_on(machine_for_test("h100-sxm"));
}

Setting relaxed_for_test(const Setting& setting, const RelaxationWishes& wishes) {
  const auto out = relaxed(setting, wishes);
  if (out) return *out;
  for (const Problem& problem : out.problems()) ADD_FAILURE() << problem.message;
  return setting;
}

double utilization_at(const Setting& setting, std::int64_t width) {
  const auto run = run_at(setting, width);
  return run ? run->utilization : 0;
}

TEST(LimitsLowCommunication, every_method_at_its_weakest_is_synchronous_training) {
  // Meeting every step, sending all bytes, one block, one model, no penalty.
  RelaxationWishes weakest;
  weakest.sync_every = weakest.compression = weakest.sample_penalty = 1;
  weakest.blocks = weakest.submodels = 1;
  for (const char* method : {"diloco", "local-sgd", "powersgd", "one-bit-adam", "local-updates",
                             "subnetworks", "federated"}) {
    SCOPED_TRACE(method);
    weakest.method = method;
    const Setting other = relaxed_for_test(h100(), weakest);
    for (const std::int64_t width : kWidths) {
      EXPECT_EQ(utilization_at(other, width), utilization_at(h100(), width));
    }
  }
}

TEST(LimitsLowCommunication, LIMIT_27_meeting_every_h_steps_divides_the_replicas_times_by_h) {
  // [LIMIT-27] On both levels, or on the outer one alone: there the inner level sets the pace.
  const Shape shape = shape_of(h100(), 20480);
  Layout layout;
  layout.data.at = {8, 4, 1, 1, 1, 1};
  const NetworkTimes whole = Network(h100(), shape, 32).times(layout);
  RelaxationWishes wishes{.method = "local-sgd", .sync_every = 10};
  const NetworkTimes rare = Network(relaxed_for_test(h100(), wishes), shape, 32).times(layout);
  EXPECT_NEAR(rare.data / whole.data, 0.1, 1e-12);
  EXPECT_NEAR(rare.data_latency / whole.data_latency, 0.1, 1e-12);

  wishes.loose_level = "fabric";
  wishes.sync_every = 1e6;
  const NetworkTimes inner = Network(relaxed_for_test(h100(), wishes), shape, 32).times(layout);
  // 2 (8 - 1) x 4 groups of N words over 32 links of 450 GB/s.
  EXPECT_NEAR(inner.data.value(), 2 * 7 * 4 * shape.parameters * 2 / (32 * 450e9), 1e-6);
  EXPECT_NEAR(inner.data_latency.value(), 2 * 1.125e-6, 1e-9);
}

TEST(LimitsLowCommunication, LIMIT_27_compression_divides_bytes_but_no_latency) {
  // [LIMIT-27]
  const Shape shape = shape_of(h100(), 20480);
  Layout layout;
  layout.data.at = {8, 4, 1, 1, 1, 1};
  const NetworkTimes whole = Network(h100(), shape, 32).times(layout);
  const NetworkTimes less =
      Network(relaxed_for_test(h100(), {.method = "powersgd", .compression = 40}), shape, 32)
          .times(layout);
  EXPECT_NEAR(less.data / whole.data, 1.0 / 40, 1e-12);
  EXPECT_EQ(less.data_latency, whole.data_latency);
}

TEST(LimitsLowCommunication, LIMIT_27_what_a_method_sends_follows_from_its_numbers) {
  // [LIMIT-27] Of 2 bytes a gradient: 4 bit, one bit; a hundredth with places; a tenth without;
  // rank 4 of 12,288 x 49,152: 4 · 4 · 61,440 bytes for 2 · 12,288 · 49,152.
  const auto sends = [](const char* method) {
    return relaxed_for_test(h100(), {.method = method}).relaxation.compression;
  };
  EXPECT_EQ(sends("qsgd"), 4);
  EXPECT_EQ(sends("one-bit-adam"), 16);
  EXPECT_EQ(sends("streaming-diloco"), 4);
  EXPECT_NEAR(sends("top-k"), 25, 1e-9);
  EXPECT_NEAR(sends("masked"), 10, 1e-9);
  EXPECT_NEAR(sends("powersgd"), 2.0 * 12288 * 49152 / (16.0 * 61440), 1e-6);
  EXPECT_EQ(sends("gossip"), 1);  // to two neighbours as much as an all-reduce
  EXPECT_EQ(sends("diloco"), 1);
  EXPECT_FALSE(relaxed(h100(), {.method = "overlapping-updates"}));
}

TEST(LimitsLowCommunication, no_method_without_a_penalty_is_slower_where_memory_is_ample) {
  Setting ample = h100();
  ample.machine.gpu.memory = Bytes(1e13);
  for (const std::string& method : relaxation_names()) {
    if (method == "evolution" || method == "subnetworks") continue;  // another step altogether
    SCOPED_TRACE(method);
    const Setting other = relaxed_for_test(ample, {.method = method});
    for (const std::int64_t width : kWidths) {
      EXPECT_GE(utilization_at(other, width), utilization_at(ample, width) * (1 - 1e-12));
    }
  }
}

TEST(LimitsLowCommunication, LIMIT_28_replicas_that_do_not_wait_hide_their_network) {
  // [LIMIT-28] The longer of the two, without latency.
  Setting setting = h100();
  setting.relaxation.asynchronous = true;
  NetworkTimes network;
  network.data = Seconds(3);
  network.data_latency = Seconds(100);
  EXPECT_EQ(step_time(setting, Seconds(2), network, 0, false), Seconds(3));
  EXPECT_EQ(step_time(setting, Seconds(4), network, 0, false), Seconds(4));
}

TEST(LimitsLowCommunication, LIMIT_29_blocks_move_the_wall_as_the_latency_formula_says) {
  // [LIMIT-29] K blocks wait for one another's latency no more: T ~ (t_d K / (L t))^2 at alpha 0,
  // so at least K^2 at the alpha of the laws; as long as the batch holds enough micro-batches.
  const auto wall = [](const Setting& setting) {
    return curve(setting).runs.back().shape.training;
  };
  Setting setting = h100();
  setting.first_d_model = 98304;
  setting.last_d_model = std::int64_t{12288} * 512;
  const Flops base = wall(setting);
  const Flops two = wall(relaxed_for_test(setting, {.method = "local-updates", .blocks = 2}));
  const Flops eight = wall(relaxed_for_test(setting, {.method = "local-updates", .blocks = 8}));
  EXPECT_GT(two / base, 2);
  EXPECT_LT(two / base, 8);
  EXPECT_GT(eight / two, 4);
  EXPECT_EQ(waiting_stages(relaxed_for_test(setting, {.method = "local-updates", .blocks = 8}), 20),
            3);
}

TEST(LimitsLowCommunication, LIMIT_30_submodels_together_do_the_work_of_the_whole) {
  // [LIMIT-30] On a network without limit only products count: four groups of a quarter of the
  // width are one model split four times without communication.
  const Setting setting = setting_on(machine_for_test("h100-infinite-network-low-latency"));
  const Setting four = relaxed_for_test(setting, {.method = "subnetworks", .submodels = 4});
  const auto run = run_at(four, 20480);
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->gpus, run->layout.gpus() * 4);
  EXPECT_NEAR(run->utilization, utilization_at(setting, 20480), 0.01);
  EXPECT_NEAR(run->duration.value(), run->step.total.value() * steps_of(run->shape), 1);
  // Far beyond the end of linear scaling they are ahead, as less crosses the fabric.
  const Setting h100_8 = relaxed_for_test(h100(), {.method = "subnetworks"});
  EXPECT_GT(utilization_at(h100_8, 131072), utilization_at(h100(), 131072));
}

TEST(LimitsLowCommunication, LIMIT_30_what_is_too_slow_for_submodels_is_their_own_shortest_run) {
  // [LIMIT-30] The first width of their curve that ends in time nowhere: its shortest run takes
  // longer than the duration, and the one before it does not.
  Setting setting = relaxed_for_test(h100(), {.method = "subnetworks"});
  setting.first_d_model = 131072;
  const Curve found = curve(setting);
  ASSERT_EQ(found.end, CurveEnd::too_slow);
  const auto next = Search(setting, *found.first_infeasible).fastest_of_all(Seconds(1e12));
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->duration, setting.duration);
  EXPECT_EQ(next->gpus, next->layout.gpus() * 8);
  const auto last = Search(setting, found.runs.back().shape).fastest_of_all(Seconds(1e12));
  ASSERT_TRUE(last.has_value());
  EXPECT_LE(last->duration, setting.duration);
}

TEST(LimitsLowCommunication, LIMIT_31_evolution_does_a_third_of_the_work_and_sends_scalars) {
  // [LIMIT-31] 2 N of 6 N FLOP a token; the same tokens (no penalty), the same batch.
  const Setting evolution =
      relaxed_for_test(h100(), {.method = "evolution", .sample_penalty = 1.0});
  const Shape shape = shape_of(evolution, 20480), whole = shape_of(h100(), 20480);
  EXPECT_NEAR(shape.training / whole.training, 1.0 / 3, 1e-12);
  EXPECT_EQ(shape.batch_tokens, whole.batch_tokens);
  const auto run = run_at(evolution, 20480);
  ASSERT_TRUE(run.has_value());
  EXPECT_LT(run->step.network.data.value(), 1e-6);
  EXPECT_FALSE(run->layout.zero_bubble);
}

TEST(LimitsLowCommunication, LIMIT_26_a_penalty_of_x_takes_x_times_the_data_and_learns_no_more) {
  // [LIMIT-26]
  const Setting costly = relaxed_for_test(h100(), {.method = "diloco", .sample_penalty = 3});
  const Shape shape = shape_of(costly, 20480), whole = shape_of(h100(), 20480);
  EXPECT_NEAR(shape.tokens / whole.tokens, 3, 1e-12);
  EXPECT_NEAR(shape.training / whole.training, 3, 1e-12);
  EXPECT_EQ(shape.learned, whole.training);
  EXPECT_EQ(shape.batch_tokens, whole.batch_tokens);
  EXPECT_NE(statement_of(costly).find("data needed x 3 (the user's)"), std::string::npos);
}

TEST(LimitsLowCommunication, each_built_in_method_says_where_its_penalty_comes_from) {
  // Evolution strategies: between 3 and 10 times the data on Atari (arXiv 1703.03864).
  EXPECT_GE(relaxation_names().size(), 10U);
  for (const std::string& method : relaxation_names()) {
    SCOPED_TRACE(method);
    const std::string says = statement_of(relaxed_for_test(h100(), {.method = method}));
    const char* penalty = method == "evolution" ? "data needed x 3 (" : "data needed x 1 (";
    EXPECT_NE(says.find(penalty), std::string::npos);
    EXPECT_NE(says.find("published"), std::string::npos);
    EXPECT_NE(says.find("upper bound"), std::string::npos);
  }
}

TEST(LimitsLowCommunication, wrong_wishes_are_all_named_at_once) {
  RelaxationWishes wishes{.method = "subnetworks", .sync_every = 0.5, .compression = 2};
  wishes.submodels = 3;
  wishes.loose_level = "nowhere";
  const auto found = relaxed(h100(), wishes);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.problems().size(), 4U);
  EXPECT_FALSE(relaxed(h100(), {.method = "dilocoo"}));
}

}  // namespace
}  // namespace headway::limits
