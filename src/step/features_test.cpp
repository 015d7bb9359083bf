// Steps over sampled neighbourhoods of a graph.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway {
namespace {

using namespace testing;

const NodeFeatures& features_of(const Model& model) {
  return std::get<NodeFeatures>(model.kinds[0].modules[0].shape);
}

// U nodes of 1,024 values of a byte, and their numbers of 8, half under either pass.
TEST(Features, OfTheNextBatchComeUnderThisOne) {  // [STEP-32]
  const Case c = case_of_network("r-gat", 8, 16);
  expect_legal(c);
  const Step step = c.lowered();
  std::vector<Call> exchanges;
  for (const Call& call : calls_in(step.blocks[0].items)) {
    if (call.op == CollectiveOp::all_to_all) exchanges.push_back(call);
  }
  ASSERT_EQ(exchanges.size(), 2U);
  const double bytes = 16 * features_of(c.model).rows * (1024 + 8);
  for (const Call& call : exchanges) {
    EXPECT_NEAR(call.bytes.value(), bytes / 2, 1e-6 * bytes);
    EXPECT_EQ(call.hidden_by, HiddenBy::other_batch);
  }
  EXPECT_NE(exchanges[0].phase, exchanges[1].phase);
  EXPECT_EQ(step.blocks[0].host_transfer, Bytes(0));
}

// A rank of eight holds an eighth of 547 M nodes of 1,024 bytes, and of 13.3 G edges of 8 bytes;
// where the hosts have the features, of the edges alone, and the rows come over its own link.
TEST(Features, LieOnAllRanksOrWithTheirHosts) {  // [STEP-32]
  Case c = case_of_network("r-gat", 8, 16);
  const NodeFeatures features = features_of(c.model);
  const auto held = [&] { return c.lowered().held.memory.parameters.value(); };
  const double here = held();
  c.layout.tables.cached = 0;
  expect_legal(c);
  const double away = held();
  EXPECT_NEAR(here - away, features.nodes * 1024 / 8, 1e3);
  EXPECT_NEAR(away, features.edges * 8 / 8 + 4 * 13'115'303.0, 1e3);
  const Step step = c.lowered();
  EXPECT_NEAR(step.blocks[0].host_transfer.value(), 16 * features.rows * 1024 / 2, 1e3);
  EXPECT_TRUE(calls_in(step.blocks[0].items).empty() ||
              bytes_of(calls_in(step.blocks[0].items), CollectiveOp::all_to_all, Group::ep) < 1);
}

TEST(Features, LieInOneWay) {
  Case c = case_of_network("r-gat", 8, 16);
  c.layout.tables.scheme = TableScheme::row_wise;
  ASSERT_FALSE(check(c).empty());
  EXPECT_EQ(where_text(check(c)[0]), "--tables");
}

}  // namespace
}  // namespace headway
