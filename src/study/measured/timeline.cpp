#include "study/measured/timeline.hpp"

#include <algorithm>
#include <optional>

namespace headway {
namespace {

// When something starts on the common clock, in seconds; exact until the first is subtracted.
std::optional<std::int64_t> shifted(std::int64_t start, const std::optional<std::int64_t>& offset,
                                    bool several) {
  if (!offset && several) return std::nullopt;  // its clock shares no collective with the others
  std::int64_t sum = 0;
  if (__builtin_add_overflow(start, offset.value_or(0), &sum)) return std::nullopt;
  return sum;
}

}  // namespace

MeasuredSpans spans_of(const Measured& measured) {
  const Recording& recording = measured.recording();
  const auto& offsets = measured.alignment.clock_offset_ns;
  const bool several = std::any_of(offsets.begin(), offsets.end(),
                                   [](const auto& offset) { return offset.has_value(); });
  const std::vector<std::int64_t> collective = collective_of_calls(measured);
  struct Placed {
    std::int64_t start;
    double seconds;
    MeasuredSpan span;
  };
  std::vector<Placed> placed;
  const auto timed = [](TimeKind kind) {
    return kind == TimeKind::kernel || kind == TimeKind::host;
  };
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (!call.start_ns || !call.duration || !timed(call.time)) continue;
    const auto start = shifted(*call.start_ns, offsets[call.rank], several);
    if (!start) continue;
    const Seconds transfer =
        collective[i] < 0
            ? *call.duration
            : measured.alignment.matched[static_cast<std::size_t>(collective[i])].transfer;
    placed.push_back({*start,
                      call.duration->value(),
                      {.rank = call.rank,
                       .waiting = (*call.duration - transfer).value(),
                       .index = i,
                       .compute = false}});
  }
  MeasuredSpans out;
  for (const auto& offset : offsets) out.unplaced += several && !offset ? 1 : 0;
  for (std::size_t i = 0; i < recording.compute.size(); ++i) {
    const RecordedCompute& compute = recording.compute[i];
    const auto start = shifted(compute.start_ns, offsets[compute.rank], several);
    if (!start) continue;
    placed.push_back({*start,
                      static_cast<double>(compute.duration_ns) * 1e-9,
                      {.rank = compute.rank, .index = i, .compute = true}});
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.start < b.start; });
  for (Placed& each : placed) {
    each.span.begin = static_cast<double>(static_cast<std::uint64_t>(each.start) -
                                          static_cast<std::uint64_t>(placed.front().start)) *
                      1e-9;
    each.span.end = each.span.begin + each.seconds;
    out.spans.push_back(each.span);
  }
  return out;
}

MeasuredTimeline timeline_of(const Measured& measured) {
  const MeasuredSpans placed = spans_of(measured);
  MeasuredTimeline out;
  for (const MeasuredSpan& span : placed.spans) {
    if (!span.compute) out.ranks.try_emplace(span.rank);  // there are calls
  }
  const auto shown = [&](const MeasuredSpan& span) { return out.ranks.contains(span.rank); };
  const auto first = std::find_if(placed.spans.begin(), placed.spans.end(), shown);
  if (first == placed.spans.end()) return out;
  for (MeasuredSpan span : placed.spans) {
    if (!shown(span)) continue;
    span.begin -= first->begin;
    span.end -= first->begin;
    out.span = std::max(out.span, span.end);
    MeasuredRank& row = out.ranks[span.rank];
    if (span.compute) {
      row.compute.push_back({span.begin, span.end});
      continue;
    }
    const Operation op = measured.recording().calls[span.index].op;
    row.transfer[op].push_back({span.begin + span.waiting, span.end});
    if (span.waiting > 0) row.waiting[op].push_back({span.begin, span.begin + span.waiting});
  }
  out.unplaced = placed.unplaced;
  return out;
}

}  // namespace headway
