// TorchRec's planner: expected values are worked out here by hand from what its estimators compute
// (@a48cef7, planner/shard_estimators.py), in bytes over 1,024^3 a second.
#include "study/plan/networks/table_planner.hpp"

#include <gtest/gtest.h>

namespace headway::table_planner {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

// 512 samples of a rank on two nodes of 8, 10 rows a sample of 1,000, 128 wide in fp32.
Table table() {
  return {.batch = 512, .pooling = 10, .rows = 1000, .width = 128, .ranks = 16, .local = 8};
}

TEST(TorchRecPlanner, CountsTableWiseShards) {  // [PLAN-6]
  // Indices 5,120 · 16 · 8 = 655,360 B, rows 5,120 · 16 · 128 · 4 = 41,943,040 B, sums 512 · 16 ·
  // 128 · 4 = 4,194,304 B.
  const Cost cost = cost_of(table(), TableScheme::table_wise);
  EXPECT_NEAR(cost.forward.value(), (655'360.0 + 41'943'040 + 4'194'304) / (897 * kGib), 1e-18);
  EXPECT_NEAR(cost.forward_calls.value(), 4'194'304 / (12.5 * kGib), 1e-18);
  EXPECT_EQ(cost.backward, 2.0 * cost.forward);
  EXPECT_EQ(cost.backward_calls, cost.forward_calls);
}

TEST(TorchRecPlanner, PenalisesNarrowTablesAndCountsNoFewerThan32Columns) {  // [PLAN-6]
  Table narrow = table();
  narrow.width = 16;
  // Rows as 32 wide: 10,485,760 B; sums 524,288 B; 1.75 times.
  EXPECT_NEAR(cost_of(narrow, TableScheme::table_wise).forward.value(),
              1.75 * (655'360.0 + 10'485'760 + 524'288) / (897 * kGib), 1e-18);
  narrow.width = 64;
  EXPECT_NEAR(cost_of(narrow, TableScheme::column_wise).forward.value(),
              1.15 * (655'360.0 + 20'971'520 + 2'097'152) / (897 * kGib), 1e-18);
}

TEST(TorchRecPlanner, SharesTheLookUpsOfRowWiseTables) {  // [PLAN-6]
  const Cost cost = cost_of(table(), TableScheme::row_wise);
  EXPECT_NEAR(cost.forward.value(), (40'960.0 + 2'621'440 + 4'194'304) / (897 * kGib), 1e-18);
  EXPECT_NEAR((cost.backward_calls - cost.forward_calls).value(), 2.455 * 4'194'304 / (897 * kGib),
              1e-18);
}

TEST(TorchRecPlanner, ScattersWithinNodesAndExchangesBetweenThem) {  // [PLAN-6]
  const Cost cost = cost_of(table(), TableScheme::table_row_wise);
  // Sums scattered within: 4,194,304 B at 600 GiB/s; between two nodes 512 · 2 · 128 · 4 B.
  EXPECT_NEAR(cost.forward_calls.value(), 4'194'304 / (600 * kGib) + 524'288 / (12.5 * kGib),
              1e-18);
  EXPECT_NEAR(cost.forward.value(), (2 * 40'960.0 + 2 * 2'621'440 + 4'194'304) / (897 * kGib),
              1e-18);
}

TEST(TorchRecPlanner, ReducesCopiedTablesWhole) {  // [PLAN-6]
  // 512,000 B; two nodes: (2·2 - 1)/2 = 1.5 times at 8 · 12.5 GiB/s, and 9.22 times through memory.
  Cost cost = cost_of(table(), TableScheme::data_parallel);
  EXPECT_NEAR(cost.backward_calls.value(),
              1.5 * 512'000 / (100 * kGib) + 9.22 * 512'000 / (897 * kGib), 1e-18);
  EXPECT_EQ(cost.forward_calls, Seconds(0));
  EXPECT_NEAR(cost.forward.value(), (40'960.0 + 2'621'440 + 262'144) / (897 * kGib), 1e-18);
  Table more = table();
  more.ranks = 32;  // beyond two nodes twice
  cost = cost_of(more, TableScheme::data_parallel);
  EXPECT_NEAR(cost.backward_calls.value(),
              3.0 * 512'000 / (100 * kGib) + 9.22 * 512'000 / (897 * kGib), 1e-18);
}

TEST(TorchRecPlanner, ReadsHostMemoryAndWeightsAtTheirRates) {  // [PLAN-6]
  Table other = table();
  const Seconds fused = cost_of(other, TableScheme::table_wise).forward;
  other.kernel = Kernel::dense;
  EXPECT_NEAR(cost_of(other, TableScheme::table_wise).forward / fused, 2, 1e-12);
  other.kernel = Kernel::uvm;
  EXPECT_NEAR(cost_of(other, TableScheme::table_wise).forward / fused, 897 / 3.2, 1e-9);
  other.kernel = Kernel::uvm_caching;
  EXPECT_NEAR(cost_of(other, TableScheme::table_wise).forward / fused,
              897 / ((0.2 * 897 + 0.8 * 32) / 10), 1e-9);
  other.kernel = Kernel::fused;
  other.weighted = true;
  EXPECT_NEAR(cost_of(other, TableScheme::table_wise).backward / fused, 3.1, 1e-12);
}

// Two unlike tables on two ranks: the heavier one's rank is the fullest.
TEST(TorchRecPlanner, TakesTheFullestRank) {  // [PLAN-6]
  EmbeddingBags bags{.tables = {{1000, 10}, {1000, 30}}, .width = 128};
  LayerSplit split;
  split.ep = 2;
  split.tables.scheme = TableScheme::table_wise;
  Table heavy{.batch = 512, .pooling = 30, .rows = 1000, .width = 128, .ranks = 2, .local = 2};
  EXPECT_NEAR(fullest_rank(bags, split, 512).value(),
              cost_of(heavy, TableScheme::table_wise).total().value(), 1e-15);
}

}  // namespace
}  // namespace headway::table_planner
