#include "study/measured/change.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

struct MadeCall {
  std::uint32_t group = 0;
  Operation op = Operation::all_reduce;
  double bytes = 4096;
  double us = 10;
};

struct MadeGroup {
  std::string name;
  std::vector<std::int64_t> ranks;
};

// Ranks that make these calls in each of `steps` steps, one after the other. `late_us`: by how much
// the last rank comes later to each, which the others wait for.
RunRecording made(std::int64_t ranks, const std::vector<MadeGroup>& groups,
                  const std::vector<MadeCall>& calls, int steps, double late_us = 0,
                  std::int64_t first_rank = 0) {
  RunRecording out;
  out.files = {"made"};
  Recording& recording = out.recording;
  recording.format = "by hand";
  recording.marked_steps = steps;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto size = static_cast<std::int64_t>(groups[i].ranks.size());
    recording.groups.push_back({std::to_string(i), groups[i].name, size, groups[i].ranks});
  }
  for (std::int64_t rank = first_rank; rank < first_rank + ranks; ++rank) {
    const auto index = rank_index(recording, "rank " + std::to_string(rank), rank);
    const double late = rank + 1 == first_rank + ranks ? late_us : 0;
    double at = 0;
    std::vector<std::int64_t> sequence(groups.size());
    for (int step = 0; step < steps; ++step) {
      for (const MadeCall& made : calls) {
        const auto& members = groups[made.group].ranks;
        if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
        RecordedCall call;
        call.op = made.op;
        call.rank = index;
        call.group = made.group;
        call.bytes = Bytes(made.bytes);
        call.start_ns = std::llround((at + late) * 1e3);
        call.duration = Seconds((made.us + late_us - late) * 1e-6);
        call.time = TimeKind::kernel;
        call.sequence = sequence[made.group]++;
        recording.calls.push_back(call);
        at += made.us + late_us;
      }
    }
  }
  return out;
}

Change changed(RunRecording before, RunRecording after, double steps = 0) {
  auto change = change_between(change_run(std::move(before)), change_run(std::move(after)), steps);
  EXPECT_TRUE(change.ok());
  return std::move(change).value();
}

const std::vector<MadeGroup> kTwo = {{"all", {0, 1}}};

// [TRACE-10] Twice 4,096 B in 10 us each before, three times 8,192 B in 15 us each after.
TEST(Change, CallsBytesAndTimesAreOfOneRankInOneStep) {
  const Change change =
      changed(made(2, kTwo, {{}, {}}, 3), made(2, kTwo,
                                               {{0, Operation::all_reduce, 8192, 15},
                                                {0, Operation::all_reduce, 8192, 15},
                                                {0, Operation::all_reduce, 8192, 15}},
                                               5));
  EXPECT_EQ(change.per, Per::step);
  ASSERT_EQ(change.by_group.size(), 1U);
  const CallsChange& row = change.by_group[0];
  EXPECT_EQ(row.before.count, 2);
  EXPECT_EQ(row.after.count, 3);
  EXPECT_EQ(row.before.bytes, Bytes(2 * 4096));
  EXPECT_EQ(row.after.bytes, Bytes(3 * 8192));
  EXPECT_NEAR(row.before.time->value(), 20e-6, 1e-12);
  EXPECT_NEAR(row.after.time->value(), 45e-6, 1e-12);
  EXPECT_EQ(change.by_size.size(), 2U);  // each size is new or gone
  EXPECT_TRUE(change.notes.empty());
}

// The last of three ranks comes 6 us late to each of two calls: the two others wait 12 us a step,
// in the mean of three ranks 8 us.
TEST(Change, WaitingIsToldFromTransfer) {
  const std::vector<MadeGroup> three = {{"all", {0, 1, 2}}};
  const Change change = changed(made(3, three, {{}, {}}, 2), made(3, three, {{}, {}}, 4, 6));
  const CallsChange& row = change.by_group.at(0);
  EXPECT_NEAR(row.before.waiting->value(), 0, 1e-12);
  EXPECT_NEAR(row.after.waiting->value(), 8e-6, 1e-12);
  EXPECT_NEAR((*row.after.time - *row.after.waiting).value(), row.before.time->value(), 1e-12);
}

TEST(Change, GroupsAreTheSameByTheirRanksWhateverTheyAreCalled) {
  const std::vector<MadeGroup> before = {{"tp", {0, 1}}, {"dp", {0, 1, 2, 3}}};
  const std::vector<MadeGroup> after = {{"7", {3, 2, 1, 0}}, {"8", {1, 0}}};
  const Change change = changed(
      made(4, before, {{0}, {1, Operation::all_gather, 4096, 10}}, 1),
      made(4, after, {{1, Operation::all_reduce, 4096, 10}, {0, Operation::all_gather, 4096, 30}},
           1));
  ASSERT_EQ(change.by_group.size(), 2U);
  EXPECT_EQ(change.by_group[0].op, Operation::all_gather);  // changed most: stands first
  EXPECT_EQ(change.by_group[0].group_before, 1U);
  EXPECT_EQ(change.by_group[0].group_after, 0U);
  EXPECT_NEAR((*change.by_group[0].after.time - *change.by_group[0].before.time).value(), 20e-6,
              1e-12);
  EXPECT_EQ(change.by_group[1].before.time, change.by_group[1].after.time);
}

TEST(Change, RanksAndGroupsOfOneSideAreSaidAndLeftOut) {
  const Change change = changed(made(2, kTwo, {{}}, 1),
                                made(3, {{"all", {0, 1}}, {"more", {0, 1, 2}}}, {{}, {1}}, 1));
  EXPECT_EQ(change.ranks, (std::vector<std::string>{"rank 0", "rank 1"}));
  EXPECT_TRUE(change.before.only_ranks.empty());
  EXPECT_EQ(change.after.only_ranks, std::vector<std::string>{"rank 2"});
  EXPECT_EQ(change.after.only_groups, std::vector<std::uint32_t>{1});
  ASSERT_EQ(change.by_group.size(), 1U);
  EXPECT_EQ(change.by_group[0].before.count, change.by_group[0].after.count);
}

// [TRACE-10] [TRACE-13] Two calls of different sizes, of which 4 and 8 rounds are recorded.
TEST(Change, StepsThatNobodyMarksAreWhatIsRepeated) {
  const std::vector<MadeCall> round = {{}, {0, Operation::all_reduce, 8192, 15}};
  RunRecording before = made(2, kTwo, round, 4), after = made(2, kTwo, round, 8);
  before.recording.marked_steps = after.recording.marked_steps = 0;
  const Change change = changed(before, after);
  EXPECT_EQ(change.per, Per::step);
  EXPECT_EQ(change.before.steps, 4);
  EXPECT_EQ(change.after.steps, 8);
  EXPECT_EQ(change.by_group[0].before.count, 2);
  EXPECT_EQ(change.by_group[0].after.count, 2);
  EXPECT_EQ(change.notes.size(), 1U);
}

TEST(Change, WithoutStepsAmountsAreByTheSecondAndWithoutTimesOfTheWhole) {
  RunRecording before = made(2, kTwo, {{}}, 4), after = made(2, kTwo, {{}}, 8);
  before.recording.marked_steps = 0;
  const Change by_second = changed(before, after);
  EXPECT_EQ(by_second.per, Per::second);
  EXPECT_NEAR(by_second.by_group[0].before.count, 1 / 10e-6, 1);  // back to back, 10 us each
  EXPECT_NEAR(by_second.by_group[0].after.count, 1 / 10e-6, 1);
  EXPECT_EQ(by_second.notes.size(), 1U);
  for (RecordedCall& call : before.recording.calls) {
    call.start_ns.reset();
    call.duration.reset();
    call.time = TimeKind::none;
  }
  const Change whole = changed(before, after);
  EXPECT_EQ(whole.per, Per::recording);
  EXPECT_EQ(whole.by_group[0].before.count, 4);
  EXPECT_EQ(whole.by_group[0].after.count, 8);
  EXPECT_EQ(changed(before, after, 4).per, Per::step);
}

TEST(Change, SizesWithinAHundredthAreOne) {
  const Change change = changed(
      made(2, kTwo, {{0, Operation::all_reduce, 100'000, 10}}, 1),
      made(2, kTwo,
           {{0, Operation::all_reduce, 100'900, 10}, {0, Operation::all_reduce, 101'100, 10}}, 1));
  ASSERT_EQ(change.by_size.size(), 2U);  // 100,900 B is 0.9 % above, 101,100 B 1.1 %
  for (const CallsChange& row : change.by_size) {
    EXPECT_EQ(row.after.count, 1);
    EXPECT_EQ(row.before.count, row.size == Bytes(100'000) ? 1 : 0);
  }
}

TEST(Change, NothingInCommonIsRefusedWithTheReason) {
  const auto refused = [](RunRecording before, RunRecording after) {
    const auto change = change_between(change_run(std::move(before)), change_run(std::move(after)));
    return change.ok() ? std::string() : change.problems().front().message;
  };
  EXPECT_EQ(refused(made(2, kTwo, {{}}, 1), made(4, {{"all", {0, 1, 2, 3}}}, {{}}, 1)),
            "nothing to compare: no group of the first (groups of 2 ranks) has the ranks of one of "
            "the second (groups of 4 ranks); name two recordings of one program on the same ranks");
  EXPECT_EQ(refused(made(2, kTwo, {{}}, 1), made(2, kTwo, {}, 1)),
            "nothing to compare: the second recording holds no calls");
}

std::vector<MadeCall> drawn_calls() {
  std::vector<MadeCall> calls(*rc::gen::inRange<std::size_t>(1, 8));
  for (MadeCall& call : calls) {
    call.group = *rc::gen::inRange<std::uint32_t>(0, 2);
    call.op =
        *rc::gen::element(Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter);
    call.bytes = 1024 * *rc::gen::inRange(1, 5000);
    call.us = *rc::gen::inRange(1, 500);
  }
  return calls;
}

const std::vector<MadeGroup> kDrawnGroups = {{"tp", {0, 1}}, {"dp", {0, 1, 2, 3}}};

RC_GTEST_PROP(Change, LengthOfARecordingChangesNothing, ()) {
  const auto calls = drawn_calls();
  const double late = *rc::gen::inRange(0, 50);
  const Change change = changed(made(4, kDrawnGroups, calls, *rc::gen::inRange(1, 5), late),
                                made(4, kDrawnGroups, calls, *rc::gen::inRange(1, 5), late));
  for (const auto* rows : {&change.by_group, &change.by_size}) {
    for (const CallsChange& row : *rows) {
      RC_ASSERT(std::abs(row.before.count - row.after.count) < 1e-9);
      RC_ASSERT(std::abs(*row.before.bytes / *row.after.bytes - 1) < 1e-9);
      RC_ASSERT(std::abs(*row.before.time / *row.after.time - 1) < 1e-9);
      RC_ASSERT(std::abs((*row.before.waiting - *row.after.waiting).value()) < 1e-12);
    }
  }
}

RC_GTEST_PROP(Change, RowsOfGroupsAndOfSizesAddUpToTheWholeAndTheMostChangedIsFirst, ()) {
  auto calls = drawn_calls(), more = drawn_calls();
  calls.push_back({1});  // something in common
  more.push_back({1});
  const Change change = changed(made(4, kDrawnGroups, calls, 2),
                                made(4, kDrawnGroups, more, 2, *rc::gen::inRange(0, 9)));
  for (const auto* rows : {&change.by_group, &change.by_size}) {
    double before = 0, after = 0, last = 1e9;
    for (const CallsChange& row : *rows) {
      const double a = row.before.time.value_or(Seconds()).value();
      const double b = row.after.time.value_or(Seconds()).value();
      before += a;
      after += b;
      RC_ASSERT(std::abs(b - a) <= last);
      last = std::abs(b - a);
    }
    RC_ASSERT(std::abs(before - change.whole_before.time->value()) < 1e-9);
    RC_ASSERT(std::abs(after - change.whole_after.time->value()) < 1e-9);
  }
}

}  // namespace
}  // namespace headway
