// NCCL Inspector, one JSON object a line: {"header": {"id", "rank", "n_ranks", ...}, "metadata":
// {"hostname", "pid", ...}, "coll_perf": {"coll", "coll_sn", "coll_msg_size_bytes",
// "coll_exec_time_us", "coll_timing_source"}} or "p2p_perf". Bytes are those of NCCL's interface:
// one rank's part of an all-gather or reduce-scatter. By default calls under 8,192 B are left out.
#include <string>

#include "trace/readers/json_pieces.hpp"
#include "trace/readers/readers.hpp"

namespace headway {
namespace {

TimeKind kind_of(std::string_view source) {
  return source.starts_with("kernel") ? TimeKind::kernel : TimeKind::enqueue;
}

void add_record(const JsonValue& record, Recording& recording) {
  const JsonValue header = record["header"];
  const bool collective = record["coll_perf"].present();
  const JsonValue perf = collective ? record["coll_perf"] : record["p2p_perf"];
  const std::string prefix = collective ? "coll" : "p2p";
  const auto op = operation_from(perf[prefix].text().value_or(""));
  const auto bytes = perf[prefix + "_msg_size_bytes"].number();
  if (!op || !bytes || *bytes < 0) return omit(recording, "records that could not be read");
  RecordedCall call;
  call.op = *op;
  const auto size = header["n_ranks"].integer();
  call.group = group_index(recording, header["id"].label(), size);
  if (const auto name = header["comm_name"].text()) {
    recording.groups[*call.group].description = *name;
  }
  // A process has one rank in each communicator; the largest one's is the best guess.
  const std::string process = std::string(record["metadata"]["hostname"].text().value_or("")) +
                              ":" + std::to_string(record["metadata"]["pid"].integer().value_or(0));
  const auto number = header["rank"].integer();
  call.rank = rank_index(recording,
                         process == ":0" && number ? "rank " + std::to_string(*number) : process);
  RecordedRank& rank = recording.ranks[call.rank];
  if (number && size.value_or(0) > rank.world_size.value_or(0)) {
    rank.number = number;
    rank.world_size = size;
  }
  call.sequence = perf[prefix + "_sn"].integer();
  call.peer = perf["p2p_peer"].integer();
  set_bytes_from_count(call, *bytes, size && *size > 0 ? size : std::nullopt);
  const auto us = perf[prefix + "_exec_time_us"].number();
  if (us && *us >= 0) {
    call.duration = Seconds(*us * 1e-6);
    call.time = kind_of(perf[prefix + "_timing_source"].text().value_or(""));
  }
  recording.calls.push_back(call);
}

}  // namespace

void read_nccl_inspector(ByteSource& source, Recording& recording) {
  for_each_piece(source, JsonShape::lines, recording,
                 [&](std::string_view, const JsonValue& record) { add_record(record, recording); });
  if (!recording.calls.empty()) {
    leave_unsaid(recording,
                 "small calls may be missing (NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES, 8,192)");
  }
}

}  // namespace headway
