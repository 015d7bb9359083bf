#include "simulate/step/tasks.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace headway {

std::string_view stream_name(StreamId stream) {
  if (stream == kKernels) return "kernels";
  if (stream == kHost) return "host";
  return kGroups[stream - std::size_t{2}].name;
}

TaskList::Index TaskList::add(StreamId stream, Part part, Seconds work,
                              std::span<const Index> needs, std::string_view name) {
  StreamTask task{stream, part, work, static_cast<std::uint32_t>(needs_.size()), 0, 0};
  needs_.insert(needs_.end(), needs.begin(), needs.end());
  task.needs_end = static_cast<std::uint32_t>(needs_.size());
  const auto known = std::find(names_.begin(), names_.end(), name);
  task.name = static_cast<std::uint32_t>(known - names_.begin());
  if (known == names_.end()) names_.emplace_back(name);
  tasks_.push_back(task);
  return static_cast<Index>(tasks_.size() - 1);
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr auto kNone = std::numeric_limits<TaskList::Index>::max();

// The events of a list.
class Events {
 public:
  Events(const TaskList& list, double interference)
      : list_(list), slowed_(1 - interference), placed_(list.tasks().size()) {
    for (TaskList::Index i = 0; i < placed_.size(); ++i) {
      queues_[list.tasks()[i].stream].tasks.push_back(i);
    }
    done_.assign(placed_.size(), false);
  }

  std::vector<PlacedTask> run() && {
    while (start_all()) advance();
    return std::move(placed_);
  }

 private:
  struct Queue {
    std::vector<TaskList::Index> tasks;
    std::size_t next = 0;
    TaskList::Index running = kNone, last = kNone;
    double left = 0;  // seconds of work
  };

  // Starts what can; whether anything runs.
  bool start_all() {
    bool any = false;
    for (Queue& queue : queues_) {
      if (queue.running == kNone && queue.next < queue.tasks.size()) {
        const TaskList::Index task = queue.tasks[queue.next];
        if (is_ready(list_.tasks()[task])) start(queue, task);
      }
      any |= queue.running != kNone;
    }
    return any;
  }

  bool is_ready(const StreamTask& task) const {
    const auto needs = list_.needs_of(task);
    return std::all_of(needs.begin(), needs.end(),
                       [&](TaskList::Index need) { return done_[need]; });
  }

  void start(Queue& queue, TaskList::Index at) {
    const StreamTask& task = list_.tasks()[at];
    queue.running = at;
    ++queue.next;
    queue.left = task.work.value();
    PlacedTask& placed = placed_[at];
    placed.begin = Seconds(now_);
    placed.cause = at;
    // What it waited for: the last to end.
    double latest = -1;
    const auto consider = [&](TaskList::Index other) {
      if (other == kNone || !(placed_[other].end.value() > latest)) return;
      latest = placed_[other].end.value();
      placed.cause = other;
    };
    consider(queue.last);
    for (const TaskList::Index need : list_.needs_of(task)) consider(need);
  }

  // To the next end of a task.
  void advance() {
    bool calls = false;
    for (std::size_t s = 0; s < kStreams; ++s) {
      calls |= is_of_calls(static_cast<StreamId>(s)) && queues_[s].running != kNone &&
               queues_[s].left > 0;
    }
    const double kernels = calls ? slowed_ : 1;
    double step = kNever;
    for (std::size_t s = 0; s < kStreams; ++s) {
      if (queues_[s].running != kNone) step = std::min(step, queues_[s].left / rate(s, kernels));
    }
    now_ += step;
    for (std::size_t s = 0; s < kStreams; ++s) {
      Queue& queue = queues_[s];
      if (queue.running == kNone) continue;
      const double left = queue.left / rate(s, kernels) - step;
      queue.left = std::max(0.0, left * rate(s, kernels));
      if (left > 1e-15 * now_) continue;  // the last digits of a sum
      placed_[queue.running].end = Seconds(now_);
      done_[queue.running] = true;
      queue.last = queue.running;
      queue.running = kNone;
    }
  }
  static double rate(std::size_t stream, double kernels) {
    return stream == kKernels ? kernels : 1;
  }

  const TaskList& list_;
  double slowed_, now_ = 0;
  std::array<Queue, kStreams> queues_;
  std::vector<PlacedTask> placed_;
  std::vector<bool> done_;
};

}  // namespace

std::vector<PlacedTask> run_tasks(const TaskList& list, double interference) {
  return Events(list, interference).run();
}

Seconds end_of(std::span<const PlacedTask> placed) {
  Seconds out(0);
  for (const PlacedTask& task : placed) out = std::max(out, task.end);
  return out;
}

Parts critical_parts(const TaskList& list, std::span<const PlacedTask> placed) {
  Parts out{};
  if (placed.empty()) return out;
  auto at = static_cast<std::size_t>(
      std::max_element(placed.begin(), placed.end(),
                       [](const PlacedTask& a, const PlacedTask& b) { return a.end < b.end; }) -
      placed.begin());
  while (true) {
    out[list.tasks()[at].part] += placed[at].end - placed[at].begin;
    if (placed[at].cause == at) break;
    at = placed[at].cause;
  }
  return out;
}

Parts exposed_parts(const TaskList& list, std::span<const PlacedTask> placed) {
  Parts out{};
  Seconds busy_until(0);
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (list.tasks()[i].stream != kKernels) continue;
    out[list.tasks()[i].part] += placed[i].end - placed[i].begin;
    // What filled the time since the kernel before: each began as the one it waited for ended.
    std::size_t at = placed[i].cause;
    while (list.tasks()[at].stream != kKernels && placed[at].end > busy_until) {
      out[list.tasks()[at].part] += placed[at].end - std::max(placed[at].begin, busy_until);
      if (placed[at].cause == at) break;
      at = placed[at].cause;
    }
    busy_until = placed[i].end;
  }
  return out;
}

}  // namespace headway
