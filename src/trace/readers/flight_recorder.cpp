// PyTorch flight recorder, as JSON or as the pickle it dumps by default: {"pg_config": {"0":
// {"name", "desc", "ranks"}}, "entries":
// [{"process_group": [name, desc], "profiling_name": "nccl:all_reduce", "input_sizes": [[..]],
// "input_dtypes": [..], "state", "duration_ms", "time_created_ns", ...}]}. "duration_ms" is the
// GPU's and there only with TORCH_NCCL_ENABLE_TIMING; else the times of discovery are the host's,
// with the 100 ms of its watchdog.
#include <algorithm>
#include <string>
#include <vector>

#include "trace/io/pickle.hpp"
#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr std::string_view kDoneOnHost =
    "calls as the host's backend did them, not as they were asked for (gloo does a reduce-scatter "
    "as an all-reduce), sends and receives not among them";

double elements_of(const JsonValue& sizes) {
  double sum = 0;
  sizes.each([&](const JsonValue& shape) {
    double product = 1;
    shape.each([&](const JsonValue& length) { product *= length.number().value_or(0); });
    sum += product;
  });
  return sum;
}

// A group as "pg_config" has it.
RecordedGroup group_of(std::string_view id, const JsonValue& config) {
  RecordedGroup group;
  group.id = config["name"].text().value_or(id);
  group.description = config["desc"].text().value_or("");
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
  return group;
}

// The group of the entries that is the configured one: of the same name, else the only one without
// ranks of the same description, else, where the configuration names and describes none (as that
// of gloo does), the only one without ranks. New where there is none.
RecordedGroup& group_for(const RecordedGroup& configured, Recording& recording) {
  auto& groups = recording.groups;
  for (RecordedGroup& group : groups) {
    if (!configured.id.empty() && group.id == configured.id) return group;
  }
  RecordedGroup* one = nullptr;
  int candidates = 0;
  for (RecordedGroup& group : groups) {
    const bool alike = configured.description.empty() ? configured.id.empty()
                                                      : group.description == configured.description;
    if (!alike || !group.ranks.empty()) continue;
    one = &group;
    ++candidates;
  }
  return candidates == 1 ? *one : groups.emplace_back(RecordedGroup{configured.id, {}, {}, {}});
}

void add_group(const RecordedGroup& configured, Recording& recording) {
  RecordedGroup& group = group_for(configured, recording);
  if (!configured.description.empty()) group.description = configured.description;
  if (!group.ranks.empty()) return;
  group.ranks = configured.ranks;
  if (configured.size) group.size = configured.size;
}

void set_times(const JsonValue& entry, RecordedCall& call) {
  const auto started = entry["time_discovered_started_ns"].integer();
  const auto completed = entry["time_discovered_completed_ns"].integer();
  if (const auto ms = entry["duration_ms"].number(); ms && *ms >= 0) {
    call.duration = Seconds(*ms * 1e-3);
    call.time = TimeKind::kernel;
  } else if (started && completed && *completed >= *started && *started > 0) {
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
  RecordedGroup& group = recording.groups[*call.group];
  if (group.description.empty()) group.description = process_group.at(1).text().value_or("");
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
  if (!call.bytes && call.op != Operation::barrier) leave_unsaid(recording, kCallsWithoutSize);
  set_times(entry, call);
  // A backend of the host never says that a call is completed, only that it let go of it.
  const bool on_host = name.starts_with("gloo:") || name.starts_with("mpi:");
  const bool let_go = on_host && entry["retired"].is_true();
  if (on_host) leave_unsaid(recording, kDoneOnHost);
  if (!let_go && entry["state"].text().value_or("completed") != "completed") {
    leave_unsaid(recording, "calls that were not completed");
    call.duration.reset();
    call.time = TimeKind::none;
  }
  recording.calls.push_back(call);
}

}  // namespace

void read_flight_recorder(ByteSource& source, Recording& recording) {
  rank_index(recording, recording.source);
  recording.whole_of_rank = true;
  std::vector<RecordedGroup> configured;  // may stand before or behind the entries
  for_each_piece(source, JsonShape::document, recording,
                 [&](std::string_view key, const JsonValue& value) {
                   if (key == "pg_config") {
                     value.each_member([&](std::string_view id, const JsonValue& config) {
                       configured.push_back(group_of(id, config));
                     });
                   } else if (key == "rank") {
                     recording.ranks.front().number = value.integer();
                   } else if (key == "entries" || key.empty()) {
                     add_entry(value, recording);
                   }
                 });
  for (const RecordedGroup& group : configured) add_group(group, recording);
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
