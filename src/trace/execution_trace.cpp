// PyTorch Execution Trace. Communication is in nodes "record_param_comms". Until 1.0.3 a node's
// "inputs" are a list, since 1.1 {"values": [...], "types": [...]}, with "attrs" that name the
// fields. Positions in the inputs, counted from the name of the operation:
//   tensors.., sequence, group (address, or [name, description]), rank or root, NAME, input split,
//   output split, [first rank, stride,] [ranks]
// A tensor is [id, storage, offset, elements, bytes of an element, device]. There are no times.
#include <string>
#include <vector>

#include "trace/json_pieces.hpp"
#include "trace/readers.hpp"

namespace headway {
namespace {

struct Buffers {
  double bytes = 0;
  bool any = false;
};

// Sums the tensors in a value: one, or lists of them.
void add_tensors(const JsonValue& value, Buffers& buffers, int depth = 0) {
  if (!value.is_array() || depth > 3) return;
  const auto elements = value.at(3).number(), width = value.at(4).number();
  if (value.size() == 6 && elements && width && value.at(5).text()) {
    if (*elements < 0 || *width < 0) return;
    buffers.bytes += *elements * *width;
    buffers.any = true;
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

class ExecutionTraceReader {
 public:
  explicit ExecutionTraceReader(Recording& recording) : recording_(recording) {
    rank_index(recording_, recording_.source);
  }

  void add(const JsonValue& node) {
    if (node["name"].text() != "record_param_comms") return;
    const JsonValue inputs = node["inputs"], outputs = node["outputs"];
    const JsonValue values = inputs.is_array() ? inputs : inputs["values"];
    const JsonValue types = inputs.is_array() ? node["input_types"] : inputs["types"];
    std::vector<JsonValue> fields;
    values.each([&](const JsonValue& value) { fields.push_back(value); });
    std::size_t name = 0;
    while (name < fields.size() && !fields[name].text()) ++name;
    if (name == fields.size() || name < 2) return omit(recording_, "nodes that could not be read");
    const std::string_view op_name = *fields[name].text();
    const auto op = operation_from(op_name);
    if (!op) {
      if (op_name != "wait" && op_name != "init") omit(recording_, "nodes of unknown operations");
      return;
    }
    RecordedCall call;
    call.op = *op;
    const auto number = fields[name - 1].integer();
    if (number && has_root(*op)) {
      call.peer = number;
    } else if (number && *number >= 0) {
      recording_.ranks.front().number = number;
    }
    if (name >= 3) call.sequence = fields[name - 3].integer();
    call.group = group_of(node, fields, name);
    set_size(node, values, outputs.is_array() ? outputs : outputs["values"], types, call);
    recording_.calls.push_back(call);
  }

 private:
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
    constexpr std::int64_t kMostRanks = 1 << 20;
    if (group.ranks.empty() && first && stride && size && *first >= 0 &&
        *first<kMostRanks&& * stride> 0 && *stride < kMostRanks && *size < kMostRanks) {
      for (std::int64_t i = 0; i < *size; ++i) group.ranks.push_back(*first + i * *stride);
    }
    return index;
  }

  void set_size(const JsonValue& node, const JsonValue& inputs, const JsonValue& outputs,
                const JsonValue& types, RecordedCall& call) {
    if (call.op == Operation::barrier) return;
    call.type = element_type_from(attribute(node, "dtype").text().value_or(""));
    if (!call.type) call.type = element_type_from(types.at(0).text().value_or(""));
    const auto in = attribute(node, "in_msg_nelems").number();
    const auto out = attribute(node, "out_msg_nelems").number();
    if (call.type && in && out) {
      const double width = bytes_per_element(*call.type);
      call.bytes = whole_from_buffers(call.op, *in * width, *out * width);
    } else {
      Buffers input, output;
      add_tensors(inputs.at(0), input);
      add_tensors(outputs, output);
      call.bytes =
          whole_from_buffers(call.op, input.any ? input.bytes : -1, output.any ? output.bytes : -1);
      if (!call.bytes && input.any) {
        set_bytes_from_count(call, input.bytes, group_size(recording_, call));
      }
    }
    if (!call.bytes) leave_unsaid(recording_, "calls without a size");
  }

  Recording& recording_;
};

}  // namespace

void read_execution_trace(ByteSource& source, Recording& recording) {
  recording.format = "PyTorch Execution Trace";
  ExecutionTraceReader reader(recording);
  for_each_piece(source, JsonShape::document, recording,
                 [&](std::string_view key, const JsonValue& value) {
                   if (key == "nodes" || key.empty()) reader.add(value);
                 });
  if (recording.calls.empty()) leave_unsaid(recording, "no communication in the trace");
}

}  // namespace headway
