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

MeasuredTimeline timeline_of(const Measured& measured) {
  const Recording& recording = measured.recording();
  const auto& offsets = measured.alignment.clock_offset_ns;
  const bool several = std::any_of(offsets.begin(), offsets.end(),
                                   [](const auto& offset) { return offset.has_value(); });
  const std::vector<std::int64_t> collective = collective_of_calls(measured);
  struct Kernel {
    std::uint32_t rank;
    std::int64_t start;
    double seconds, waiting;
    Operation op;
    bool compute;
  };
  std::vector<Kernel> kernels;
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
    kernels.push_back({call.rank, *start, call.duration->value(),
                       (*call.duration - transfer).value(), call.op, false});
  }
  if (kernels.empty()) return {};
  std::vector<bool> has_calls(recording.ranks.size());
  for (const Kernel& kernel : kernels) has_calls[kernel.rank] = true;
  for (const RecordedCompute& compute : recording.compute) {
    if (!has_calls[compute.rank]) continue;
    const auto start = shifted(compute.start_ns, offsets[compute.rank], several);
    if (start) {
      kernels.push_back({compute.rank, *start, static_cast<double>(compute.duration_ns) * 1e-9, 0,
                         Operation::other, true});
    }
  }
  const auto first =
      std::min_element(kernels.begin(), kernels.end(),
                       [](const Kernel& a, const Kernel& b) { return a.start < b.start; });
  const std::int64_t zero = first->start;
  MeasuredTimeline out;
  for (const Kernel& kernel : kernels) {
    const double begin = static_cast<double>(static_cast<std::uint64_t>(kernel.start) -
                                             static_cast<std::uint64_t>(zero)) *
                         1e-9;
    const double end = begin + kernel.seconds;
    out.span = std::max(out.span, end);
    MeasuredRank& row = out.ranks[kernel.rank];
    if (kernel.compute) {
      row.compute.push_back({begin, end});
    } else {
      row.transfer[kernel.op].push_back({begin + kernel.waiting, end});
      if (kernel.waiting > 0) row.waiting[kernel.op].push_back({begin, begin + kernel.waiting});
    }
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    out.unplaced += several && !offsets[i] ? 1 : 0;
  }
  return out;
}

}  // namespace headway
