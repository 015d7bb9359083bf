#include "simulate/step/tasks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

using Needs = std::vector<TaskList::Index>;
constexpr StreamId kTp = stream_of(Group::tp);

double begin(const std::vector<PlacedTask>& placed, TaskList::Index at) {
  return placed[at].begin.value();
}
TEST(Tasks, BeginOnceTheirStreamIsFreeAndWhatTheyNeedIsDone) {  // [SIM-5]
  TaskList list;
  const auto first = list.add(kKernels, Part::compute, Seconds(2), Needs{}, "a");
  const auto call = list.add(kTp, Part::tp, Seconds(3), Needs{first}, "b");
  const auto beside = list.add(kKernels, Part::compute, Seconds(1), Needs{}, "c");
  const auto last = list.add(kKernels, Part::compute, Seconds(1), Needs{call}, "d");
  const auto placed = run_tasks(list, 0);
  EXPECT_DOUBLE_EQ(begin(placed, call), 2);
  EXPECT_DOUBLE_EQ(begin(placed, beside), 2);
  EXPECT_DOUBLE_EQ(begin(placed, last), 5);
  EXPECT_DOUBLE_EQ(end_of(placed).value(), 6);
  // The way: a, b, d. Nothing hides two of the three seconds of the call.
  const Parts critical = critical_parts(list, placed), exposed = exposed_parts(list, placed);
  EXPECT_DOUBLE_EQ(critical.compute.value(), 3);
  EXPECT_DOUBLE_EQ(critical.tp.value(), 3);
  EXPECT_DOUBLE_EQ(exposed.compute.value(), 4);
  EXPECT_DOUBLE_EQ(exposed.tp.value(), 2);
}

// A kernel of 4 s beside a call of 2 s loses a fifth of those: 2 x 0.2 more.
TEST(Tasks, OfKernelsAreSlowerWhileACallRuns) {  // [SIM-5]
  TaskList list;
  list.add(kTp, Part::tp, Seconds(2), Needs{}, "call");
  list.add(kHost, Part::other, Seconds(3), Needs{}, "host");  // slows nothing
  list.add(kKernels, Part::compute, Seconds(4), Needs{}, "kernel");
  EXPECT_DOUBLE_EQ(end_of(run_tasks(list, 0.2)).value(), 4.4);
}

RC_GTEST_PROP(Tasks, KeepTheirOrderAndNeedsAndTheirPartsAreAllOfTheTime, ()) {  // [SIM-6]
  TaskList list;
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  double kernels = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Needs needs;
    for (int n = *rc::gen::inRange(0, 3); i > 0 && n > 0; --n) {
      needs.push_back(static_cast<TaskList::Index>(*rc::gen::inRange<std::size_t>(0, i)));
    }
    const auto stream =
        *rc::gen::elementOf(std::vector<StreamId>{kKernels, kHost, kTp, stream_of(Group::dp)});
    const double work = *rc::gen::inRange(0, 100) / 10.0;
    if (stream == kKernels) kernels += work;
    list.add(stream, stream == kKernels ? Part::compute : Part::tp, Seconds(work), needs, "x");
  }
  Needs all;
  for (TaskList::Index i = 0; i < count; ++i) all.push_back(i);
  list.add(kKernels, Part::compute, Seconds(0), all, "end");
  const double slowed = *rc::gen::inRange(0, 50) / 100.0;
  const auto placed = run_tasks(list, slowed);
  std::array<double, kStreams> free{};
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const StreamTask& task = list.tasks()[i];
    RC_ASSERT(placed[i].begin.value() >= free[task.stream] - 1e-9);
    for (const TaskList::Index need : list.needs_of(task)) {
      RC_ASSERT(placed[i].begin.value() >= placed[need].end.value() - 1e-9);
    }
    const double takes = (placed[i].end - placed[i].begin).value();
    RC_ASSERT(takes >= task.work.value() - 1e-9);
    RC_ASSERT(takes <= task.work.value() / (1 - slowed) + 1e-9);
    free[task.stream] = placed[i].end.value();
  }
  const double time = end_of(placed).value();
  RC_ASSERT(time >= kernels - 1e-9);
  RC_ASSERT(std::abs(critical_parts(list, placed).total().value() - time) < 1e-9);
  RC_ASSERT(std::abs(exposed_parts(list, placed).total().value() - time) < 1e-9);
}

}  // namespace
}  // namespace headway
