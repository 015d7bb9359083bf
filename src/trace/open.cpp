#include "trace/open.hpp"

#include <algorithm>

#include "trace/io/line_reader.hpp"
#include "trace/readers/nccl/tests_table.hpp"
#include "trace/readers/readers.hpp"
#include "trace/unknown.hpp"

namespace headway {
namespace {

constexpr std::size_t kBeginning = 64 * 1024;
constexpr std::size_t kMostInitialisation = 16 * 1024 * 1024;
constexpr std::string_view kSqlite("SQLite format 3\0", 16);

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view without_space(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// What is particular to each kind of JSON; those that may quote another stand first.
std::optional<TraceFormat> json_format(std::string_view text) {
  if (has(text, "\"coll_perf\"") || has(text, "\"p2p_perf\"")) return TraceFormat::nccl_inspector;
  if (has(text, "\"ncclProfile") || has(text, "\"ProfilerLifecycle\"")) {
    return TraceFormat::nccl_profiler;
  }
  for (const std::string_view category : {"COLL", "P2P", "GROUP_API", "COLL_API", "PROXY"}) {
    const std::string value = "\"" + std::string(category) + "\"";
    if (has(text, "\"cat\": " + value) || has(text, "\"cat\":" + value)) {
      return TraceFormat::nccl_profiler_chrome;
    }
  }
  if (has(text, "\"workload_graph\"")) return TraceFormat::chakra_json;
  if (has(text, "\"profiling_name\"") || has(text, "\"pg_status\"")) {
    return TraceFormat::flight_recorder;
  }
  if (has(text, "\"out_of_place\"")) return TraceFormat::nccl_tests_json;
  const bool nodes = has(text, "\"nodes\"") || has(text, "\"ctrl_deps\"");
  if (nodes || has(text, "[pytorch|profiler|execution")) return TraceFormat::execution_trace;
  if (has(text, "\"traceEvents\"") || has(text, "\"schemaVersion\"") ||
      has(text, "\"distributedInfo\"") || (has(text, "\"ph\"") && has(text, "\"ts\""))) {
    return TraceFormat::kineto;
  }
  return std::nullopt;
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

Result<Recording> read_log(ByteSource& source, const std::string& looks, Recording recording) {
  // A log may begin with anything: the first line of a known form decides.
  // What comes before it may be needed: the initialisation of NCCL names the communicators, the
  // command that started a test of OSU's has the number of ranks, that of nccl-tests the operation.
  LineReader lines(source);
  std::string_view line;
  std::string initialisation, command;
  while (lines.next(line)) {
    const auto format = format_of_line(line);
    if (!format) {
      const bool says_more = has(line, " commId ") || has(line, "osu_");
      if (says_more && initialisation.size() < kMostInitialisation) {
        initialisation.append(line).append("\n");
      }
      if (operation_of_program(line)) command.assign(line).append("\n");  // the last one counts
      continue;
    }
    // The rest of the source, with this line before it.
    const bool needed = format == TraceFormat::nccl_debug || format == TraceFormat::osu;
    std::string front = needed ? initialisation : std::string();
    if (format == TraceFormat::nccl_tests) front = command;
    front += line;
    front += '\n';
    front += lines.unread();
    struct Borrowed : ByteSource {
      explicit Borrowed(ByteSource& owner) : source(owner) {}
      std::size_t read(char* to, std::size_t most) override { return source.read(to, most); }
      std::string_view damage() const override { return source.damage(); }
      ByteSource& source;
    };
    const auto rest = rejoined(std::move(front), std::make_unique<Borrowed>(source));
    switch (*format) {
      case TraceFormat::nccl_tests:
        read_nccl_tests(*rest, recording);
        break;
      case TraceFormat::osu:
        read_osu(*rest, recording);
        break;
      case TraceFormat::deepspeed:
        read_deepspeed(*rest, recording);
        break;
      default:
        read_nccl_debug(*rest, recording);
    }
    return recording;
  }
  return Problem{recording.source,
                 "is no trace or log of a known form; it looks like " + looks +
                     "; known: " + std::string(kKnownFormats),
                 Trouble::unknown};
}

using Reader = void (*)(ByteSource&, Recording&);

Reader reader_of(TraceFormat format) {
  switch (format) {
    case TraceFormat::kineto:
      return read_kineto;
    case TraceFormat::execution_trace:
      return read_execution_trace;
    case TraceFormat::chakra:
      return read_chakra;
    case TraceFormat::chakra_json:
      return read_chakra_json;
    case TraceFormat::nccl_profiler:
      return read_nccl_profiler;
    case TraceFormat::nccl_profiler_chrome:
      return read_nccl_profiler_chrome;
    case TraceFormat::nccl_inspector:
      return read_nccl_inspector;
    case TraceFormat::flight_recorder:
      return read_flight_recorder;
    case TraceFormat::flight_recorder_pickle:
      return read_flight_recorder_pickle;
    case TraceFormat::nccl_tests_json:
      return read_nccl_tests_json;
    default:
      return nullptr;  // logs, and Nsight's
  }
}

// The source is not SQLite.
Result<Recording> read_source(std::unique_ptr<ByteSource> source, const std::string& name) {
  Recording recording;
  recording.source = name;
  std::string beginning = read_up_to(*source, kBeginning);
  if (beginning.empty()) {
    const std::string_view damage = source->damage();
    return Problem{name, damage.empty() ? "is empty" : std::string(damage)};
  }
  const auto format = format_of(beginning);
  if (format == TraceFormat::nsight) {
    return Problem{name, "is an SQLite database packed with gzip; unpack it first",
                   Trouble::unreadable};
  }
  const std::string looks = looks_like(beginning, name);
  source = rejoined(std::move(beginning), std::move(source));
  if (format && reader_of(*format) != nullptr) {
    reader_of (*format)(*source, recording);
  } else {
    auto read = read_log(*source, looks, std::move(recording));
    if (!read) return read;
    recording = std::move(read).value();
  }
  if (recording.records_read == 0) {
    std::string message = "nothing in this " + recording.format + " could be read";
    for (const Omission& omission : recording.omissions) {
      message += "; " + omission.what + " (" + std::to_string(omission.count) + ")";
    }
    return Problem{name, message};
  }
  return recording;
}

}  // namespace

std::optional<TraceFormat> format_of_line(std::string_view line) {
  if (line.starts_with("# nThread ") || (has(line, "# nThread ") && has(line, "nGpus")) ||
      has(line, "# Collective test starting: ") ||
      (has(line, "#") && has(line, " algbw ") && has(line, " busbw "))) {
    return TraceFormat::nccl_tests;
  }
  if (has(line, "# OSU ")) return TraceFormat::osu;
  if (has(line, "| comm op: ") || (has(line, "Comm. Op") && has(line, "Message Size"))) {
    return TraceFormat::deepspeed;
  }
  if (has(line, ": opCount ") && has(line, " count ")) return TraceFormat::nccl_debug;
  return std::nullopt;
}

std::optional<TraceFormat> format_of(std::string_view beginning) {
  if (beginning.starts_with(kSqlite)) return TraceFormat::nsight;
  const bool pickle = beginning.size() > 1 && beginning[0] == '\x80' && beginning[1] <= 5;
  if (pickle && (has(beginning, "pg_config") || has(beginning, "profiling_name"))) {
    return TraceFormat::flight_recorder_pickle;
  }
  const std::string_view text = without_space(beginning);
  const bool json = text.starts_with('{') || text.starts_with('[');
  if (json) {
    if (const auto format = json_format(text)) return format;
  }
  for (std::size_t at = 0; at < beginning.size();) {
    const std::size_t end = std::min(beginning.find('\n', at), beginning.size());
    if (const auto format = format_of_line(beginning.substr(at, end - at))) return format;
    at = end + 1;
  }
  if (!json && is_chakra(beginning)) return TraceFormat::chakra;
  // A piece of JSON whose beginning is missing.
  return json ? std::nullopt : json_format(text);
}

Result<Recording> read_trace(const std::string& path, const BytesRead& told) {
  auto file = open_file(path);
  if (!file) return file.problems();
  std::unique_ptr<ByteSource> source = std::move(file).value();
  if (told) source = watched(std::move(source), told);
  std::string beginning = read_up_to(*source, kSqlite.size());
  if (beginning == kSqlite) return read_nsight_file(path, told);
  source = rejoined(std::move(beginning), std::move(source));
  return read_source(unpacked(std::move(source)), path);
}

Result<Recording> read_trace_bytes(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(kSqlite)) return read_nsight_bytes(bytes);
  return read_source(unpacked(source_of(bytes)), name);
}

}  // namespace headway
