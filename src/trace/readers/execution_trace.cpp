// PyTorch Execution Trace. Communication is in nodes "record_param_comms". Until 1.0.3 a node's
// "inputs" are a list, since 1.1 {"values": [...], "types": [...]}, with "attrs" that name the
// fields. Positions in the inputs, counted from the name of the operation:
//   tensors.., sequence, group (address, or [name, description]), rank or root, NAME, input split,
//   output split, [first rank, stride,] [ranks]
// A tensor is [id, storage, offset, elements, bytes of an element, device]. There are no times.
//
// Backends of the host (gloo, MPI) leave no such node. Their calls are the dispatcher's operations
// ("c10d::allreduce_", as asked for) with its arguments:
//   result.., input.. (or both in one), "<Object>" for the group, reduction, root or other rank, ..
// and again what the backend does, "gloo:all_reduce", also of a reduce-scatter: that counts only
// where nothing of the dispatcher is recorded. Which group it is "## process_group:init ##" tells
// where there is one only; else the buffers of gathers and scatters do.
#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/readers/asked_and_done.hpp"
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/own_groups.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

struct Buffers {
  double bytes = 0;
  bool any = false;
  bool on_host = false;
  double size() const { return any ? bytes : -1; }
};

// Sums the tensors in a value: one, or lists of them.
void add_tensors(const JsonValue& value, Buffers& buffers, int depth = 0) {
  if (!value.is_array() || depth > 3) return;
  const auto elements = value.at(3).number(), width = value.at(4).number();
  if (value.size() == 6 && elements && width && value.at(5).text()) {
    if (*elements < 0 || *width < 0) return;
    buffers.bytes += *elements * *width;
    buffers.any = true;
    buffers.on_host = value.at(5).text() == "cpu";
    return;
  }
  value.each([&](const JsonValue& inner) { add_tensors(inner, buffers, depth + 1); });
}

// The attribute of this name; the schemas write {"name": .., "value": ..}.
JsonValue attribute(const JsonValue& node, std::string_view name) {
  JsonValue found;
  node["attrs"].each([&](const JsonValue& entry) {
    if (!found.present() && entry["name"].text() == name) found = entry["value"];
  });
  return found;
}

bool has_root(Operation op) {
  return op == Operation::broadcast || op == Operation::reduce || op == Operation::gather ||
         op == Operation::scatter;
}

// The type of the first tensor that a text of types holds, however many follow it.
std::optional<ElementType> type_in(const JsonValue& types) {
  const std::string_view text = types.text().value_or("");
  const std::size_t at = text.find("Tensor(");
  if (at == std::string_view::npos) return element_type_from(text);
  return element_type_from(text.substr(at, text.find(')', at) + 1 - at));
}

bool is_gather(Operation op) {
  return op == Operation::all_gather || op == Operation::reduce_scatter;
}

// A call, and where it was found: only at the end is known which nodes say the same twice.
struct Found {
  enum class In : std::uint8_t { parameters, dispatcher, backend } in = In::parameters;
  RecordedCall call;
  std::int64_t node = -1;
  bool on_host = false, any_source = false;
  double input = -1, output = -1;  // bytes of one rank's buffers; negative: not said
};

class ExecutionTraceReader {
 public:
  explicit ExecutionTraceReader(Recording& recording) : recording_(recording) {
    rank_index(recording_, recording_.source);
    recording_.whole_of_rank = true;
  }

  void add(const JsonValue& node) {
    const std::string_view name = node["name"].text().value_or("");
    const bool parameters = name == "record_param_comms", dispatched = name.starts_with("c10d::");
    const bool backend = name.starts_with("gloo:") || name.starts_with("mpi:");
    const bool groups = name == "## process_group:init ##";
    if (!parameters && !dispatched && !backend && !groups) return;
    const JsonValue inputs = node["inputs"];
    const JsonValue values = inputs.is_array() ? inputs : inputs["values"];
    const JsonValue types = inputs.is_array() ? node["input_types"] : inputs["types"];
    std::vector<JsonValue> fields;
    values.each([&](const JsonValue& value) { fields.push_back(value); });
    if (groups) return add_groups(fields);
    if (parameters) return add_parameters(node, values, types, fields);
    const auto op = operation_from(name.substr(name.find(':')));
    if (!op) return;
    Found found;
    found.in = dispatched ? Found::In::dispatcher : Found::In::backend;
    found.node = node["id"].integer().value_or(-1);
    found.call.op = *op;
    found.any_source = name.find("any_source") != std::string_view::npos;
    add_arguments(fields, types, found);
    found_.push_back(std::move(found));
  }

  void finish() {
    const auto is_in = [&](Found::In in) {
      return std::any_of(found_.begin(), found_.end(), [&](const Found& f) { return f.in == in; });
    };
    const bool dispatched = is_in(Found::In::dispatcher), described = is_in(Found::In::parameters);
    say_what_was_done();
    for (Found& found : found_) {
      if (found.in == Found::In::backend && dispatched) continue;
      // Described by a node below it, or of a device whose calls are.
      const bool again = described_.count(found.node) > 0 || (described && !found.on_host);
      if (found.in == Found::In::dispatcher && again) continue;
      if (found.in != Found::In::parameters) complete(found);
      if (!found.call.bytes && found.call.op != Operation::barrier) {
        leave_unsaid(recording_, kCallsWithoutSize);
      }
      recording_.calls.push_back(found.call);
    }
    RecordedRank& rank = recording_.ranks.front();
    if (!rank.number) rank.number = rank_in_name(recording_.source);
  }

 private:
  void add_parameters(const JsonValue& node, const JsonValue& values, const JsonValue& types,
                      const std::vector<JsonValue>& fields) {
    for (const char* key : {"ctrl_deps", "parent"}) {
      if (const auto parent = node[key].integer()) described_.insert(*parent);
    }
    std::size_t name = 0;
    while (name < fields.size() && !fields[name].text()) ++name;
    if (name == fields.size() || name < 2) return omit(recording_, "nodes that could not be read");
    const std::string_view op_name = *fields[name].text();
    const auto op = operation_from(op_name);
    if (!op) {
      if (op_name != "wait" && op_name != "init") omit(recording_, "nodes of unknown operations");
      return;
    }
    Found found;
    RecordedCall& call = found.call;
    call.op = *op;
    const auto number = fields[name - 1].integer();
    if (number && has_root(*op)) {
      call.peer = number;
    } else if (number && *number >= 0) {
      recording_.ranks.front().number = number;
    }
    if (name >= 3) call.sequence = fields[name - 3].integer();
    call.group = group_of(node, fields, name);
    const JsonValue outputs = node["outputs"];
    set_size(node, values, outputs.is_array() ? outputs : outputs["values"], types, call);
    found_.push_back(std::move(found));
  }

  std::uint32_t group_of(const JsonValue& node, const std::vector<JsonValue>& fields,
                         std::size_t name) {
    const JsonValue field = fields[name - 2];
    std::string id;
    if (const auto text = field.at(0).text()) {
      id = *text;
    } else if (const auto address = field.integer()) {
      id = "group at " + std::to_string(*address);
    }
    std::optional<std::int64_t> first, stride, size;
    if (fields.size() == name + 6) {
      first = fields[name + 3].integer();
      stride = fields[name + 4].integer();
    }
    if (fields.size() >= name + 4) size = fields.back().integer();
    if (const auto named = attribute(node, "pg_size").integer()) size = named;
    if (size && *size <= 0) size.reset();
    const std::uint32_t index = group_index(recording_, id, size);
    RecordedGroup& group = recording_.groups[index];
    if (const auto text = field.at(1).text()) group.description = *text;
    if (group.ranks.empty() && first && stride && size) list_ranks(group, *first, *stride, *size);
    return index;
  }

  // The members of evenly spaced groups; what claims more of them than a machine has is not heard.
  void list_ranks(RecordedGroup& group, std::int64_t first, std::int64_t stride,
                  std::int64_t size) {
    const bool sound = first >= 0 && first < kMostRanks && stride > 0 && stride < kMostRanks;
    if (!sound || size < 1 || size > ranks_left_) return;
    ranks_left_ -= size;
    for (std::int64_t i = 0; i < size; ++i) group.ranks.push_back(first + i * stride);
  }

  void set_size(const JsonValue& node, const JsonValue& inputs, const JsonValue& outputs,
                const JsonValue& types, RecordedCall& call) {
    if (call.op == Operation::barrier) return;
    call.type = element_type_from(attribute(node, "dtype").text().value_or(""));
    if (!call.type) call.type = type_in(types.at(0));
    const auto in = attribute(node, "in_msg_nelems").number();
    const auto out = attribute(node, "out_msg_nelems").number();
    if (call.type && in && out) {
      const double width = bytes_per_element(*call.type);
      call.bytes = whole_from_buffers(call.op, *in * width, *out * width);
      return;
    }
    Buffers input, output;
    add_tensors(inputs.at(0), input);
    add_tensors(outputs, output);
    call.bytes = whole_from_buffers(call.op, input.size(), output.size());
    if (!call.bytes && input.any) {
      set_bytes_from_count(call, input.bytes, group_size(recording_, call));
    }
  }

  // ---- calls of the host ----

  // Of two nodes the one that was begun later has the higher number.
  void say_what_was_done() {
    std::vector<HostCall> asked, done;
    std::vector<RecordedCall*> calls;  // asked for
    for (Found& found : found_) {
      if (found.in == Found::In::parameters) continue;
      const bool dispatched = found.in == Found::In::dispatcher;
      (dispatched ? asked : done).push_back({found.call.op, found.input, found.output, found.node});
      if (dispatched) calls.push_back(&found.call);
    }
    const auto why = asked_for(asked, done);
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (why[i] && calls[*why[i]]->op != done[i].op) calls[*why[i]]->done_as = done[i].op;
    }
  }

  // [{"pg_name", "pg_desc", "ranks": [none: all], "group_size"}], as a text: groups of this rank.
  void add_groups(const std::vector<JsonValue>& fields) {
    if (fields.empty() || !fields.front().text()) return;
    JsonParser parser;
    parser.parse_copy(*fields.front().text()).each([&](const JsonValue& config) {
      const auto name = config["pg_name"].text();
      auto size = config["group_size"].integer();
      if (!name || groups_.size() >= kMostGroups) return;
      if (size && *size <= 0) size.reset();
      const std::uint32_t index = group_index(recording_, *name, size);
      RecordedGroup& group = recording_.groups[index];
      if (std::find(groups_.begin(), groups_.end(), index) == groups_.end()) {
        groups_.push_back(index);
      }
      if (const auto text = config["pg_desc"].text()) group.description = *text;
      const bool all = config["ranks"].is_array() && config["ranks"].size() == 0;
      if (all && size) recording_.ranks.front().world_size = size;
      if (!group.ranks.empty()) return;
      if (all && size) return list_ranks(group, 0, 1, *size);
      config["ranks"].each([&](const JsonValue& number) {
        if (const auto member = number.integer()) group.ranks.push_back(*member);
      });
    });
  }

  void add_arguments(const std::vector<JsonValue>& fields, const JsonValue& types, Found& found) {
    RecordedCall& call = found.call;
    std::size_t group = 0;
    Buffers first, second;
    while (group < fields.size() && fields[group].is_array()) {
      if (group < 2) add_tensors(fields[group], group == 0 ? first : second);
      if (!call.type && call.op != Operation::barrier) call.type = type_in(types.at(group));
      ++group;
    }
    found.on_host = first.any ? first.on_host : second.on_host;
    found.output = first.size();
    found.input = group < 2 ? first.size() : second.size();
    if (found.in == Found::In::backend) found.output = -1;  // inputs only
    const bool has_other_end = call.op == Operation::send || call.op == Operation::receive;
    const bool has_peer = has_root(call.op) || (has_other_end && !found.any_source);
    for (std::size_t i = group + 1; has_peer && !call.peer && i < fields.size(); ++i) {
      if (!fields[i].text()) call.peer = fields[i].integer();
    }
  }

  void complete(Found& found) {
    RecordedCall& call = found.call;
    call.group = own_group(recording_, groups_, call.op, found.input, found.output);
    if (!call.group) leave_unsaid(recording_, kCallsWithoutGroup);
    call.peer = global_rank(recording_, call, call.peer);
    if (call.op == Operation::barrier) return;
    call.bytes = whole_from_buffers(call.op, found.input, found.output);
    if (call.bytes) return;
    const double part = std::max(found.input, found.output);
    const bool shared =
        is_gather(call.op) || call.op == Operation::gather || call.op == Operation::scatter;
    if (shared) set_bytes_from_count(call, part, group_size(recording_, call));
    if (call.op == Operation::receive && part >= 0) call.bytes = Bytes(part);
  }

  static constexpr std::int64_t kMostRanks = 1 << 20;
  static constexpr std::size_t kMostGroups = 4096;

  Recording& recording_;
  std::vector<Found> found_;
  std::unordered_set<std::int64_t> described_;  // nodes with a record_param_comms below them
  std::vector<std::uint32_t> groups_;           // that the trace says this rank is in
  std::int64_t ranks_left_ = kMostRanks;        // members of groups that may still be listed
};

}  // namespace

void read_execution_trace(ByteSource& source, Recording& recording) {
  ExecutionTraceReader reader(recording);
  for_each_piece(source, JsonShape::document, recording,
                 [&](std::string_view key, const JsonValue& value) {
                   if (key == "nodes" || key.empty()) reader.add(value);
                 });
  reader.finish();
  if (recording.calls.empty()) leave_unsaid(recording, "no communication in the trace");
}

}  // namespace headway
