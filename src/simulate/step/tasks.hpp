// Work on streams: the events of one rank between two points at which all of it is done. Internal
// to src/simulate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "forecast/parts.hpp"
#include "step/program/call.hpp"

namespace headway {

/// The streams of a rank: kernels, what the host does, the calls of each group.
using StreamId = std::uint8_t;
constexpr StreamId kKernels = 0, kHost = 1;
constexpr StreamId stream_of(Group group) {
  return static_cast<StreamId>(2 + static_cast<std::size_t>(group));
}
constexpr std::size_t kStreams = 2 + kGroups.size();
constexpr bool is_of_calls(StreamId stream) {
  return stream > kHost;
}
/// "kernels", "host", "tp" ...
std::string_view stream_name(StreamId stream);

/// What is called in a task: `count` times, each with so many bytes as Call::bytes has them.
struct TaskCall {
  CollectiveOp op = CollectiveOp::all_reduce;
  Group group{};
  Bytes bytes;
  double count = 1;
  double choices = 1;  // as Call::choices has them
  Precision dtype = Precision::bf16;
  friend bool operator==(const TaskCall&, const TaskCall&) = default;
};
inline TaskCall task_call(const Call& call, double count) {
  return {call.op, call.group, call.bytes, count, call.choices, call.dtype};
}

/// `batch` products of m x k by k x n, as Matmul has them; batch 0: it is none.
struct TaskProduct {
  std::int64_t m = 0, n = 0, k = 0, batch = 0;
  friend bool operator==(const TaskProduct&, const TaskProduct&) = default;
};

/// Something that takes a stream for a time, once what it needs is done. Tasks of a stream run in
/// the order in which they were added.
struct StreamTask {
  StreamId stream = kKernels;
  Part part = Part::compute;  // of the step, that its time is where nothing hides it
  Seconds work;
  std::uint32_t needs_begin = 0, needs_end = 0;  // among the list's needs
  std::uint32_t name = 0;                        // among the list's names
  std::uint32_t call = 0;                        // among its calls, from 1 on; 0: it is none
  std::uint32_t product = 0;                     // among its products, likewise
  bool attends = false;  // the core of attention: it follows the lengths of the sequences
  bool beyond = false;   // a call for the slot behind this one, or of the one before it
};

/// Tasks with what they need: others that were added before them.
class TaskList {
 public:
  using Index = std::uint32_t;

  Index add(StreamId stream, Part part, Seconds work, std::span<const Index> needs,
            std::string_view name, const std::optional<TaskCall>& call = std::nullopt);
  void attends(Index task) { tasks_[task].attends = true; }
  void multiplies(Index task, const TaskProduct& product);
  void is_beyond(Index task) { tasks_[task].beyond = true; }
  std::span<const StreamTask> tasks() const { return tasks_; }
  std::span<const Index> needs_of(const StreamTask& task) const {
    return std::span(needs_).subspan(task.needs_begin, task.needs_end - task.needs_begin);
  }
  const std::string& name_of(const StreamTask& task) const { return names_[task.name]; }
  /// Null: no call.
  const TaskCall* call_of(const StreamTask& task) const {
    return task.call == 0 ? nullptr : &calls_[task.call - 1];
  }
  /// Null: no product.
  const TaskProduct* product_of(const StreamTask& task) const {
    return task.product == 0 ? nullptr : &products_[task.product - 1];
  }

 private:
  std::vector<StreamTask> tasks_;
  std::vector<Index> needs_;
  std::vector<std::string> names_;  // each once
  std::vector<TaskCall> calls_;     // each once
  std::vector<TaskProduct> products_;
};

/// A task placed in time, and the one whose end it waited for (itself: it began at once).
struct PlacedTask {
  Seconds begin, end;
  TaskList::Index cause = 0;
};

/// [SIM-36] A link that is down for the first part of each period, whose place `phase` moves.
struct Outages {
  Seconds period, down, phase;

  /// How long it stays as it is at that time, and whether it is down.
  struct State {
    bool is_down = false;
    Seconds left;
  };
  State at(Seconds time) const;
  /// When so much transfer that begins then is done.
  Seconds through(Seconds begin, Seconds work) const;
};

/// How a rank runs tasks otherwise than they are listed.
struct TaskPace {
  double kernels = 1, attention = 1;  // what each takes, of what is listed
  const Outages* outages = nullptr;   // of the network; null: none
  std::uint32_t over_network = 0;     // the streams whose calls cross it, a bit each
  Seconds begin{};                    // of the first task, on the clock of the outages
  bool is_usual() const { return kernels == 1 && attention == 1 && outages == nullptr; }
};

/// [SIM-5] Every task as soon as its stream is free and what it needs is done. While a call runs
/// beside it a kernel is slower: it loses `interference` of the time.
std::vector<PlacedTask> run_tasks(const TaskList& list, double interference,
                                  const TaskPace& pace = {});

/// When the last of them ends.
Seconds end_of(std::span<const PlacedTask> placed);

/// [SIM-6] From the task that ends last back to the first, each with what it waited for behind it.
std::vector<TaskList::Index> critical_tasks(std::span<const PlacedTask> placed);
/// Seconds of each part on the way that leads to the last end. They sum to that end.
Parts critical_parts(const TaskList& list, std::span<const PlacedTask> placed);
/// The same of what nothing hides: kernels while they run, else what the next kernel waits for. The
/// last task is one of kernels.
Parts exposed_parts(const TaskList& list, std::span<const PlacedTask> placed);

}  // namespace headway
