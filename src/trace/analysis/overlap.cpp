#include "trace/analysis/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headway {
namespace {

struct Interval {
  std::int64_t begin = 0, end = 0;
};
using Intervals = std::vector<Interval>;

// Without the loss of a double of 10^18 ns, nor overflow.
double nanoseconds_between(std::int64_t begin, std::int64_t end) {
  return static_cast<double>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin));
}

// Sorted and without overlaps.
Intervals united(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals out;
  for (const Interval& interval : intervals) {
    if (!out.empty() && interval.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, interval.end);
    } else {
      out.push_back(interval);
    }
  }
  return out;
}

double length(const Intervals& united_intervals) {
  double sum = 0;
  for (const Interval& interval : united_intervals) {
    sum += nanoseconds_between(interval.begin, interval.end);
  }
  return sum;
}

// How much of one interval the others (united) cover.
double covered(const Interval& interval, const Intervals& others) {
  auto other = std::upper_bound(
      others.begin(), others.end(), interval.begin,
      [](std::int64_t begin, const Interval& candidate) { return begin < candidate.end; });
  double sum = 0;
  for (; other != others.end() && other->begin < interval.end; ++other) {
    sum += nanoseconds_between(std::max(interval.begin, other->begin),
                               std::min(interval.end, other->end));
  }
  return sum;
}

std::optional<Interval> interval_of(std::int64_t start, std::int64_t duration) {
  Interval interval{start, 0};
  if (duration < 0 || __builtin_add_overflow(start, duration, &interval.end)) return std::nullopt;
  return interval;
}

Seconds seconds(double ns) {
  return Seconds(ns * 1e-9);
}

}  // namespace

std::vector<Overlap> overlap_of(const Recording& recording) {
  struct Rank {
    Intervals compute, communication;
    std::map<std::pair<std::uint32_t, Operation>, Intervals> by_call;
  };
  std::map<std::uint32_t, Rank> ranks;
  for (const RecordedCall& call : recording.calls) {
    if (call.time != TimeKind::kernel || !call.start_ns || !call.duration) continue;
    const double ns = std::min(call.duration->value(), 1e9) * 1e9;
    const auto interval = interval_of(*call.start_ns, static_cast<std::int64_t>(std::llround(ns)));
    if (!interval) continue;
    Rank& rank = ranks[call.rank];
    rank.communication.push_back(*interval);
    rank.by_call[{call.group.value_or(kNoGroup), call.op}].push_back(*interval);
  }
  std::vector<bool> calling;
  for (const RecordedCall& call : recording.calls) {
    if (call.rank >= calling.size()) calling.resize(call.rank + 1);
    calling[call.rank] = true;
  }
  for (const RecordedCompute& compute : recording.compute) {
    const bool calls = compute.rank < calling.size() && calling[compute.rank];
    if (!calls) ranks.try_emplace(compute.rank);  // it communicates nothing
    const auto rank = ranks.find(compute.rank);
    const auto interval = interval_of(compute.start_ns, compute.duration_ns);
    if (rank != ranks.end() && interval) rank->second.compute.push_back(*interval);
  }
  std::vector<Overlap> out;
  for (auto& [index, rank] : ranks) {
    const Intervals compute = united(std::move(rank.compute));
    const Intervals communication = united(std::move(rank.communication));
    Overlap overlap;
    overlap.rank = index;
    double hidden = 0;
    for (const Interval& interval : communication) hidden += covered(interval, compute);
    Intervals all = compute;
    all.insert(all.end(), communication.begin(), communication.end());
    all = united(std::move(all));
    if (all.empty()) continue;
    const double span = nanoseconds_between(all.front().begin, all.back().end);
    overlap.span = seconds(span);
    overlap.compute = seconds(length(compute));
    overlap.communication = seconds(length(communication));
    overlap.hidden = seconds(hidden);
    overlap.exposed = seconds(length(communication) - hidden);
    overlap.idle = seconds(span - length(all));
    for (const auto& [kind, intervals] : rank.by_call) {
      ExposedCalls calls;
      if (kind.first != kNoGroup) calls.group = kind.first;
      calls.op = kind.second;
      double time = 0, under = 0;
      for (const Interval& interval : intervals) {
        time += nanoseconds_between(interval.begin, interval.end);
        under += covered(interval, compute);
      }
      calls.time = seconds(time);
      calls.exposed = seconds(time - under);
      overlap.by_call.push_back(calls);
    }
    out.push_back(std::move(overlap));
  }
  return out;
}

}  // namespace headway
