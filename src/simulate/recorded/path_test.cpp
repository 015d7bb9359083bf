#include "simulate/recorded/path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// Each rank computes its `work` (us) of a round, then all sum in 10 us.
Recording rounds_of(const std::vector<std::vector<double>>& work) {
  Recording out;
  const auto ranks = static_cast<std::int64_t>(work.front().size());
  out.groups.push_back({"0", "all", ranks, {}});
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    rank_index(out, "rank " + std::to_string(rank), rank);
    out.groups[0].ranks.push_back(rank);
  }
  double begin = 0;
  for (std::size_t round = 0; round < work.size(); ++round) {
    const double longest = *std::max_element(work[round].begin(), work[round].end());
    for (std::uint32_t rank = 0; rank < work[round].size(); ++rank) {
      const double own = work[round][rank];
      out.compute.push_back({rank, 7, std::llround(begin * 1e3), std::llround(own * 1e3)});
      RecordedCall call;
      call.op = Operation::all_reduce;
      call.rank = rank;
      call.group = 0;
      call.bytes = Bytes(4096);
      call.start_ns = std::llround((begin + own) * 1e3);
      call.duration = Seconds((longest - own + 10) * 1e-6);
      call.time = TimeKind::kernel;
      call.stream = 20;
      call.sequence = static_cast<std::int64_t>(round);
      out.calls.push_back(call);
    }
    begin += longest + 10;
  }
  return out;
}

// [SIM-65] Round by round the way leads over the rank that works longest: 50 of rank 1, 40 of rank
// 0, and two transfers.
TEST(RecordedPath, LeadsOverWhoeverTheOthersWaitFor) {
  const auto path = path_of(rounds_of({{30, 50}, {40, 20}}));
  ASSERT_TRUE(path.ok());
  EXPECT_NEAR(path->time.value(), 110e-6, 1e-9);
  double compute[2] = {0, 0}, transfer = 0;
  for (const PathPart& part : path->parts) {
    if (part.kind == PathKind::compute) compute[part.rank] += part.time.value();
    if (part.kind == PathKind::transfer) transfer += part.time.value();
  }
  EXPECT_NEAR(compute[0], 40e-6, 1e-9);
  EXPECT_NEAR(compute[1], 50e-6, 1e-9);
  EXPECT_NEAR(transfer, 20e-6, 1e-9);
  EXPECT_GE(path->changes, 1);
}

// The kernels of 50 of rank 1 and of 40 of rank 0, in any order, and of each round the call of
// whoever came last.
TEST(RecordedPath, NamesTheKernelsAndCallsThatLieOnIt) {
  const Recording recording = rounds_of({{30, 50}, {40, 20}});
  const auto path = path_of(recording);
  ASSERT_TRUE(path.ok());
  std::vector<std::int64_t> took;
  for (const std::size_t kernel : path->kernels) {
    took.push_back(recording.compute[kernel].duration_ns);
  }
  std::sort(took.begin(), took.end());
  EXPECT_EQ(took, (std::vector<std::int64_t>{40'000, 50'000}));
  const auto holds = [&](std::uint32_t rank, std::int64_t round) {
    return std::any_of(path->calls.begin(), path->calls.end(), [&](std::size_t call) {
      return recording.calls[call].rank == rank && recording.calls[call].sequence == round;
    });
  };
  EXPECT_TRUE(holds(1, 0));
  EXPECT_TRUE(holds(0, 1));
}

RC_GTEST_PROP(RecordedPath, ItsPartsSumToTheTimeAndItsComputeToTheLongestOfEachRound, ()) {
  std::vector<std::vector<double>> work(*rc::gen::inRange<std::size_t>(1, 6));
  double longest = 0;
  for (auto& round : work) {
    for (int rank = 0; rank < 4; ++rank) round.push_back(*rc::gen::inRange(1, 100));
    longest += *std::max_element(round.begin(), round.end());
  }
  const auto path = path_of(rounds_of(work));
  RC_ASSERT(path.ok());
  double all = 0, compute = 0;
  for (const PathPart& part : path->parts) {
    all += part.time.value();
    compute += part.kind == PathKind::compute ? part.time.value() : 0;
  }
  RC_ASSERT(std::abs(all - path->time.value()) < 1e-9);
  RC_ASSERT(std::abs(compute - longest * 1e-6) < 1e-9);
}

}  // namespace
}  // namespace headway
