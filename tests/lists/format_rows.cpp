// The formats of traces and one more: a log whose lines "tally N" are all-reduces of N bytes.
#define trace_formats library_formats
#include "trace/format_rows.cpp"
#undef trace_formats

#include <cstdlib>
#include <vector>

#include "trace/io/line_reader.hpp"

namespace headway {
namespace {

void read_tally(ByteSource& source, Recording& recording) {
  LineReader lines(source);
  std::string_view line;
  while (lines.next(line)) {
    if (!line.starts_with("tally ")) continue;
    ++recording.records_read;
    RecordedCall call;
    call.op = Operation::all_reduce;
    call.rank = rank_index(recording, "rank 0", 0);
    call.group = group_index(recording, "all", 8);
    call.bytes = Bytes(std::strtod(std::string(line.substr(6)).c_str(), nullptr));
    recording.calls.push_back(call);
  }
}

}  // namespace

std::span<const TraceFormat> trace_formats();
std::span<const TraceFormat> trace_formats() {
  static const std::vector<TraceFormat> out = [] {
    std::vector<TraceFormat> all(library_formats().begin(), library_formats().end());
    all.push_back({"tally", "Tally of calls", TraceForm::log,
                   [](std::string_view line) { return line.starts_with("tally "); }, read_tally});
    return all;
  }();
  return out;
}

}  // namespace headway
