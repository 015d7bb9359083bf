// A trace or log of any known format becomes a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "trace/io/byte_source.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

enum class TraceFormat : std::uint8_t {
  kineto,
  execution_trace,
  chakra,
  chakra_json,
  nccl_debug,
  nccl_profiler,
  nccl_profiler_chrome,
  nccl_inspector,
  flight_recorder,
  flight_recorder_pickle,
  deepspeed,
  nccl_tests,
  nccl_tests_json,
  osu,
  nsight,
};

/// The format of a source by its first bytes (64 KiB or all there are); never by its name. Nothing
/// where they show none: a log may begin with much else.
std::optional<TraceFormat> format_of(std::string_view beginning);

/// The format of a log by one of its lines.
std::optional<TraceFormat> format_of_line(std::string_view line);

/// All of them, as shown.
inline constexpr std::string_view kKnownFormats =
    "PyTorch Kineto, Execution Trace or flight recorder; Chakra; NCCL_DEBUG, NCCL profiler or "
    "Inspector; DeepSpeed communication log; nccl-tests; OSU; Nsight Systems SQLite";

/// Reads a file, plain or gzip. A problem where it cannot be opened, is of no known format (its
/// kind is unknown then), or nothing in it could be read; what could not be read beside the rest is
/// in Recording::omissions. `told` hears of the file's bytes as they lie there, and may stop the
/// reading: then the recording ends there.
Result<Recording> read_trace(const std::string& path, const BytesRead& told = {});

/// The same for bytes in memory; `name` is shown as the source.
Result<Recording> read_trace_bytes(std::string_view bytes, const std::string& name);

}  // namespace headway
