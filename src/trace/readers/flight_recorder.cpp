// PyTorch flight recorder, as JSON or as the pickle it dumps by default: {"pg_config": {"0":
// {"name", "desc", "ranks"}}, "entries":
// [{"process_group": [name, desc], "profiling_name": "nccl:all_reduce", "input_sizes": [[..]],
// "input_dtypes": [..], "state", "duration_ms", "time_created_ns", ...}]}. "duration_ms" is the
// GPU's and there only with TORCH_NCCL_ENABLE_TIMING; else the times of discovery are the host's,
// with the 100 ms of its watchdog.
#include <algorithm>
#include <string>

#include "trace/io/pickle.hpp"
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

double elements_of(const JsonValue& sizes) {
  double sum = 0;
  sizes.each([&](const JsonValue& shape) {
    double product = 1;
    shape.each([&](const JsonValue& length) { product *= length.number().value_or(0); });
    sum += product;
  });
  return sum;
}

void add_group(std::string_view id, const JsonValue& config, Recording& recording) {
  const auto name = config["name"].text();
  RecordedGroup& group = recording.groups[group_index(recording, name ? *name : id)];
  if (const auto text = config["desc"].text()) group.description = *text;
  if (!group.ranks.empty()) return;
  const auto add_rank = [&](const JsonValue& rank) {
    if (const auto number = rank.integer()) group.ranks.push_back(*number);
  };
  if (const auto text = config["ranks"].text()) {  // "[0, 1]"
    JsonParser parser;
    parser.parse_copy(*text).each(add_rank);
  } else {
    config["ranks"].each(add_rank);
  }
  if (!group.ranks.empty()) group.size = static_cast<std::int64_t>(group.ranks.size());
}

void set_times(const JsonValue& entry, RecordedCall& call) {
  const auto started = entry["time_discovered_started_ns"].integer();
  const auto completed = entry["time_discovered_completed_ns"].integer();
  if (const auto ms = entry["duration_ms"].number(); ms && *ms >= 0) {
    call.duration = Seconds(*ms * 1e-3);
    call.time = TimeKind::kernel;
  } else if (started && completed && *completed >= *started && *started >= 0) {
    call.start_ns = started;
    call.duration = Seconds(static_cast<double>(*completed - *started) * 1e-9);
    call.time = TimeKind::host;
  } else {
    call.start_ns = entry["time_created_ns"].integer();
  }
}

void add_entry(const JsonValue& entry, Recording& recording) {
  const std::string_view name = entry["profiling_name"].text().value_or("");
  const auto op = operation_from(name.substr(name.find(':') + 1));
  if (!op) return omit(recording, "entries of unknown operations");
  RecordedCall call;
  call.op = *op;
  const JsonValue process_group = entry["process_group"];
  std::string id(process_group.at(0).text().value_or(""));
  if (id.empty()) id = std::to_string(entry["pg_id"].integer().value_or(0));
  call.group = group_index(recording, id);
  call.sequence = entry[entry["is_p2p"].is_true() ? "p2p_seq_id" : "collective_seq_id"].integer();
  call.type = element_type_from(entry["input_dtypes"].at(0).text().value_or(""));
  if (!call.type) {
    call.type = element_type_from(entry["output_dtypes"].at(0).text().value_or(""));
  }
  if (call.type && call.op != Operation::barrier) {
    const double width = bytes_per_element(*call.type);
    const JsonValue input = entry["input_sizes"], output = entry["output_sizes"];
    call.bytes = whole_from_buffers(call.op, input.is_array() ? elements_of(input) * width : -1,
                                    output.is_array() ? elements_of(output) * width : -1);
  }
  if (!call.bytes) leave_unsaid(recording, kCallsWithoutSize);
  set_times(entry, call);
  if (entry["state"].text().value_or("completed") != "completed") {
    leave_unsaid(recording, "calls that were not completed");
    call.duration.reset();
    call.time = TimeKind::none;
  }
  recording.calls.push_back(call);
}

}  // namespace

void read_flight_recorder(ByteSource& source, Recording& recording) {
  rank_index(recording, recording.source);
  for_each_piece(source, JsonShape::document, recording,
                 [&](std::string_view key, const JsonValue& value) {
                   if (key == "pg_config") {
                     value.each_member([&](std::string_view id, const JsonValue& config) {
                       add_group(id, config, recording);
                     });
                   } else if (key == "rank") {
                     recording.ranks.front().number = value.integer();
                   } else if (key == "entries" || key.empty()) {
                     add_entry(value, recording);
                   }
                 });
  RecordedRank& rank = recording.ranks.front();
  if (!rank.number) rank.number = rank_in_name(recording.source);
  for (const RecordedGroup& group : recording.groups) {
    if (group.description == "default_pg") rank.world_size = group.size;
  }
  std::int64_t untimed = 0;
  for (const RecordedCall& call : recording.calls) untimed += call.duration ? 0 : 1;
  leave_unsaid(recording, kCallsWithoutDuration, untimed);
}

void read_flight_recorder_pickle(ByteSource& source, Recording& recording) {
  const auto json = json_of_pickle(source, "frames");
  if (json) {
    const auto text = source_of(*json);
    return read_flight_recorder(*text, recording);
  }
  omit(recording, json.problems().front().message);
}

}  // namespace headway
