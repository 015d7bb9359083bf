// The recorder of NCCL before a stand-in for NCCL and CUDA (stub/): what is in the files is what
// the program's source says (stub/program_for_test.cpp), the library is given the same arguments
// with and without, and nothing waits for the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "programs_for_test.hpp"
#include "trace/analysis/steps.hpp"

namespace headway {
namespace {

TEST_P(NcclRecorder, EveryCallHasTheBytesOfTheWholeTensor) {
  const Recording recording = recorded("collectives");
  ASSERT_EQ(recording.ranks.size(), 4u);
  // 1,000 elements, a part each of four ranks where NCCL counts parts.
  const Tally expected = {
      {{Operation::all_reduce, 4000}, 1},
      {{Operation::all_gather, 16'000}, 1},
      {{Operation::reduce_scatter, 8000}, 1},
      {{Operation::broadcast, 4000}, 1},
      {{Operation::broadcast, 2000}, 1},
      {{Operation::reduce, 8000}, 1},
      {{Operation::all_to_all, 16'000}, 1},
      {{Operation::gather, 16'000}, 1},
      {{Operation::scatter, 16'000}, 1},
      {{Operation::all_reduce, 1000}, 1},
      {{Operation::all_gather, 4000}, 1},
      {{Operation::all_to_all, 160}, 1},
      {{Operation::all_to_all, 40}, 1},
      {{Operation::send, 400}, 1},
      {{Operation::send, 0}, 1},
      {{Operation::other, 0}, 1},
      {{Operation::all_reduce, 40}, 1},
  };
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(tally(recording, rank, "world"), expected);
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
  std::map<Operation, std::set<std::int64_t>> roots;
  for (const RecordedCall& call : recording.calls) {
    EXPECT_EQ(call.time, TimeKind::kernel) << to_name(call.op);
    if (call.peer) roots[call.op].insert(*call.peer);
    if (call.op == Operation::reduce) {
      EXPECT_EQ(call.type, ElementType::int64);
    }
    if (call.op == Operation::reduce_scatter) {
      EXPECT_EQ(call.type, ElementType::bf16);
    }
    const std::int64_t rank = *recording.ranks[call.rank].number;
    if (call.op == Operation::send) {
      EXPECT_EQ(call.peer, (rank + 1) % 4);
    }
  }
  EXPECT_EQ(roots[Operation::broadcast], (std::set<std::int64_t>{1, 2}));
  EXPECT_EQ(roots[Operation::reduce], (std::set<std::int64_t>{3}));
  EXPECT_EQ(lost(recording), 0);
}

// [RECORD-5] The stand-in knows when the device began with each call and how long it took; calls of
// one group on one stream ran as one, whose time is there once.
TEST_P(NcclRecorder, TimesAreThoseOfTheDeviceAndLieWhereItHadThem) {
  const Recording recording = recorded("collectives", "", 1);
  std::vector<std::pair<std::int64_t, double>> truth;
  std::istringstream lines(ended_.truth[0]);
  std::string function;
  long long begin = 0, ns = 0;
  while (lines >> function >> begin >> ns) truth.push_back({begin, static_cast<double>(ns)});
  ASSERT_EQ(truth.size(), recording.calls.size());
  std::vector<RecordedCall> calls = recording.calls;
  std::sort(calls.begin(), calls.end(),
            [](const auto& a, const auto& b) { return *a.start_ns < *b.start_ns; });
  std::vector<double> apart;
  double excess = 1e9;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    // Between the events lies besides what the host takes to put the call there: never less.
    const double more = calls[i].duration->value() * 1e9 - truth[i].second;
    EXPECT_GE(more, -truth[i].second * 1e-3 - 2) << i;
    excess = std::min(excess, more);
    apart.push_back(std::abs(static_cast<double>(*calls[i].start_ns - truth[i].first)));
  }
  EXPECT_LT(excess, 1000);  // ns: of a call behind another one
  std::sort(apart.begin(), apart.end());
  EXPECT_LT(apart[apart.size() / 2], 50'000);  // ns, on a busy machine
}

// [RECORD-8] The program: five times 2 ms of work on the device, an all-reduce of 40 bytes more
// each time and an all-gather; a mark before each time but the first.
TEST_P(NcclRecorder, ACallIsOfTheStepInWhichItWasAskedForHoweverLateTheDeviceComesToIt) {
  const Recording recording = recorded("ahead", "", 2);
  const RecordedSteps steps = steps_of(recording);
  ASSERT_EQ(steps.ranges.size(), 8u);
  for (const StepRange& range : steps.ranges) {
    Recording part = recording;
    ASSERT_TRUE(keep_steps(part, steps, range.number, range.number));
    ASSERT_EQ(part.calls.size(), 4u);  // of two ranks
    for (const RecordedCall& call : part.calls) {
      if (call.op != Operation::all_reduce) continue;
      EXPECT_DOUBLE_EQ(call.bytes->value(), 40.0 * static_cast<double>(range.number + 2));
    }
    // From the device's first call of a step to that of the next.
    if (range.number < 3) {
      EXPECT_NEAR(static_cast<double>(range.end_ns - range.begin_ns), 2.1e6, 0.4e6);
    }
  }
}

TEST_P(NcclRecorder, WithoutTimesOfTheDeviceThoseOfPuttingACallThereStay) {
  const Recording recording = recorded("collectives", "--device-times off", 1);
  ASSERT_EQ(recording.calls.size(), 17u);
  for (const RecordedCall& call : recording.calls) EXPECT_EQ(call.time, TimeKind::enqueue);
}

TEST_P(NcclRecorder, ATrainerHasItsGroupsStepsAndWhatRanAsOne) {
  const Recording recording = recorded("trainer");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(tally(recording, rank, "world"),
              (Tally{{{Operation::send, 12'000}, 4}, {{Operation::receive, 12'000}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 2"), (Tally{{{Operation::all_reduce, 1000}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 2 #2"), (Tally{{{Operation::all_reduce, 400}, 4}}));
    EXPECT_EQ(tally(recording, rank, "by 1"),
              rank == 3 ? Tally() : (Tally{{{Operation::broadcast, 100}, 1}}));
  }
  std::multiset<std::vector<std::int64_t>> groups;
  for (const RecordedGroup& group : recording.groups) groups.insert(group.ranks);
  EXPECT_EQ(groups, (std::multiset<std::vector<std::int64_t>>{
                        {0, 1, 2, 3}, {0, 2}, {0, 2}, {1, 3}, {1, 3}, {0, 1, 2}}));
  EXPECT_EQ(recording.marked_steps, 4);
  // A send and a receive of 12,000 bytes each ran in one kernel, of which each has half: of 20 us
  // and 24,000 bytes of 1 ns each, and what the host took to put them there.
  std::map<std::uint32_t, std::vector<RecordedCall>> messages;
  for (const RecordedCall& call : recording.calls) {
    if (call.op == Operation::send || call.op == Operation::receive) {
      messages[call.rank].push_back(call);
    }
  }
  for (const auto& [rank, calls] : messages) {
    ASSERT_EQ(calls.size(), 8u);
    for (std::size_t i = 0; i < 8; i += 2) {
      const RecordedCall &send = calls[i], &receive = calls[i + 1];
      EXPECT_GE(send.duration->value(), 0.999 * 22e-6);
      EXPECT_NEAR(receive.duration->value(), send.duration->value(), 1e-9);
      EXPECT_NEAR(static_cast<double>(*receive.start_ns - *send.start_ns) * 1e-9,
                  send.duration->value(), 2e-9);
    }
  }
}

TEST_P(NcclRecorder, CallsPutIntoAGraphHaveNoTimeAndThatIsSaid) {
  const Recording recording = recorded("captured", "", 1);
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const RecordedCall& call : recording.calls) {
    const bool free = call.op == Operation::broadcast || call.bytes == Bytes(40);
    EXPECT_EQ(call.time, free ? TimeKind::kernel : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 2);
}

TEST_P(NcclRecorder, CallsPutIntoAGraphAreKnownWithoutTimesOfTheDeviceToo) {
  const Recording recording = recorded("captured", "--device-times off", 1);
  ASSERT_EQ(recording.calls.size(), 4u);
  for (const RecordedCall& call : recording.calls) {
    const bool alone = call.bytes == Bytes(40);  // of those of a group nobody knows the time
    EXPECT_EQ(call.time, alone ? TimeKind::enqueue : TimeKind::none) << to_name(call.op);
  }
  EXPECT_EQ(times_said(recording, "how often they run"), 2);
}

TEST_P(NcclRecorder, AProcessWithFourDevicesIsFourRanks) {
  // Launched as one process, of which the launcher says that it is rank 0 of 1.
  const Recording recording = recorded("several", "", 1);
  ASSERT_EQ(recording.ranks.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    Tally expected = {{{Operation::all_gather, 1600}, 3}};
    if (rank == 1) expected[{Operation::send, 308}] = 1;
    EXPECT_EQ(tally(recording, rank), expected) << rank;
  }
  ASSERT_EQ(recording.groups.size(), 1u);
  EXPECT_EQ(recording.groups[0].ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

// [RECORD-4] Four devices each, of eight ranks: what one process makes alone is none of the
// other's.
TEST_P(NcclRecorder, CommunicatorsOfAProcessAloneAreGroupsOfTheirOwn) {
  const Recording recording = recorded("several", "", 2, "WORLD_SIZE=8");
  EXPECT_EQ(recording.ranks.size(), 8u);
  ASSERT_EQ(recording.groups.size(), 2u);
  EXPECT_NE(recording.groups[0].id, recording.groups[1].id);
  std::map<std::uint32_t, std::set<std::uint32_t>> ranks;  // that called, by group
  for (const RecordedCall& call : recording.calls) ranks[call.group.value()].insert(call.rank);
  EXPECT_EQ(ranks[0].size(), 4u);
  EXPECT_EQ(ranks[1].size(), 4u);
}

// Of the tests of all files.
std::string program_name(const ::testing::TestParamInfo<const char*>& of) {
  constexpr const char* names[] = {"linked", "loaded", "rccl"};
  return names[of.index];
}

INSTANTIATE_TEST_SUITE_P(Program, NcclRecorder,
                         ::testing::Values(HEADWAY_NCCL_LINKED, HEADWAY_NCCL_LOADED,
                                           HEADWAY_RCCL_LINKED),
                         program_name);

}  // namespace
}  // namespace headway
