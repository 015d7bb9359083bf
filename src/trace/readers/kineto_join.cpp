#include <algorithm>
#include <map>
#include <unordered_map>

#include "trace/readers/kineto_events.hpp"
#include "trace/readers/kineto_host.hpp"

namespace headway {
namespace {

// Host operations of one thread by their start, with the launches' correlations beside them.
class HostOps {
 public:
  explicit HostOps(KinetoEvents& events) : ops_(events.host_ops) {
    std::stable_sort(ops_.begin(), ops_.end(), [](const KinetoHostOp& a, const KinetoHostOp& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
    });
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].external_id) by_external_id_.emplace(*ops_[i].external_id, i);
    }
    for (const KinetoLaunch& launch : events.launches) launches_[launch.correlation] = &launch;
  }

  // The operations around the launch of a kernel, outermost first.
  std::vector<std::size_t> around(const KinetoKernel& kernel) const {
    // New traces name the operation on the kernel; old ones repeat the correlation there.
    if (kernel.external_id && kernel.external_id != kernel.correlation) {
      const auto found = by_external_id_.find(*kernel.external_id);
      if (found != by_external_id_.end()) {
        return covering(ops_[found->second].thread, ops_[found->second].start_ns);
      }
    }
    if (!kernel.correlation) return {};
    const auto launch = launches_.find(*kernel.correlation);
    if (launch == launches_.end()) return {};
    return covering(launch->second->thread, launch->second->at_ns);
  }

 private:
  std::vector<std::size_t> covering(std::uint64_t thread, std::int64_t at) const {
    const auto behind = std::upper_bound(
        ops_.begin(), ops_.end(), at, [&](std::int64_t time, const KinetoHostOp& op) {
          return op.thread != thread ? thread < op.thread : time < op.start_ns;
        });
    std::vector<std::size_t> out;
    constexpr int kDeepest = 8;  // operations nest three deep; a few more may have ended before
    int looked_at = 0;
    for (auto op = behind; op != ops_.begin() && looked_at < kDeepest; ++looked_at) {
      --op;
      if (op->thread != thread) break;
      if (at - op->start_ns <= op->duration_ns) {
        out.push_back(static_cast<std::size_t>(op - ops_.begin()));
      }
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  std::vector<KinetoHostOp>& ops_;
  std::unordered_map<std::int64_t, std::size_t> by_external_id_;
  std::unordered_map<std::int64_t, const KinetoLaunch*> launches_;
};

// What an inner operation says stands; an outer one fills what is missing.
void fill(KinetoComms& comms, const KinetoComms& more) {
  if (!comms.op) comms.op = more.op;
  if (!comms.type) comms.type = more.type;
  if (comms.input_elements < 0) comms.input_elements = more.input_elements;
  if (comms.output_elements < 0) comms.output_elements = more.output_elements;
  if (!comms.group) comms.group = more.group;
  if (!comms.sequence) comms.sequence = more.sequence;
  if (!comms.peer) comms.peer = more.peer;
}

void set_comms(RecordedCall& call, KinetoComms comms, Recording& recording) {
  if (comms.op) call.op = *comms.op;
  call.type = comms.type;
  call.sequence = comms.sequence;
  call.peer = comms.peer;
  const bool gathers = call.op == Operation::all_gather || call.op == Operation::reduce_scatter;
  const double larger = std::max(comms.input_elements, comms.output_elements);
  const double smaller = std::min(comms.input_elements, comms.output_elements);
  if (!comms.group && gathers && smaller > 0 &&
      larger / smaller == static_cast<double>(static_cast<std::int64_t>(larger / smaller))) {
    // Old traces do not name the group, but the buffers tell how many ranks share the tensor.
    const auto ranks = static_cast<std::int64_t>(larger / smaller);
    comms.group = unnamed_group_index(recording, ranks);
  }
  call.group = comms.group;
  if (!comms.type) return;
  const double width = bytes_per_element(*comms.type);
  call.bytes =
      whole_from_buffers(call.op, comms.input_elements * width, comms.output_elements * width);
  if (call.op == Operation::all_to_all && comms.output_elements >= 0) {
    call.received = Bytes(comms.output_elements * width);
  }
  if (!call.bytes && gathers && smaller < 0 && larger >= 0) {
    // One rank's part is known, not the whole.
    set_bytes_from_count(call, larger * width, group_size(recording, call));
  }
}

void note_gaps(const Recording& calls, Recording& recording) {
  std::int64_t sizes = 0, groups = 0;
  for (const RecordedCall& call : calls.calls) {
    if (call.op == Operation::barrier) continue;
    sizes += call.bytes ? 0 : 1;
    groups += call.group ? 0 : 1;
  }
  leave_unsaid(recording, kCallsWithoutSize, sizes);
  leave_unsaid(recording, kCallsWithoutGroup, groups);
}

}  // namespace

void join_kineto(KinetoEvents events, Recording& recording) {
  const HostOps hosts(events);
  std::vector<bool> has_kernel(events.host_ops.size());
  for (const KinetoKernel& kernel : events.kernels) {
    RecordedCall call;
    call.op = kernel.op;
    call.start_ns = kernel.start_ns;
    call.duration = Seconds(static_cast<double>(kernel.duration_ns) * 1e-9);
    call.time = TimeKind::kernel;
    call.stream = kernel.stream;
    const std::vector<std::size_t> around = hosts.around(kernel);
    for (const std::size_t op : around) has_kernel[op] = true;
    KinetoComms comms = kernel.comms;
    if (!kernel.described) {
      // Both buffers as the entry gives them; the rest from the inside to the outside.
      for (const std::size_t op : around) {
        const KinetoComms& entry = events.host_ops[op].comms;
        if (entry.input_elements >= 0 && entry.output_elements >= 0) {
          comms.input_elements = entry.input_elements;
          comms.output_elements = entry.output_elements;
        }
      }
      for (auto op = around.rbegin(); op != around.rend(); ++op) {
        fill(comms, events.host_ops[*op].comms);
      }
    }
    set_comms(call, comms, recording);
    recording.calls.push_back(call);
  }
  std::int64_t unmatched = 0;
  for (std::size_t i = 0; i < events.host_ops.size(); ++i) {
    const KinetoHostOp& op = events.host_ops[i];
    if (has_kernel[i] || !op.comms.op || op.kind != KinetoHostOp::Kind::parameters) continue;
    if (!events.kernels.empty()) {
      ++unmatched;
      continue;
    }
    RecordedCall call;
    call.start_ns = op.start_ns;
    call.duration = Seconds(static_cast<double>(op.duration_ns) * 1e-9);
    call.time = TimeKind::enqueue;
    set_comms(call, op.comms, recording);
    recording.calls.push_back(call);
  }
  add_host_calls(events, recording);
  leave_unsaid(recording, "calls issued on the host whose kernel is not in the trace", unmatched);
  note_gaps(recording, recording);
}

}  // namespace headway
