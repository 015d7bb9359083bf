// The table: a row for each format, and how it is recognised.
#include <algorithm>
#include <initializer_list>

#include "trace/formats.hpp"
#include "trace/readers/nccl/tests_table.hpp"
#include "trace/readers/readers.hpp"
#include "trace/recording/record_file.hpp"

namespace headway {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return has(text, part); });
}

bool is_sqlite(std::string_view bytes) {
  return bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool is_flight_pickle(std::string_view bytes) {
  const bool pickle = bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] <= 5;
  return pickle && has_any(bytes, {"pg_config", "profiling_name"});
}

bool is_headway_record(std::string_view bytes) {
  return bytes.starts_with(record_file::kMark);
}

bool is_inspector(std::string_view text) {
  return has_any(text, {"\"coll_perf\"", "\"p2p_perf\""});
}

bool is_profiler(std::string_view text) {
  return has_any(text, {"\"ncclProfile", "\"ProfilerLifecycle\""});
}

bool is_profiler_chrome(std::string_view text) {
  for (const std::string_view category : {"COLL", "P2P", "GROUP_API", "COLL_API", "PROXY"}) {
    const std::string value = "\"" + std::string(category) + "\"";
    if (has(text, "\"cat\": " + value) || has(text, "\"cat\":" + value)) return true;
  }
  return false;
}

bool is_chakra_json(std::string_view text) {
  return has(text, "\"workload_graph\"");
}

bool is_flight_recorder(std::string_view text) {
  return has_any(text, {"\"profiling_name\"", "\"pg_status\""});
}

bool is_nccl_tests_json(std::string_view text) {
  return has(text, "\"out_of_place\"");
}

bool is_execution_trace(std::string_view text) {
  return has_any(text, {"\"nodes\"", "\"ctrl_deps\"", "[pytorch|profiler|execution"});
}

bool is_kineto(std::string_view text) {
  return has_any(text, {"\"traceEvents\"", "\"schemaVersion\"", "\"distributedInfo\""}) ||
         (has(text, "\"ph\"") && has(text, "\"ts\""));
}

bool is_nccl_tests(std::string_view line) {
  return (has(line, "# nThread ") && (line.starts_with("# nThread ") || has(line, "nGpus"))) ||
         has(line, "# Collective test starting: ") ||
         (has(line, "#") && has(line, " algbw ") && has(line, " busbw "));
}

bool is_osu(std::string_view line) {
  return has(line, "# OSU ");
}

bool is_deepspeed(std::string_view line) {
  return has(line, "| comm op: ") || (has(line, "Comm. Op") && has(line, "Message Size"));
}

bool is_nccl_debug(std::string_view line) {
  return has(line, ": opCount ") && has(line, " count ");
}

// A protobuf message of metadata with its length before it.
bool is_chakra(std::string_view bytes) {
  std::size_t at = 0, length = 0;
  for (int shift = 0; at < bytes.size() && shift < 28; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (length == 0 || at + 2 > bytes.size()) return false;
  const char field = bytes[at];  // 1 version, 2 attribute; both with a length
  if (field != 0x0a && field != 0x12) return false;
  const auto inner = static_cast<unsigned char>(bytes[at + 1]);
  if (field == 0x0a) return inner + 2u <= length && inner < 40;
  return length >= 4;
}

// NCCL's initialisation names the communicators.
bool names_a_communicator(std::string_view line) {
  return has(line, " commId ");
}
// The command that starts a test of OSU's has the number of ranks, that of nccl-tests the
// operation.
bool starts_osu(std::string_view line) {
  return has(line, "osu_");
}
bool starts_nccl_tests(std::string_view line) {
  return operation_of_program(line).has_value();
}

constexpr std::string_view kChakraSizes = "the nodes lack comm_size";

using enum TraceForm;
constexpr TraceFormat kFormats[] = {
    {"nsight", "Nsight Systems SQLite", sqlite, is_sqlite, nullptr, nullptr, false,
     "NCCL gives them to NVTX: nsys profile --trace=cuda,nvtx, export --include-blobs=true"},
    {"flight_recorder_pickle", "PyTorch flight recorder", pickle, is_flight_pickle,
     read_flight_recorder_pickle},
    {"headway_record", "headway record", json, is_headway_record, read_headway_record},
    {"nccl_inspector", "NCCL Inspector", json, is_inspector, read_nccl_inspector},
    {"nccl_profiler", "NCCL profiler events", json, is_profiler, read_nccl_profiler},
    {"nccl_profiler_chrome", "NCCL example profiler events", json, is_profiler_chrome,
     read_nccl_profiler_chrome},
    {"chakra_json", "Chakra JSON", json, is_chakra_json, read_chakra_json, nullptr, false,
     kChakraSizes},
    {"flight_recorder", "PyTorch flight recorder", json, is_flight_recorder, read_flight_recorder},
    {"nccl_tests_json", "nccl-tests JSON", json, is_nccl_tests_json, read_nccl_tests_json},
    {"execution_trace", "PyTorch Execution Trace", json, is_execution_trace, read_execution_trace},
    {"kineto", "PyTorch Kineto trace", json, is_kineto, read_kineto, nullptr, false,
     "PyTorch writes them since 2.3, older profilers with record_shapes=True"},
    {"nccl_tests", "nccl-tests table", log, is_nccl_tests, read_nccl_tests, starts_nccl_tests,
     true},
    {"osu", "OSU micro-benchmark", log, is_osu, read_osu, starts_osu},
    {"deepspeed", "DeepSpeed communication log", log, is_deepspeed, read_deepspeed},
    {"nccl_debug", "NCCL_DEBUG log", log, is_nccl_debug, read_nccl_debug, names_a_communicator},
    {"chakra", "Chakra", protobuf, is_chakra, read_chakra, nullptr, false, kChakraSizes},
};

}  // namespace

std::span<const TraceFormat> trace_formats() {
  return kFormats;
}

}  // namespace headway
