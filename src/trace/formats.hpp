// The one table of the formats that traces and logs have. A new one is a reader and a row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/io/byte_source.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// What a source is made of, which decides how it is recognised.
enum class TraceForm : std::uint8_t {
  sqlite,    // by its first bytes; its reader takes the file and not a stream (nsight)
  pickle,    // by what its first bytes hold
  json,      // by the members in its beginning; those that may quote another stand first
  log,       // by a line, before which anything may stand
  protobuf,  // by its first bytes, where it is nothing else
};

struct TraceFormat {
  std::string_view name;   // "kineto": of its fuzz target and of the seeds of that
  std::string_view shown;  // "PyTorch Kineto trace": Recording::format
  TraceForm form;
  /// Whether the beginning of a source (of a log: a line) is this format's.
  bool (*recognises)(std::string_view text);
  /// Adds what the unpacked source says to a recording; null for SQLite.
  void (*read)(ByteSource& source, Recording& recording);
  /// Whether the reader of a log needs this line, although it stands before the first that it is
  /// recognised by; null: none.
  bool (*needs)(std::string_view line) = nullptr;
  bool needs_last = false;  // of those lines the last alone
};

/// All of them, in the order in which they are tried.
std::span<const TraceFormat> trace_formats();

/// The format of a source by its first bytes (64 KiB or all there are); never by its name. Null
/// where they show none: a log may begin with much else.
const TraceFormat* format_of(std::string_view beginning,
                             std::span<const TraceFormat> formats = trace_formats());

/// The format of a log by one of its lines, or null.
const TraceFormat* format_of_line(std::string_view line,
                                  std::span<const TraceFormat> formats = trace_formats());

/// All of them, as shown in a message.
std::string names_of(std::span<const TraceFormat> formats);

}  // namespace headway
