#include "simulate/step/tasks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headway {

std::string_view stream_name(StreamId stream) {
  if (stream == kKernels) return "kernels";
  if (stream == kHost) return "host";
  return kGroups[stream - std::size_t{2}].name;
}

TaskList::Index TaskList::add(StreamId stream, Part part, Seconds work,
                              std::span<const Index> needs, std::string_view name,
                              const std::optional<TaskCall>& call) {
  StreamTask task{stream, part, work, static_cast<std::uint32_t>(needs_.size())};
  needs_.insert(needs_.end(), needs.begin(), needs.end());
  task.needs_end = static_cast<std::uint32_t>(needs_.size());
  const auto known = std::find(names_.begin(), names_.end(), name);
  task.name = static_cast<std::uint32_t>(known - names_.begin());
  if (known == names_.end()) names_.emplace_back(name);
  if (call) {
    const auto like = std::find(calls_.begin(), calls_.end(), *call);
    task.call = static_cast<std::uint32_t>(like - calls_.begin()) + 1;
    if (like == calls_.end()) calls_.push_back(*call);
  }
  tasks_.push_back(task);
  return static_cast<Index>(tasks_.size() - 1);
}

void TaskList::multiplies(Index task, const TaskProduct& product) {
  const auto like = std::find(products_.begin(), products_.end(), product);
  tasks_[task].product = static_cast<std::uint32_t>(like - products_.begin()) + 1;
  if (like == products_.end()) products_.push_back(product);
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr auto kNone = std::numeric_limits<TaskList::Index>::max();

// The events of a list.
class Events {
 public:
  Events(const TaskList& list, double interference, const TaskPace& pace)
      : list_(list), pace_(pace), slowed_(1 - interference), placed_(list.tasks().size()) {
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
    if (task.stream == kKernels) {
      queue.left *= pace_.kernels * (task.attends ? pace_.attention : 1.0);
    }
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
    std::uint32_t down = 0;
    if (pace_.outages != nullptr) {
      const Outages::State state = pace_.outages->at(pace_.begin + Seconds(now_));
      step = state.left.value();
      if (state.is_down) down = pace_.over_network;
    }
    const auto stands = [&](std::size_t s) {
      return queues_[s].running == kNone || ((down >> s & 1U) != 0 && queues_[s].left > 0);
    };
    for (std::size_t s = 0; s < kStreams; ++s) {
      if (!stands(s)) step = std::min(step, queues_[s].left / rate(s, kernels));
    }
    now_ += step;
    for (std::size_t s = 0; s < kStreams; ++s) {
      Queue& queue = queues_[s];
      if (stands(s)) continue;
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
  const TaskPace& pace_;
  double slowed_, now_ = 0;
  std::array<Queue, kStreams> queues_;
  std::vector<PlacedTask> placed_;
  std::vector<bool> done_;
};

}  // namespace

std::vector<PlacedTask> run_tasks(const TaskList& list, double interference, const TaskPace& pace) {
  return Events(list, interference, pace).run();
}

Outages::State Outages::at(Seconds time) const {
  const double place = std::fmod((time + phase).value(), period.value());
  const bool is_down = place < down.value();
  const double until = is_down ? down.value() : period.value();
  // At least so much that a clock of this size advances.
  return {is_down, Seconds(std::max(until - place, 1e-12 * (period + time).value()))};
}

Seconds Outages::through(Seconds begin, Seconds work) const {
  if (!(work > Seconds(0))) return begin;
  // Whole periods, but the last that it needs.
  const double periods = std::ceil(work / (period - down)) - 1;
  Seconds at = begin + period * periods, left = work - (period - down) * periods;
  while (left > Seconds(0)) {
    const State state = this->at(at);
    const Seconds step = state.is_down ? state.left : std::min(state.left, left);
    at += step;
    if (!state.is_down) left -= step;
  }
  return at;
}

Seconds end_of(std::span<const PlacedTask> placed) {
  Seconds out(0);
  for (const PlacedTask& task : placed) out = std::max(out, task.end);
  return out;
}

std::vector<TaskList::Index> critical_tasks(std::span<const PlacedTask> placed) {
  if (placed.empty()) return {};
  const auto last =
      std::max_element(placed.begin(), placed.end(),
                       [](const PlacedTask& a, const PlacedTask& b) { return a.end < b.end; });
  std::vector<TaskList::Index> out = {static_cast<TaskList::Index>(last - placed.begin())};
  while (placed[out.back()].cause != out.back()) out.push_back(placed[out.back()].cause);
  return out;
}

Parts critical_parts(const TaskList& list, std::span<const PlacedTask> placed) {
  Parts out{};
  for (const TaskList::Index at : critical_tasks(placed)) {
    out[list.tasks()[at].part] += placed[at].end - placed[at].begin;
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
