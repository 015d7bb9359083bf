// How the time of a call is told from waiting for others.
#include "study/reconcile/times.hpp"

#include <map>

#include "study/reconcile/plain_case_for_test.hpp"

namespace headway {
namespace {

using testing::Case;
using testing::different;
using testing::GroupsTold;
using testing::judged;
using testing::plain_case;
using testing::recording_of;

TEST(ReconciledTimes, ARankThatArrivesLateIsNamedWithWhatItCosts) {
  const Case c = plain_case(8);
  std::vector<std::int64_t> ranks(8);
  for (std::int64_t i = 0; i < 8; ++i) ranks[static_cast<std::size_t>(i)] = i;
  Recording recording = recording_of(c, ranks, 1, GroupsTold::by_name);
  // [REC-5] Rank 5 comes 10 ms late to every call: the kernels of the others last that much longer.
  std::size_t calls_of_a_rank = 0;
  for (RecordedCall& call : recording.calls) {
    if (call.rank != 5) *call.duration += Seconds(0.010);
    calls_of_a_rank += call.rank == 5 ? 1 : 0;
  }
  const Reconciliation all = reconcile(recording, c, c.calibration, 1);
  EXPECT_EQ(different(all), 0u);
  const Verdict verdict = verdict_of(all, recording, c.cluster);
  ASSERT_EQ(verdict.findings.size(), 1u) << verdict.line;
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.kind, FindingKind::waiting);
  ASSERT_EQ(finding.ranks.size(), 1u);
  EXPECT_EQ(recording.ranks[finding.ranks.front()].number, 5);
  // Seven of eight ranks wait 10 ms in every call.
  EXPECT_NEAR(finding.lost->value(), 0.010 * static_cast<double>(calls_of_a_rank) * 7 / 8, 1e-6);
  EXPECT_TRUE(verdict.line.starts_with("rank 5 arrives late")) << verdict.line;
}

TEST(ReconciledTimes, OnTheHostTooTheLastRanksTimeIsTheTransfer) {
  const Case c = plain_case(2);
  Recording recording = recording_of(c, {0, 1}, 1, GroupsTold::by_ranks);
  const Seconds expected = reconcile(recording, c, c.calibration, 1).transfer;
  for (RecordedCall& call : recording.calls) {
    call.time = TimeKind::host;
    call.own_time = true;
    if (call.rank == 0) call.duration = *call.duration + Seconds(3e-3);
  }
  const Reconciliation all = reconcile(recording, c, c.calibration, 1);
  EXPECT_NEAR(all.transfer / expected, 1, 1e-9);
  EXPECT_GT(all.waiting, Seconds(1.4e-3));  // the mean of the two
  ASSERT_EQ(all.late.size(), 1u);
  EXPECT_EQ(recording.ranks[all.late[0].rank].number, 1);
  // Done when the program looked: who was late is not in it, and recording more ranks says no more.
  for (RecordedCall& call : recording.calls) call.own_time = false;
  const std::vector<RecordedCall> once = recording.calls;
  for (int i = 0; i < 4; ++i) {
    for (RecordedCall call : once) {
      call.duration = *call.duration + Seconds(i * 1e-3);
      recording.calls.push_back(call);
    }
  }
  const std::string said = judged(recording, c, 5).findings.front().text;
  EXPECT_NE(said.find("do not tell who is late"), std::string::npos) << said;
}

// [LIVE-5] The receives stand ready 2 ms before the sends, which return at once: neither is the
// transfer, which is what is left of the receive.
TEST(ReconciledTimes, AMessageOnTheHostTakesFromWhenBothEndsWereThere) {
  Case c = plain_case(1);
  c.layout.pp = 2;
  c.job.global_batch = 4;
  ASSERT_TRUE(c.legal());
  Recording recording = recording_of(c, {0, 1}, 1, GroupsTold::by_ranks);
  // One to the next stage, one back.
  std::map<std::uint32_t, std::int64_t> made;
  for (RecordedCall& call : recording.calls) {
    if (call.op != Operation::send_receive) continue;
    const std::int64_t number = made[call.rank]++;
    const bool sends = number % 2 == static_cast<std::int64_t>(call.rank);
    call.op = sends ? Operation::send : Operation::receive;
    call.time = TimeKind::host;
    call.own_time = true;
    call.peer = 1 - static_cast<std::int64_t>(call.rank);
    call.start_ns = number * 10'000'000 + (sends ? 2'000'000 : 0);
    call.duration = Seconds(sends ? 1e-6 : 2e-3 + 1e-4);
  }
  ASSERT_EQ(made.size(), 2u);
  const Reconciliation all = reconcile(recording, c, c.calibration, 1);
  bool found = false;
  for (const ReconciledRow& row : all.rows) {
    if (row.measured_op != Operation::send_receive || !(row.timed_count > 0)) continue;
    found = true;
    EXPECT_EQ(row.transfer_kind, TransferKind::aligned);
    EXPECT_NEAR(row.transfer.value() / row.timed_count, 1e-4, 1e-9);
  }
  EXPECT_TRUE(found);
  // A send that waits for its receive is 2 ms longer than it.
  for (RecordedCall& call : recording.calls) {
    if (call.op != Operation::send && call.op != Operation::receive) continue;
    const bool sends = call.op == Operation::send;
    *call.start_ns += sends ? -2'000'000 : 2'000'000;
    call.duration = Seconds(sends ? 2e-3 + 1e-4 : 1e-4);
  }
  std::string said;
  for (const Finding& finding : judged(recording, c, 1).findings) said += finding.text + "\n";
  EXPECT_NE(said.find("a step for messages"), std::string::npos) << said;
}

}  // namespace
}  // namespace headway
