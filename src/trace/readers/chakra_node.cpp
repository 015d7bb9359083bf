#include "trace/readers/chakra_node.hpp"

#include "trace/io/json_value.hpp"
#include "trace/readers/text_fields.hpp"

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

// "step.3.et": the rank of a run's file.
std::optional<std::int64_t> number_in_name(std::string_view name) {
  if (!name.ends_with(".et")) return std::nullopt;
  name.remove_suffix(3);
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos) return std::nullopt;
  const auto number = to_number<std::int64_t>(name.substr(point + 1));
  return number && *number >= 0 ? number : std::nullopt;
}

}  // namespace

ChakraCalls::ChakraCalls(Recording& recording) : recording_(recording) {
  rank_index(recording_, recording_.source, number_in_name(recording_.source));
}

void ChakraCalls::add(const ChakraNode& node) {
  const bool cpu = node.is_cpu_op.value_or(false);
  add_to_graph(node);
  const std::size_t in_graph = recording_.graph.size() - 1;
  if (node.type == kSend || node.type == kReceive || node.type == kCollective) {
    if (!cpu) {
      gpu_calls_ = true;
      add_call(node, in_graph);
    } else if (node.bytes) {
      cpu_calls_.push_back({node, in_graph});
    }
  } else if (node.type == kComputation && !cpu && node.start_us && node.duration_us) {
    const auto start = nanoseconds(*node.start_us), duration = nanoseconds(*node.duration_us);
    if (!start || !duration || *duration < 0) return;
    recording_.compute.push_back(
        {0, static_cast<std::int32_t>(node.stream.value_or(0)), *start, *duration});
  }
}

// Protobuf leaves out what is zero: without a duration it takes none, but what has work has a time
// that the source leaves to others.
void ChakraCalls::add_to_graph(const ChakraNode& node) {
  const bool timed = node.duration_us && *node.duration_us >= 0;
  const bool works = node.type == kComputation && node.work.value_or(0) > 0;
  std::optional<Seconds> duration;
  if (timed || !works) duration = Seconds(timed ? *node.duration_us * 1e-6 : 0);
  place_of_.try_emplace(node.id, recording_.graph.size());
  needs_.push_back(node.needs);
  recording_.graph.push_back(
      {.start_ns = node.start_us ? nanoseconds(*node.start_us) : std::nullopt,
       .duration = duration});
}

void ChakraCalls::add_call(const ChakraNode& node, std::size_t in_graph) {
  recording_.graph[in_graph].call = recording_.calls.size();
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
  call.tag = node.tag;
  recording_.calls.push_back(call);
}

void ChakraCalls::join_graph() {
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    for (const std::uint64_t id : needs_[i]) {
      const auto found = place_of_.find(id);
      if (found != place_of_.end()) {
        recording_.graph[i].needs.push_back(found->second);
      } else {
        leave_unsaid(recording_, "nodes that wait for what is not there");
      }
    }
  }
}

void ChakraCalls::finish() {
  join_graph();
  if (!gpu_calls_) {
    for (const auto& [node, in_graph] : cpu_calls_) add_call(node, in_graph);
  }
  if (recording_.calls.empty()) leave_unsaid(recording_, "no communication in the trace");
}

}  // namespace headway
