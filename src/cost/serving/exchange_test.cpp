// The exchange of experts' tokens by kernels of its own [INFER-33].
#include "cost/serving/exchange.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/load.hpp"

namespace headway {
namespace {

// DeepSeek-V3's tokens between the ranks of nodes of eight H800.
ExpertExchange of_h800(std::int64_t ranks, std::int64_t tokens) {
  const auto cluster = load_cluster("h800-8");
  const auto& levels = cluster->levels;
  ExpertExchange out;
  out.tokens = tokens;
  out.hidden = 7168;
  out.active = 8;
  out.ranks = ranks;
  out.ranks_of_node = levels[0].size;
  out.bandwidth = levels[0].bandwidth;
  out.network = levels[1].bandwidth;
  return out;
}
double us(const ExpertExchange& exchange) {
  return expert_exchange_time(exchange, *serving_kernels_for(load_cluster("h800-8")->accelerator))
             .value() *
         1e6;
}

// One of eight experts lies in each of eight ranks by 1 - (7/8)^8; copies for experts: seven of
// eight leave the rank. Of 16 ranks in two nodes half of the copies leave the node.
TEST(ExpertExchange, SendsACopyToEachRankOrForEachExpert) {
  ExpertExchange e = of_h800(8, 100);
  const double dispatched = 100 * (7168 + 4 * 7168.0 / 128), combined = 100 * 2 * 7168.0;
  EXPECT_NEAR(sent_to_peers(e).value(), dispatched * 7 * (1 - std::pow(7.0 / 8, 8)), 1e-3);
  EXPECT_EQ(sent_to_nodes(e), Bytes(0));
  e.quick = e.combine = true;
  EXPECT_NEAR(sent_to_peers(e).value(), combined * 8 * 7 / 8, 1e-3);
  e.ranks = 16;
  EXPECT_NEAR(sent_to_peers(e).value(), combined * 8 * 7 / 16, 1e-3);
  EXPECT_NEAR(sent_to_nodes(e).value(), combined * 8 * 8 / 16, 1e-3);
  e.quick = false;  // once to the other node, if one of eight lies there
  EXPECT_NEAR(sent_to_nodes(e).value(), combined * (1 - std::pow(0.5, 8)), 1e-3);
}

// What DeepEP's authors measured of 4,096 tokens in a node of H800 with 20 units, in none of the
// fits: what a rank receives at 153 GB/s (dispatch) and 158 GB/s (combine) of NVLink.
TEST(ExpertExchange, IsAsItsAuthorsMeasuredOnOtherLinks) {
  ExpertExchange e = of_h800(8, 4096);
  const double reached = 8 * (1 - std::pow(7.0 / 8, 8));
  for (const bool combine : {false, true}) {
    e.combine = combine;
    const double bytes = 4096 * reached * 7168 * (combine ? 2 : 1 + 4.0 / 128);
    EXPECT_NEAR(us(e) / (bytes / (combine ? 158e3 : 153e3)), 1, 0.3) << combine;
  }
}

RC_GTEST_PROP(ExpertExchange, IsNeverShorterThanItsBytesOverTheLinks, ()) {
  ExpertExchange e = of_h800(*rc::gen::element<std::int64_t>(2, 4, 8, 16, 64, 256),
                             *rc::gen::inRange<std::int64_t>(1, 1 << 17));
  e.combine = *rc::gen::arbitrary<bool>();
  e.quick = *rc::gen::arbitrary<bool>();
  const double seconds = us(e) * 1e-6;
  RC_ASSERT(seconds >= (sent_to_peers(e) / e.bandwidth).value());
  RC_ASSERT(e.ranks <= 8 || seconds >= (sent_to_nodes(e) / e.network).value());
}

TEST(ExpertExchange, OfOneRankTakesNothing) {
  EXPECT_EQ(us(of_h800(1, 4096)), 0);
}

}  // namespace
}  // namespace headway
