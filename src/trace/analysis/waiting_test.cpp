#include "trace/analysis/waiting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trace/analysis/call_table.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

Recording world_of(std::uint32_t ranks) {
  Recording recording;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    recording.ranks.push_back({rank, "rank " + std::to_string(rank), ranks});
  }
  return recording;
}

// One collective that ends at `end_us` everywhere; each rank comes as long before as it says.
void add_collective(Recording& recording, Operation op, std::optional<std::uint32_t> group,
                    std::int64_t end_us, const std::vector<std::int64_t>& kernels_us,
                    std::optional<Bytes> bytes) {
  for (std::uint32_t rank = 0; rank < kernels_us.size(); ++rank) {
    RecordedCall call;
    call.op = op;
    call.rank = rank;
    call.group = group;
    call.bytes = bytes;
    call.start_ns = 1000 * (end_us - kernels_us[rank]);
    call.duration = Seconds(static_cast<double>(kernels_us[rank]) * 1e-6);
    call.time = TimeKind::kernel;
    recording.calls.push_back(call);
  }
}

// ---- [TRACE-5] waiting by operation ----

TEST(WaitingTable, SumsOfTwoCollectivesByHand) {
  Recording recording = world_of(3);
  recording.groups = {{"0", "world", 3, {}, true}};
  add_collective(recording, Operation::all_reduce, 0, 100, {30, 10, 20}, std::nullopt);
  add_collective(recording, Operation::all_reduce, 0, 300, {50, 20, 60}, std::nullopt);
  const auto rows = waiting_table(recording, align(recording));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].collectives, 2);
  EXPECT_EQ(rows[0].incomplete, 0);
  EXPECT_EQ(rows[0].kernels, 6);
  EXPECT_NEAR(rows[0].transfer.value(), 30e-6, 1e-12);      // 10 + 20
  EXPECT_NEAR(rows[0].kernel_time.value(), 190e-6, 1e-12);  // 60 + 130
  EXPECT_NEAR(rows[0].waiting.value(), 100e-6, 1e-12);      // 190 - 3 * 30
  EXPECT_NEAR(rows[0].longest.value(), 40e-6, 1e-12);       // 60 - 20
  EXPECT_NEAR(rows[0].waiting_share(), 100.0 / 190, 1e-12);
  EXPECT_EQ(rows[0].last_rank, 1u);
  EXPECT_EQ(rows[0].times_last, 2);
}

RC_GTEST_PROP(WaitingTable, KernelTimeIsWaitingAndTheTransferOfEveryRank, ()) {
  Recording recording = world_of(4);
  recording.groups = {{"0", "world", 4, {}, true}};
  const int collectives = *rc::gen::inRange(1, 6);
  for (int i = 0; i < collectives; ++i) {
    const auto kernels =
        *rc::gen::container<std::vector<std::int64_t>>(4, rc::gen::inRange<std::int64_t>(1, 900));
    add_collective(recording, Operation::all_gather, 0, 1000 * (i + 1), kernels, Bytes(8));
  }
  const auto rows = waiting_table(recording, align(recording));
  RC_ASSERT(rows.size() == 1u);
  RC_ASSERT(rows[0].collectives == collectives);
  const double sum = (rows[0].waiting + 4 * rows[0].transfer).value();
  RC_ASSERT(std::abs(sum - rows[0].kernel_time.value()) < 1e-9);
}

// ---- [TRACE-6] busbw of the transfer alone ----

// 1 GB over 4 ranks: a ring sends 2 * 3/4 GB; the last rank's kernel takes 10 ms, so 150 GB/s,
// whatever the others waited.
TEST(WaitingTable, TheTransfersBusbwHoldsNoWaiting) {
  for (const std::int64_t wait : {0, 5'000, 90'000}) {
    Recording recording = world_of(4);
    recording.groups = {{"0", "world", 4, {}, true}};
    add_collective(recording, Operation::all_reduce, 0, 200'000,
                   {10'000 + wait, 10'000, 10'000 + wait, 10'000}, Bytes(1e9));
    const auto rows = waiting_table(recording, align(recording));
    EXPECT_NEAR(rows.at(0).bus_bandwidth->value(), 150e9, 1) << wait;
  }
}

TEST(WaitingTable, WithoutSizesThereIsNoBusbw) {
  Recording recording = world_of(2);
  add_collective(recording, Operation::all_reduce, std::nullopt, 200, {10, 20}, std::nullopt);
  EXPECT_FALSE(waiting_table(recording, align(recording)).at(0).bus_bandwidth);
}

TEST(WaitingTable, GroupsOfOneNameAndSizeAreOneRow) {
  Recording recording = world_of(2);
  recording.groups = {{"3", "tp", 2, {}, true}, {"4", "tp", 2, {}, true}, {"5", "dp", 2, {}, true}};
  for (const std::uint32_t group : {0u, 1u, 2u}) {
    add_collective(recording, Operation::all_reduce, group, 100 * (group + 1), {10, 20}, Bytes(4));
  }
  const auto alike = alike_groups(recording);
  EXPECT_EQ(alike, (std::vector<std::uint32_t>{0, 0, 2}));
  EXPECT_EQ(waiting_table(recording, align(recording)).size(), 3u);
  const auto rows = waiting_table(recording, align(recording), alike);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].collectives, 2);
  const auto calls = call_table(recording, alike);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].count, 4);
  EXPECT_EQ(calls[0].callers, 2);
}

// ---- [TRACE-7] calls that all ranks made together ----

TEST(WholeGroup, CallsOfAllRanksGetTheirSizeFromTheMatch) {
  Recording recording = world_of(4);
  leave_unsaid(recording, kCallsWithoutGroup, 4);
  add_collective(recording, Operation::all_reduce, std::nullopt, 200, {10, 20, 30, 15}, Bytes(800));
  EXPECT_FALSE(wire_bytes(recording, recording.calls[0]));
  EXPECT_EQ(name_whole_group(recording, align(recording)), 4);
  EXPECT_EQ(group_size(recording, recording.calls[3]), 4);
  EXPECT_EQ(wire_bytes(recording, recording.calls[0]), Bytes(1200));  // 2 * 3/4 * 800
  EXPECT_TRUE(recording.omissions.empty());
}

TEST(WholeGroup, WhereARankIsMissingNothingIsConcluded) {
  Recording recording = world_of(3);
  for (RecordedRank& rank : recording.ranks) rank.world_size = 4;
  leave_unsaid(recording, kCallsWithoutGroup, 3);
  add_collective(recording, Operation::all_reduce, std::nullopt, 200, {10, 20, 30}, Bytes(800));
  EXPECT_EQ(name_whole_group(recording, align(recording)), 0);
  EXPECT_FALSE(recording.calls[0].group);
  EXPECT_EQ(omitted(recording, kCallsWithoutGroup), 3);
}

}  // namespace
}  // namespace headway
