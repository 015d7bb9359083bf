#include "simulate/workload/workload.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace headway {
namespace {

using NodeIds = std::vector<std::uint32_t>;
using NodeKind = WorkloadNode::Kind;

std::int64_t microseconds_of(Seconds time) {
  return std::llround(time.value() * 1e6);
}

// Streams of a rank on which one node follows another: those of its tasks, of what runs beside
// slots, and of transfers in each direction.
constexpr std::size_t kBesideSlots = kStreams, kToNext = 2 * kStreams, kToPrevious = kToNext + 1,
                      kReceives = kToNext + 2, kQueues = kToNext + 3;

class Names {
 public:
  std::uint32_t of(const std::string& name) {
    const auto [at, is_new] = places_.try_emplace(name, static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.push_back(name);
    return at->second;
  }
  std::vector<std::string> take() && { return std::move(list_); }

 private:
  std::map<std::string, std::uint32_t> places_;
  std::vector<std::string> list_;
};

bool is_transfer(const StepSpan& span) {
  return span.call && span.call->group == Group::pp && span.call->op == CollectiveOp::send_receive;
}

class GraphOfRank {
 public:
  /// `transferred`: between stages, by one transfer.
  GraphOfRank(const SimulatedStep& step, std::size_t rank, const TaskCall& transferred,
              Names& names)
      : step_(step), rank_(rank), transferred_(transferred), names_(names) {}

  std::vector<WorkloadNode> build() && {
    const std::vector<StepSpan>& spans = step_.ranks[rank_].spans;
    auto last = static_cast<std::ptrdiff_t>(spans.size());
    while (last > 0 && spans[static_cast<std::size_t>(last - 1)].kind != StepSpan::Kind::slot)
      --last;
    std::vector<const StepSpan*> reductions;  // under the slot that comes next
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const StepSpan& span = spans[i];
      if (span.kind == StepSpan::Kind::slot) {
        add_slot(span, reductions);
        reductions.clear();
        slots_are_done_ = static_cast<std::ptrdiff_t>(i) + 1 == last;
      } else if (is_transfer(span)) {
        add_send(span);
      } else if (!span.beside) {
        add_once(span);
      } else if (slot_ == nullptr) {
        gathers_.push_back(add_beside(span, {}));
      } else {
        reductions.push_back(&span);
      }
    }
    // What all ranks have once a step, behind everything.
    const Seconds rest = step_.step_time - step_.placed;
    if (std::exchange(slots_are_done_, false)) wait_for_reductions();
    micro_batch_ = -1;
    if (rest > Seconds(0)) {
      add({.kind = NodeKind::host, .name = names_.of("rest of the step")}, step_.placed, rest,
          kHost, follow_);
    }
    return std::move(nodes_);
  }

 private:
  // Of nodes on one queue the last alone: the others come before it.
  void reduce(NodeIds& needs) const {
    std::array<std::uint32_t, kQueues> last{};
    for (const std::uint32_t need : needs) {
      std::uint32_t& of = last[queue_of_[need - 1]];
      if (queue_of_[need - 1] != kReceives) of = std::max(of, need);
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    std::erase_if(needs, [&](std::uint32_t need) {
      return queue_of_[need - 1] != kReceives && last[queue_of_[need - 1]] != need;
    });
  }

  std::uint32_t add(WorkloadNode node, Seconds start, Seconds duration, std::size_t queue,
                    const NodeIds& needs) {
    node.start_us = microseconds_of(start);
    node.duration_us = microseconds_of(start + duration) - node.start_us;
    node.start = start;
    node.time = duration;
    node.micro_batch = micro_batch_;
    node.stream = queue == kReceives ? WorkloadNode::kNoStream : static_cast<std::uint8_t>(queue);
    node.needs = needs;
    if (queue != kReceives) {
      node.behind = last_[queue];
      if (node.behind != 0) node.needs.push_back(node.behind);
    }
    reduce(node.needs);
    std::erase(node.needs, node.behind);
    nodes_.push_back(std::move(node));
    queue_of_.push_back(static_cast<std::uint8_t>(queue));
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    last_[queue] = id;
    return id;
  }

  // A call: one node for each time that it is called, a ring's turn a send and a receive.
  NodeIds add_call(const TaskCall& call, const std::string& name, Seconds start, Seconds duration,
                   std::size_t queue, NodeIds needs) {
    const double count = std::max(1.0, std::round(call.count));
    const Seconds each = duration / count;
    NodeIds out = needs;
    for (double i = 0; i < count; ++i) {
      WorkloadNode node{.kind = NodeKind::collective,
                        .name = names_.of(name),
                        .op = call.op,
                        .group = call.group,
                        .bytes = call.bytes * (call.count / count),
                        .dtype = call.dtype};
      const Seconds begin = start + each * i;
      if (call.op != CollectiveOp::send_receive) {
        out = {add(std::move(node), begin, each, queue, out)};
        continue;
      }
      node.tag = turns_++;
      node.kind = NodeKind::receive;
      node.peer = -1;
      const std::uint32_t received = add(node, begin, each, kReceives, out);
      node.kind = NodeKind::send;
      node.peer = 1;
      const std::uint32_t sent = add(std::move(node), begin, each, queue, out);
      out = {received, sent};
    }
    return out;
  }

  // What a slot of a stage gets from another rank, and what it hands on, have the same number.
  std::uint32_t tag_of(bool forward, std::int64_t copy, std::int64_t from_stage,
                       std::int64_t micro_batch) const {
    const std::int64_t stages = step_.pipeline.stages();
    const std::int64_t way = ((copy * stages + from_stage) * 2) + (forward ? 0 : 1);
    return static_cast<std::uint32_t>(way * step_.pipeline.micro_batches_of_copy() + micro_batch);
  }
  std::int64_t stage_of_slot(const StepSpan& slot) const {
    return step_.pipeline.stage(static_cast<std::int64_t>(rank_), slot.chunk);
  }
  std::int64_t copy_of(const StepSpan& slot) const {
    return step_.pipeline.copies() == 2 ? slot.chunk : 0;
  }

  // The receive that the slot waits for; nothing where its own rank made what it needs.
  std::optional<std::uint32_t> receive_of(const StepSpan& slot) {
    const bool forward = slot.work == SlotWork::forward;
    const std::int64_t from = stage_of_slot(slot) + (forward ? -1 : 1);
    const bool none = slot.work == SlotWork::weight_gradient || from < 0 ||
                      from == step_.pipeline.stages() || !(step_.send > Seconds(0));
    if (none) return std::nullopt;
    const std::int64_t other = holder(step_.pipeline, copy_of(slot), from).rank;
    if (other == static_cast<std::int64_t>(rank_)) return std::nullopt;
    WorkloadNode node{
        .kind = NodeKind::receive,
        .name = names_.of(forward ? "receive from stage before" : "receive from next stage"),
        .group = Group::pp,
        .bytes = transferred_.bytes,
        .dtype = transferred_.dtype,
        .peer = other,
        .tag = tag_of(forward, copy_of(slot), from, slot.micro_batch)};
    const Seconds taken = std::min(step_.send, slot.begin);
    return add(std::move(node), slot.begin - taken, taken, kReceives, {});
  }

  void add_send(const StepSpan& span) {
    const bool forward = slot_->work == SlotWork::forward;
    const Slot slot{slot_->work, static_cast<std::uint8_t>(slot_->chunk)};
    WorkloadNode node{
        .kind = NodeKind::send,
        .name = names_.of(span.name),
        .group = Group::pp,
        .bytes = span.call->bytes,
        .dtype = span.call->dtype,
        .peer = handoff(step_.pipeline, static_cast<std::int64_t>(rank_), slot)->to.rank,
        .tag = tag_of(forward, copy_of(*slot_), stage_of_slot(*slot_), slot_->micro_batch)};
    const std::uint32_t sent = add(std::move(node), span.begin, span.end - span.begin,
                                   forward ? kToNext : kToPrevious, follow_);
    if (!span.beside) follow_ = {sent};
  }

  // What the rank does once and others follow.
  void add_once(const StepSpan& span) {
    if (std::exchange(slots_are_done_, false)) wait_for_reductions();
    micro_batch_ = -1;
    const Seconds time = span.end - span.begin;
    if (span.call) {
      const std::size_t first = nodes_.size();
      follow_ = add_call(*span.call, span.name, span.begin, time, span.stream, follow_);
      for (std::size_t i = first; i < nodes_.size(); ++i) nodes_[i].edge = span.edge;
    } else if (span.parts.dp > Seconds(0)) {
      return;  // waits for its reductions, which it does anyway
    } else if (time > Seconds(0)) {
      const NodeKind kind = span.stream == kHost ? NodeKind::host : NodeKind::compute;
      follow_ = {add({.kind = kind, .name = names_.of(span.name)}, span.begin, time, span.stream,
                     follow_)};
    }
  }

  std::uint32_t add_beside(const StepSpan& span, const NodeIds& needs) {
    return add_call(*span.call, span.name, span.begin, span.end - span.begin,
                    kBesideSlots + span.stream, needs)
        .back();
  }
  void wait_for_reductions() {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const std::uint32_t last = last_[kBesideSlots + stream];
      if (last != 0) follow_.push_back(last);
    }
    reduce(follow_);
  }

  // Where the nodes of a slot lie, and how much longer than its program they take.
  struct Stretch {
    Seconds begin;
    double start = 1, duration = 1;
  };

  void add_slot(const StepSpan& slot, const std::vector<const StepSpan*>& reductions) {
    slot_ = &slot;
    micro_batch_ = slot.micro_batch;
    const SlotProgram& program = *slot.program;
    if (const auto received = receive_of(slot)) follow_.push_back(*received);
    Stretch stretch{slot.begin};
    if (slot.work != SlotWork::weight_gradient) {
      for (const SlotCall& each : step_.ranks[rank_].slot_calls) {
        const std::string name(std::string(to_name(each.call.group)) + " " +
                               std::string(to_name(each.call.op)));
        // What describes a transfer between stages goes with it: here its time alone.
        if (each.call.group == Group::pp) {
          follow_ = {add({.kind = NodeKind::host, .name = names_.of(name)}, stretch.begin,
                         each.time, kHost, follow_)};
          stretch.begin += each.time;
          continue;
        }
        follow_ = add_call(each.call, name, stretch.begin, each.time, stream_of(each.call.group),
                           follow_);
        stretch.begin += each.time;
      }
    }
    kernels_.clear();
    if (!(program.time > Seconds(0))) return add_reductions(program, reductions);
    // Waiting for weights is in what its kernels wait for; all else that a slot takes besides
    // makes it evenly longer.
    const bool first = slot.work == SlotWork::forward && slot.micro_batch == 0;
    const auto count = static_cast<std::int64_t>(gathers_.size());
    const std::int64_t chunks = step_.pipeline.chunks();
    const std::int64_t from = first ? count * forwards_ / chunks : 0;
    const std::int64_t to = first ? count * (forwards_ + 1) / chunks : 0;
    if (first) ++forwards_;
    const Seconds waited =
        from < to ? std::max(Seconds(0), slot.parts.dp - program.parts.dp) : Seconds(0);
    stretch.start = (slot.end - stretch.begin) / program.time;
    stretch.duration = (slot.end - stretch.begin - waited) / program.time;
    add_tasks(program, stretch,
              std::span(gathers_).subspan(static_cast<std::size_t>(from),
                                          static_cast<std::size_t>(to - from)));
    add_reductions(program, reductions);
  }

  void add_tasks(const SlotProgram& program, const Stretch& stretch,
                 std::span<const std::uint32_t> gathers) {
    const auto tasks = program.list.tasks();
    std::vector<NodeIds> ends(tasks.size());  // of tasks that are no node what they wait for
    std::array<NodeIds, kStreams> before;     // on each stream
    before.fill(follow_);
    std::size_t gathered = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const StreamTask& task = tasks[i];
      const PlacedTask& placed = program.placed[i];
      NodeIds needs = before[task.stream];
      for (const TaskList::Index need : program.list.needs_of(task)) {
        needs.insert(needs.end(), ends[need].begin(), ends[need].end());
      }
      if (placed.end > placed.begin) {
        // A kernel at each share of the slot waits for its share of the weights.
        while (task.stream == kKernels && gathered < gathers.size() &&
               placed.end > program.time * (static_cast<double>(gathered) /
                                            static_cast<double>(gathers.size()))) {
          needs.push_back(gathers[gathered++]);
        }
        ends[i] = add_task(program, i, stretch, needs);
        if (task.stream == kKernels) kernels_.push_back({ends[i].front(), placed.end});
      } else {
        reduce(needs);
        ends[i] = std::move(needs);
      }
      before[task.stream] = ends[i];
    }
    NodeIds all;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const NodeIds& last = before[tasks[i].stream];
      if (ends[i] == last) all.insert(all.end(), last.begin(), last.end());
    }
    reduce(all);
    follow_ = std::move(all);
  }

  NodeIds add_task(const SlotProgram& program, std::size_t i, const Stretch& stretch,
                   const NodeIds& needs) {
    const StreamTask& task = program.list.tasks()[i];
    const PlacedTask& placed = program.placed[i];
    const std::string& name = program.list.name_of(task);
    const Seconds start = stretch.begin + placed.begin * stretch.start;
    const Seconds time = (placed.end - placed.begin) * stretch.duration;
    if (const TaskCall* call = program.list.call_of(task)) {
      const std::size_t first = nodes_.size();
      NodeIds out = add_call(*call, name, start, time, task.stream, needs);
      for (std::size_t k = first; k < nodes_.size(); ++k) nodes_[k].beyond = task.beyond;
      return out;
    }
    WorkloadNode node{.kind = task.stream == kHost ? NodeKind::host : NodeKind::compute,
                      .name = names_.of(name)};
    if (const TaskProduct* product = program.list.product_of(task)) node.product = *product;
    return {add(std::move(node), start, time, task.stream, needs)};
  }

  // Each bucket behind the kernel that ends with its share of the slot [FORECAST-5].
  void add_reductions(const SlotProgram& program, const std::vector<const StepSpan*>& reductions) {
    std::map<std::pair<std::string, double>, std::pair<double, double>>
        done;  // by kind: how many, of how many
    const auto kind = [](const StepSpan* span) {
      return std::pair(span->name, span->call->bytes.value() * span->call->count);
    };
    for (const StepSpan* span : reductions) ++done[kind(span)].second;
    for (const StepSpan* span : reductions) {
      auto& [so_far, all] = done[kind(span)];
      const Seconds ready = program.time * (++so_far / all * (1 - 1e-9));
      const auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                                       [&](const auto& each) { return each.second >= ready; });
      const bool none = kernel == kernels_.end();
      add_beside(*span, none ? follow_ : NodeIds{kernel->first});
    }
  }

  const SimulatedStep& step_;
  std::size_t rank_;
  TaskCall transferred_;
  Names& names_;
  std::vector<WorkloadNode> nodes_;
  std::vector<std::uint8_t> queue_of_;  // of each node
  std::array<std::uint32_t, kQueues> last_{};
  NodeIds follow_;             // what the next of the spans that follow each other waits for
  NodeIds gathers_;            // of weights, that come under the first micro-batch
  std::int64_t forwards_ = 0;  // forward slots of the first micro-batch so far
  const StepSpan* slot_ = nullptr;
  std::int64_t micro_batch_ = -1;
  bool slots_are_done_ = false;  // and what follows waits for the reductions, too
  std::vector<std::pair<std::uint32_t, Seconds>> kernels_;  // of the slot, and when they end
  std::uint32_t turns_ = 0;
};

TaskCall transferred_in(const SimulatedStep& step) {
  for (const RankTimeline& rank : step.ranks) {
    const auto transfer = std::find_if(rank.spans.begin(), rank.spans.end(), is_transfer);
    if (transfer != rank.spans.end()) return *transfer->call;
  }
  return {};
}

}  // namespace

Workload workload_of(const SimulatedStep& step) {
  Workload out;
  Names names;
  const TaskCall transferred = transferred_in(step);
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    out.stages.push_back(GraphOfRank(step, r, transferred, names).build());
  }
  out.names = std::move(names).take();
  return out;
}

}  // namespace headway
