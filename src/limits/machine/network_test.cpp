#include "limits/machine/network.hpp"

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

Setting h100() {
  return setting_on(machine_for_test("h100-sxm"));
}

// 192 layers 12288 x 49152 with batches of 4 Mi tokens, as in the oracle.
Shape shape() {
  Shape out;
  out.d_model = 12288;
  out.d_ff = 49152;
  out.layers = 192;
  out.batch_tokens = 4194304;
  out.parameters = 2.32e11;
  return out;
}

TEST(LimitsNetwork, LIMIT_8_LIMIT_10_all_reduce_matches_the_reference_program) {
  // [LIMIT-8] [LIMIT-10] 8 ranks in a node of 2048 GPUs, 49152 words, 384 times in a row.
  const auto [bandwidth, latency] = Network(h100(), shape(), 2048).tensor(split(8, 1), split(1, 1));
  EXPECT_LT(apart(bandwidth.value(), 2.40518168576), 1e-12);
  EXPECT_LT(apart(latency.value(), 0.000864), 1e-12);
}

TEST(LimitsNetwork, LIMIT_9_gradients_match_the_reference_program) {
  // [LIMIT-9] 4 replicas on the fabric of 4096 GPUs, 232e9 words once.
  const Network network(h100(), shape(), 4096);
  EXPECT_LT(apart(network.data_bandwidth(split(1, 4)).value(), 0.01359375), 1e-12);
  EXPECT_LT(apart(network.data_latency(split(1, 4)).value(), 2.25e-06), 1e-12);
  EXPECT_EQ(network.data_bandwidth(split(1, 1)), Seconds());
  EXPECT_EQ(network.data_latency(split(1, 1)), Seconds());
}

TEST(LimitsNetwork, LIMIT_11_stages_and_experts_match_the_reference_program) {
  // [LIMIT-11] On 2048 GPUs: pipeline, experts, interleave; latency, bandwidth.
  struct Case {
    Split pipeline, expert;
    std::int64_t interleave;
    double latency, bandwidth;
  };
  const Case cases[] = {{split(1, 64), split(1, 1), 1, 0.00014175, 0.12683575296},
                        {split(2, 32), split(1, 8), 3, 0.00042975, 0.36305895424},
                        {split(4, 16), split(2, 4), 1, 0.00042974999999999996, 0.30221358421333333},
                        {split(1, 1), split(1, 8), 1, 0.00042975, 0.33646706688},
                        {split(8, 1), split(1, 1), 24, 0.00042975, 0.042725976746666665}};
  const Network network(h100(), shape(), 2048);
  for (const Case& c : cases) {
    const auto [bandwidth, latency] = network.pipeline(c.pipeline, c.expert, c.interleave);
    EXPECT_LT(apart(bandwidth.value(), c.bandwidth), 1e-12);
    EXPECT_LT(apart(latency.value(), c.latency), 1e-12);
  }
}

// Every way to put a degree of 2^k on two levels.
std::vector<Split> splits(int powers) {
  std::vector<Split> out;
  for (int inside = 0; inside <= powers; ++inside) {
    out.push_back(split(std::int64_t{1} << inside, std::int64_t{1} << (powers - inside)));
  }
  return out;
}

TEST(LimitsNetwork, LIMIT_12_one_level_in_place_of_all_never_takes_longer) {
  // [LIMIT-12]
  Setting setting = h100();
  setting.machine.levels[0].latency = Seconds(3e-6);  // the outer level may be the quicker one
  const Network network(setting, shape(), 4096);
  const Network bound = network.collapsed(1);
  for (int a = 0; a <= 4; ++a) {
    for (int b = 0; b <= 4; ++b) {
      for (const Split& one : splits(a)) {
        for (const Split& two : splits(b)) {
          const Split flat_one = split(1, one.degree()), flat_two = split(1, two.degree());
          for (const std::int64_t interleave : {1, 3}) {
            if (interleave > 1 && one.degree() == 1) continue;
            const auto real = network.pipeline(one, two, interleave);
            const auto least = bound.pipeline(flat_one, flat_two, interleave);
            EXPECT_LE(least[0].value(), real[0].value() * (1 + 1e-12));
            EXPECT_LE(least[1].value(), real[1].value() * (1 + 1e-12));
          }
          const auto real = network.tensor(one, two);
          const auto least = bound.tensor(flat_one, flat_two);
          EXPECT_LE(least[0].value(), real[0].value() * (1 + 1e-12));
          EXPECT_LE(least[1].value(), real[1].value() * (1 + 1e-12));
        }
      }
    }
    for (const Split& data : splits(a)) {
      const Split flat = split(1, data.degree());
      EXPECT_LE(bound.data_bandwidth(flat).value(),
                network.data_bandwidth(data).value() * (1 + 1e-12));
      EXPECT_LE(bound.data_latency(flat), network.data_latency(data));
    }
  }
}

TEST(LimitsNetwork, a_domain_is_used_as_far_as_it_divides_the_run) {
  Machine machine = machine_for_test("h100-superpod");  // 8, 256, no end
  EXPECT_EQ(domains_in_use(machine, 2048), (std::array<std::int64_t, 6>{8, 32, 8, 1, 1, 1}));
  EXPECT_EQ(domains_in_use(machine, 64), (std::array<std::int64_t, 6>{8, 8, 1, 1, 1, 1}));
  EXPECT_EQ(domains_in_use(machine, 4), (std::array<std::int64_t, 6>{4, 1, 1, 1, 1, 1}));
  machine.levels[0].size = 72;  // of a rack of 72, 64 where the run is a power of two
  machine.levels[1].size = 72 * 8;
  EXPECT_EQ(domains_in_use(machine, 1 << 20), (std::array<std::int64_t, 6>{64, 8, 2048, 1, 1, 1}));
  EXPECT_EQ(domains_in_use(machine, 9 << 10), (std::array<std::int64_t, 6>{72, 8, 16, 1, 1, 1}));
}

}  // namespace
}  // namespace headway::limits
