// A trace or log of any known format becomes a recording.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "trace/formats.hpp"
#include "trace/io/byte_source.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// Reads a file, plain or gzip. A problem where it cannot be opened, is of no known format (its
/// kind is unknown then), or nothing in it could be read; what could not be read beside the rest is
/// in Recording::omissions. `told` hears of the file's bytes as they lie there, and may stop the
/// reading: then the recording ends there.
Result<Recording> read_trace(const std::string& path, const BytesRead& told = {},
                             std::span<const TraceFormat> formats = trace_formats());

/// The same for bytes in memory; `name` is shown as the source.
Result<Recording> read_trace_bytes(std::string_view bytes, const std::string& name,
                                   std::span<const TraceFormat> formats = trace_formats());

}  // namespace headway
