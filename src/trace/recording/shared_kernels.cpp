#include "trace/recording/shared_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headway {
namespace {

std::int64_t nanoseconds_of(const RecordedCall& call) {
  return static_cast<std::int64_t>(std::llround(call.duration->value() * 1e9));
}

// Shares begin to end among calls; where a size is missing, equally.
void share(std::int64_t begin, std::int64_t end, const std::vector<RecordedCall*>& calls) {
  double sum = 0;
  for (const RecordedCall* call : calls) sum += call->bytes.value_or(Bytes()).value();
  const bool sized = sum > 0 && std::all_of(calls.begin(), calls.end(), [](const auto* call) {
                       return call->bytes.has_value();
                     });
  const auto whole = static_cast<double>(end - begin);
  double done = 0;  // the share of those before
  for (RecordedCall* call : calls) {
    const double part =
        sized ? call->bytes->value() / sum : 1.0 / static_cast<double>(calls.size());
    call->start_ns = begin + static_cast<std::int64_t>(std::llround(done * whole));
    call->duration = Seconds(part * whole * 1e-9);
    done += part;
  }
}

}  // namespace

void share_kernels(Recording& recording, const std::vector<Launch>& launches) {
  struct Run {
    RecordedCall* call;
    std::int64_t begin, end;  // on the GPU's clock where that is known of all in the group
    std::int64_t seen;        // its end on the host's clock
  };
  struct Together {
    std::vector<Run> runs;
    bool on_gpu = true;
  };
  std::map<std::pair<std::uint32_t, std::string>, Together> groups;
  for (std::size_t i = 0; i < recording.calls.size() && i < launches.size(); ++i) {
    RecordedCall& call = recording.calls[i];
    if (call.time != TimeKind::kernel || !call.start_ns || !call.duration) continue;
    std::int64_t seen = 0;
    if (launches[i].group.empty() ||
        __builtin_add_overflow(*call.start_ns, nanoseconds_of(call), &seen)) {
      continue;
    }
    Together& group = groups[{call.rank, launches[i].group}];
    const auto run = launches[i].on_gpu.value_or(std::pair<std::int64_t, std::int64_t>());
    group.on_gpu = group.on_gpu && launches[i].on_gpu.has_value();
    group.runs.push_back({&call, run.first, run.second, seen});
  }
  for (auto& [name, group] : groups) {
    for (Run& run : group.runs) {
      if (!group.on_gpu) run = {run.call, *run.call->start_ns, run.seen, run.seen};
    }
    std::stable_sort(group.runs.begin(), group.runs.end(),
                     [](const Run& a, const Run& b) { return a.begin < b.begin; });
    // A source may use the name of a group again: only what ran at one time was one kernel.
    std::vector<RecordedCall*> one;
    std::int64_t begin = 0, end = 0, seen = 0;
    const auto finish = [&] {
      std::int64_t from = 0;
      const bool holds = !__builtin_sub_overflow(seen, end - begin, &from);
      if (one.size() > 1 && holds) share(from, seen, one);
      one.clear();
    };
    for (const Run& run : group.runs) {
      if (!one.empty() && run.begin >= end) finish();
      begin = one.empty() ? run.begin : begin;
      end = one.empty() ? run.end : std::max(end, run.end);
      seen = one.empty() ? run.seen : std::max(seen, run.seen);
      one.push_back(run.call);
    }
    finish();
  }
}

}  // namespace headway
