#include "trace/readers/chakra_node.hpp"

#include "trace/io/json_value.hpp"

namespace headway {
namespace {

constexpr std::int64_t kComputation = 4, kSend = 5, kReceive = 6, kCollective = 7;

// CollectiveCommType of the schema.
std::optional<Operation> operation_of(std::int64_t collective) {
  constexpr Operation operations[] = {Operation::all_reduce,     Operation::reduce,
                                      Operation::all_gather,     Operation::gather,
                                      Operation::scatter,        Operation::broadcast,
                                      Operation::all_to_all,     Operation::reduce_scatter,
                                      Operation::reduce_scatter, Operation::barrier};
  if (collective < 0 || collective >= 10) return std::nullopt;
  return operations[collective];
}

}  // namespace

ChakraCalls::ChakraCalls(Recording& recording) : recording_(recording) {
  rank_index(recording_, recording_.source);
}

void ChakraCalls::add(const ChakraNode& node) {
  const bool cpu = node.is_cpu_op.value_or(false);
  if (node.type == kSend || node.type == kReceive || node.type == kCollective) {
    if (!cpu) {
      gpu_calls_ = true;
      add_call(node);
    } else if (node.bytes) {
      cpu_calls_.push_back(node);
    }
  } else if (node.type == kComputation && !cpu && node.start_us && node.duration_us) {
    const auto start = nanoseconds(*node.start_us), duration = nanoseconds(*node.duration_us);
    if (!start || !duration || *duration < 0) return;
    recording_.compute.push_back(
        {0, static_cast<std::int32_t>(node.stream.value_or(0)), *start, *duration});
  }
}

void ChakraCalls::add_call(const ChakraNode& node) {
  RecordedCall call;
  if (node.type == kSend) {
    call.op = Operation::send;
    call.peer = node.destination;
  } else if (node.type == kReceive) {
    call.op = Operation::receive;
    call.peer = node.source;
  } else {
    auto op = node.collective ? operation_of(*node.collective) : operation_from(node.name);
    if (!op) omit(recording_, "nodes of unknown operations");
    call.op = op.value_or(Operation::other);
  }
  if (node.bytes && *node.bytes >= 0) {
    // The schema has one number and does not say of what; producers differ where one rank's part
    // and the whole do.
    if (call.op == Operation::all_gather || call.op == Operation::reduce_scatter ||
        call.op == Operation::gather || call.op == Operation::scatter ||
        call.op == Operation::other) {
      call.counted_bytes = Bytes(*node.bytes);
      leave_unsaid(recording_, "sizes that may be of one rank's part or of the whole");
    } else if (call.op != Operation::barrier) {
      call.bytes = Bytes(*node.bytes);
    }
  } else if (call.op != Operation::barrier) {
    leave_unsaid(recording_, kCallsWithoutSize);
  }
  if (!node.group.empty()) call.group = group_index(recording_, node.group);
  if (node.start_us) call.start_ns = nanoseconds(*node.start_us);
  if (node.duration_us && *node.duration_us >= 0) {
    call.duration = Seconds(*node.duration_us * 1e-6);
    call.time = node.is_cpu_op.value_or(false) ? TimeKind::enqueue : TimeKind::kernel;
  }
  call.stream = node.stream;
  recording_.calls.push_back(call);
}

void ChakraCalls::finish() {
  if (!gpu_calls_) {
    for (const ChakraNode& node : cpu_calls_) add_call(node);
  }
  if (recording_.calls.empty()) leave_unsaid(recording_, "no communication in the trace");
}

}  // namespace headway
