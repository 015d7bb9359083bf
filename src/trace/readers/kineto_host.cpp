#include "trace/readers/kineto_host.hpp"

#include <algorithm>
#include <optional>

#include "trace/readers/asked_and_done.hpp"
#include "trace/readers/own_groups.hpp"

namespace headway {
namespace {

bool asks(const KinetoHostOp& op) {
  return op.kind == KinetoHostOp::Kind::entry && op.comms.op;
}
bool does(const KinetoHostOp& op) {
  return op.kind == KinetoHostOp::Kind::annotation && op.on_host && op.comms.op;
}

RecordedCall call_of(const KinetoEvents& events, const KinetoHostOp& done,
                     const KinetoHostOp* asked, Recording& recording) {
  RecordedCall call;
  call.op = asked != nullptr ? *asked->comms.op : *done.comms.op;
  if (call.op != *done.comms.op) call.done_as = done.comms.op;
  call.start_ns = done.start_ns;
  call.duration = Seconds(static_cast<double>(done.duration_ns) * 1e-9);
  call.time = TimeKind::host;
  call.type = done.comms.type;
  const double size = done.comms.input_elements;  // of the backend's one list of tensors
  double input = asked != nullptr ? asked->comms.input_elements : -1;
  double output = asked != nullptr ? asked->comms.output_elements : -1;
  if (asked != nullptr && !call.type) call.type = asked->comms.type;
  if (input < 0 && output < 0) {
    (row_of(call.op).whole == Whole::output && !row_of(call.op).counts_part ? output : input) =
        size;
  }
  call.group = own_group(recording, events.own_groups, call.op, input, output);
  call.peer = global_rank(recording, call, asked != nullptr ? asked->comms.peer : std::nullopt);
  if (!call.type || call.op == Operation::barrier) return call;
  const double width = bytes_per_element(*call.type);
  call.bytes =
      whole_from_buffers(call.op, input < 0 ? -1 : input * width, output < 0 ? -1 : output * width);
  const double part = std::max(input, output);
  if (!call.bytes && part >= 0) {
    set_bytes_from_count(call, part * width, group_size(recording, call));
  }
  return call;
}

}  // namespace

void add_host_calls(const KinetoEvents& events, Recording& recording) {
  // The profiler's numbers count operations as they begin to be recorded, those of the backend
  // before they are handed to its threads. Where some have none, their starts must do.
  const bool numbered =
      std::all_of(events.host_ops.begin(), events.host_ops.end(),
                  [](const KinetoHostOp& op) { return op.record || !(asks(op) || does(op)); });
  struct Side {
    std::vector<HostCall> calls;
    std::vector<const KinetoHostOp*> ops;
  } asked, done;
  for (const KinetoHostOp& op : events.host_ops) {
    if (!asks(op) && !does(op)) continue;
    Side& side = asks(op) ? asked : done;
    side.calls.push_back({*op.comms.op, op.comms.input_elements, op.comms.output_elements,
                          numbered ? *op.record : op.start_ns});
    side.ops.push_back(&op);
  }
  const auto why = asked_for(asked.calls, done.calls);
  for (std::size_t i = 0; i < done.ops.size(); ++i) {
    const KinetoHostOp* question = why[i] ? asked.ops[*why[i]] : nullptr;
    recording.calls.push_back(call_of(events, *done.ops[i], question, recording));
  }
}

}  // namespace headway
