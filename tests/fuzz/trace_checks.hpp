// What holds of any recording, whatever was read.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "trace/analysis/align.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/analysis/overlap.hpp"
#include "trace/analysis/waiting.hpp"
#include "trace/open.hpp"
#include "trace/readers/readers.hpp"

namespace headway {

inline void check_recording(const Recording& recording) {
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto is_size = [](double value) { return std::isfinite(value) && value >= 0; };
  for (const RecordedCall& call : recording.calls) {
    require(call.rank < recording.ranks.size());
    require(!call.group || *call.group < recording.groups.size());
    require(!call.bytes || is_size(call.bytes->value()));
    require(!call.counted_bytes || is_size(call.counted_bytes->value()));
    require(!call.duration || is_size(call.duration->value()));
    require(call.duration.has_value() == (call.time != TimeKind::none));
    require(is_size(call.count));
  }
  for (const RecordedCompute& compute : recording.compute) {
    require(compute.rank < recording.ranks.size() && compute.duration_ns >= 0);
  }
  for (const Omission& omission : recording.omissions) require(omission.count > 0);
  const std::vector<CallTableRow> rows = call_table(recording);
  require(rows.empty() == recording.calls.empty());
  const Alignment alignment = align(recording);
  require(waiting_table(recording, alignment).empty() == alignment.matched.empty());
  for (const MatchedCall& matched : alignment.matched) {
    require(matched.calls.size() > 1 && matched.waiting.size() == matched.calls.size());
    for (const Seconds waiting : matched.waiting) require(is_size(waiting.value()));
  }
  for (const Overlap& overlap : overlap_of(recording)) {
    require(std::isfinite(overlap.exposed.value()) && is_size(overlap.span.value()));
  }
  Recording twice = recording;
  append(twice, recording);
  require(twice.calls.size() == 2 * recording.calls.size());
}

/// A reader takes any bytes.
inline void check_reader(void (*reader)(ByteSource&, Recording&), std::string_view text) {
  const auto source = source_of(text);
  Recording recording;
  recording.source = "fuzzed";
  reader(*source, recording);
  check_recording(recording);
}

}  // namespace headway
