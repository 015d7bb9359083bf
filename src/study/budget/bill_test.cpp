#include "study/budget/bill.hpp"

#include <gtest/gtest.h>

#include "limits/load.hpp"

namespace headway {
namespace {

MachineShop shop() {
  return *machine_shop(nullptr);
}

limits::Machine h100(std::int64_t domain, double fabric) {
  limits::Machine out = *limits::embedded_machine("h100-sxm");
  out.levels.front().size = domain;
  out.levels.back().bandwidth = BytesPerSecond(fabric);
  return out;
}

TEST(Bill, LIMIT_40_switches_are_those_of_a_public_plan_of_clusters) {
  // [LIMIT-40] A plan of August 2024 of servers of eight with 64-port switches lists for 64, 512
  // and 4,096 servers 8, 192 and 2,560 switches: (2 t - 1) ports an accelerator.
  const struct { std::int64_t servers, switches; } kPlan[] = {{64, 8}, {512, 192}, {4096, 2560}};
  for (const auto& [servers, switches] : kPlan) {
    const std::int64_t tiers = tiers_of(servers, 64);
    EXPECT_EQ((2 * tiers - 1) * servers * 8 / 64, switches) << servers;
  }
  EXPECT_EQ(tiers_of(1, 64), 0);
  EXPECT_EQ(tiers_of(2048, 64), 2);
  EXPECT_EQ(tiers_of(2049, 64), 3);
}

TEST(Bill, LIMIT_40_the_cost_of_an_end_is_its_card_its_ports_and_its_cables) {
  // [LIMIT-40] 512 ends of 50 GB/s, two tiers: a card, three ports, two optical cables; at their
  // least 50 (28 + 3 x 11.25 + 2 x 20) dollars and 50e9 x 8 (2 x 25 + 3 x 29 + 2 x 2 x 15) pJ/s.
  const MachineCost each = network_cost(shop().outer, 512, BytesPerSecond(50e9));
  EXPECT_NEAR(each.dollars.low, 50 * (28 + 3 * 11.25 + 2 * 20), 1e-6);
  EXPECT_NEAR(each.watts.low, 50e9 * 8e-12 * (2 * 25 + 3 * 29 + 2 * 2 * 15), 1e-6);
  EXPECT_EQ(network_cost(shop().outer, 1, BytesPerSecond(50e9)).dollars.high, 0);
}

TEST(Bill, a_clusters_money_is_that_of_the_public_plan) {
  // The same plan has 393,980 US dollars for each of 256 servers, building and running among it
  // (50,000); the bill's range holds what is left.
  const Bill bill = bill_of(shop(), "h100-sxm", h100(8, 50e9), 2048);
  const LowHigh server = (1.0 / 256) * bill.total().dollars;
  EXPECT_LT(server.low, 343'980);
  EXPECT_GT(server.high, 343'980);
}

TEST(Bill, nvlink_draws_what_technologies_say_of_it) {
  // data/technology: 5 to 8 pJ for a bit one way, both ends and the switch; ends send and take in.
  const double rate = 450e9;
  const MachineCost each = network_cost(shop().inner, 72, BytesPerSecond(rate));
  EXPECT_NEAR(each.watts.low, 8 * rate * 5e-12, 1e-9);
  EXPECT_NEAR(each.watts.high, 8 * rate * 8e-12, 1e-9);
}

TEST(Bill, LIMIT_41_domains_are_bought_whole_and_a_servers_own_links_are_in_its_price) {
  // [LIMIT-41] A run of 2^10 takes 64 of each domain of 72: 16 domains are 1,152 accelerators.
  const Bill odd = bill_of(shop(), "h100-sxm", h100(72, 50e9), 1024);
  EXPECT_EQ(odd.accelerators, 1152);
  EXPECT_GT(odd.inner.dollars.low, 0);
  const Bill own = bill_of(shop(), "h100-sxm", h100(8, 50e9), 1024);
  EXPECT_EQ(own.accelerators, 1024);
  EXPECT_EQ(own.inner.dollars.high, 0);
  // Of a rack of 72 a run takes 64, and four of eight share a server.
  limits::Machine rack = *limits::embedded_machine("gb200-nvl72");
  EXPECT_EQ(bill_of(shop(), "gb200-nvl72", rack, 1024).accelerators, 16 * 72);
  EXPECT_EQ(bill_of(shop(), "h100-sxm", h100(4, 50e9), 1024).accelerators, 1024);
  const Bill one = bill_of(shop(), "h100-sxm", h100(8, 50e9), 8);
  EXPECT_EQ(one.outer.dollars.high, 0);  // nothing beyond the domain
}

TEST(Bill, what_has_no_price_is_said) {
  EXPECT_NE(why_no_bill(shop(), "tpu-v5p", h100(8, 50e9)).find("no price of 'tpu-v5p'"),
            std::string::npos);
  limits::Machine sites = h100(8, 50e9);
  sites.sites = 2;
  EXPECT_NE(why_no_bill(shop(), "h100-sxm", sites), "");
  EXPECT_NE(why_no_bill(shop(), "h100-sxm", *limits::embedded_machine("h100-superpod")), "");
  EXPECT_EQ(why_no_bill(shop(), "h100-sxm", h100(8, 50e9)), "");
}

TEST(Bill, parts_of_ones_own_stand_over_those_of_the_data_and_slips_are_named_at_once) {
  const auto own = parse_toml(
      "[links.infiniband]\nport_price_low = 1\n[servers.mine]\ndomain = 4\nprice_low = 1\n"
      "price_high = 2\npower_low = 3\npower_high = 4\nsource = \"me\"\nkind = \"estimated\"\n"
      "date = \"2026\"\n",
      "own.toml");
  const auto mine = machine_shop(&*own);
  ASSERT_TRUE(mine);
  EXPECT_EQ(mine->outer.port.dollars.low, 1e-9);
  EXPECT_EQ(mine->server_of("mine")->each.watts.high, 4);
  const auto wrong =
      parse_toml("[links.infiniband]\nport_price_low = -1\nfibre = 3\n[building]\npue_high = 0.5\n",
                 "own.toml");
  const auto found = machine_shop(&*wrong);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.problems().size(), 3U);
}

}  // namespace
}  // namespace headway
