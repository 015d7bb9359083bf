#include "trace/analysis/align.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace headway {
namespace {

bool is_collective(Operation op) {
  return op != Operation::send && op != Operation::receive && op != Operation::send_receive &&
         op != Operation::other;
}

// Whether its time is from when its own rank is ready until the transfer is done. Of calls on the
// host only those in which every rank waits for every other: in the rest some may leave early.
bool can_be_split(const RecordedCall& call) {
  if (!is_collective(call.op) || !call.duration) return false;
  return call.time == TimeKind::kernel || (call.own_time && synchronises(call.op));
}

std::int64_t duration_ns(const RecordedCall& call) {
  return static_cast<std::int64_t>(std::llround(std::min(call.duration->value(), 1e9) * 1e9));
}

using Kind = std::pair<std::uint32_t, Operation>;  // group, operation
using ByRank = std::map<std::uint32_t, std::vector<std::size_t>>;

// Calls of one kind that carry the same number on different ranks; `number` tells them apart.
void match_numbered(const Recording& recording, const ByRank& by_rank,
                    std::vector<MatchedCall>& out) {
  // A number may stand on several calls of a rank (coalesced ones): the n-th is the n-th.
  std::map<std::pair<std::int64_t, std::size_t>, MatchedCall> found;
  for (const auto& [rank, calls] : by_rank) {
    std::map<std::int64_t, std::size_t> seen;
    for (const std::size_t call : calls) {
      const std::int64_t number = *recording.calls[call].sequence;
      found[{number, seen[number]++}].calls.push_back(call);
    }
  }
  for (auto& [number, matched] : found) out.push_back(std::move(matched));
}

void match_in_order(const ByRank& by_rank, std::vector<MatchedCall>& out) {
  const std::size_t count = by_rank.begin()->second.size();
  for (std::size_t i = 0; i < count; ++i) {
    MatchedCall matched;
    matched.by_order = true;
    for (const auto& [rank, calls] : by_rank) matched.calls.push_back(calls[i]);
    out.push_back(std::move(matched));
  }
}

void match(const Recording& recording, Alignment& alignment) {
  std::map<Kind, ByRank> kinds;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (!can_be_split(call)) continue;
    kinds[{call.group.value_or(kNoGroup), call.op}][call.rank].push_back(i);
  }
  for (auto& [kind, by_rank] : kinds) {
    std::int64_t calls = 0;
    bool numbered = true, timed = true, equal = true;
    for (auto& [rank, list] : by_rank) {
      for (const std::size_t i : list) {
        numbered = numbered && recording.calls[i].sequence.has_value();
        timed = timed && recording.calls[i].start_ns.has_value();
      }
      calls += static_cast<std::int64_t>(list.size());
      equal = equal && list.size() == by_rank.begin()->second.size();
    }
    if (by_rank.size() < 2) continue;  // nothing to match with
    if (timed) {
      for (auto& [rank, list] : by_rank) {
        std::stable_sort(list.begin(), list.end(), [&](std::size_t a, std::size_t b) {
          return recording.calls[a].start_ns < recording.calls[b].start_ns;
        });
      }
    }
    const auto size = kind.first == kNoGroup ? std::nullopt : recording.groups[kind.first].size;
    // More ranks than the group has: groups of one name that the source does not tell apart.
    bool sound = !size || static_cast<std::int64_t>(by_rank.size()) <= *size;
    if (kind.first != kNoGroup && !recording.groups[kind.first].named) {
      // One of several groups of this size, unless it is that of all ranks.
      sound = sound && size == recording.ranks[by_rank.begin()->first].world_size;
    }
    if (sound && numbered) {
      match_numbered(recording, by_rank, alignment.matched);
    } else if (sound && equal) {
      match_in_order(by_rank, alignment.matched);
    } else {
      alignment.unmatched += calls;
    }
  }
  const auto alone =
      std::partition(alignment.matched.begin(), alignment.matched.end(),
                     [](const MatchedCall& matched) { return matched.calls.size() > 1; });
  alignment.unmatched += alignment.matched.end() - alone;
  alignment.matched.erase(alone, alignment.matched.end());
  std::sort(alignment.matched.begin(), alignment.matched.end(),
            [](const MatchedCall& a, const MatchedCall& b) { return a.calls < b.calls; });
}

// [TRACE-2]
void split(const Recording& recording, Alignment& alignment) {
  alignment.ranks.resize(recording.ranks.size());
  for (MatchedCall& matched : alignment.matched) {
    const RecordedCall* shortest = nullptr;
    for (const std::size_t i : matched.calls) {
      const RecordedCall& call = recording.calls[i];
      if (shortest == nullptr || *call.duration < *shortest->duration) shortest = &call;
    }
    matched.transfer = *shortest->duration;
    matched.last_rank = shortest->rank;
    auto size = group_size(recording, *shortest);
    if (!size) size = recording.ranks[shortest->rank].world_size;
    matched.complete = size && static_cast<std::int64_t>(matched.calls.size()) == *size;
    ++alignment.ranks[shortest->rank].times_last;
    for (const std::size_t i : matched.calls) {
      const RecordedCall& call = recording.calls[i];
      matched.waiting.push_back(*call.duration - matched.transfer);
      RankWaiting& rank = alignment.ranks[call.rank];
      rank.transfer += matched.transfer;
      rank.waiting += matched.waiting.back();
      ++rank.matched;
    }
  }
}

std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// When a call ended on its rank's clock; nothing where that is not known or does not fit.
std::optional<std::int64_t> end_ns(const RecordedCall& call) {
  std::int64_t end = 0;
  if (!call.start_ns || __builtin_add_overflow(*call.start_ns, duration_ns(call), &end)) {
    return std::nullopt;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  if (end > kMost || end < -kMost) return std::nullopt;
  return end;
}

// [TRACE-3]
void set_clocks(const Recording& recording, Alignment& alignment) {
  alignment.clock_offset_ns.assign(recording.ranks.size(), std::nullopt);
  alignment.clock_error.reset();
  // Between the first rank of each collective and every other: first clock less other clock.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> differences;
  for (const MatchedCall& matched : alignment.matched) {
    const RecordedCall& first = recording.calls[matched.calls.front()];
    const auto first_end = end_ns(first);
    if (!synchronises(first.op) || !first_end) continue;
    for (std::size_t i = 1; i < matched.calls.size(); ++i) {
      const RecordedCall& other = recording.calls[matched.calls[i]];
      if (const auto end = end_ns(other)) {
        differences[{first.rank, other.rank}].push_back(*first_end - *end);
      }
    }
  }
  if (differences.empty()) return;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::int64_t>>> neighbours;
  for (auto& [pair, values] : differences) {
    const std::int64_t offset = median(values);
    neighbours[pair.first].push_back({pair.second, offset});
    neighbours[pair.second].push_back({pair.first, -offset});
  }
  std::vector<std::uint32_t> reached = {differences.begin()->first.first};
  alignment.clock_offset_ns[reached.front()] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const auto& [next, offset] : neighbours[reached[i]]) {
      if (alignment.clock_offset_ns[next]) continue;
      std::int64_t sum = 0;
      if (__builtin_add_overflow(*alignment.clock_offset_ns[reached[i]], offset, &sum)) continue;
      alignment.clock_offset_ns[next] = sum;
      reached.push_back(next);
    }
  }
  std::vector<std::int64_t> spreads;
  for (const auto& [pair, values] : differences) {
    const auto &first = alignment.clock_offset_ns[pair.first],
               &other = alignment.clock_offset_ns[pair.second];
    if (!first || !other) continue;
    for (const std::int64_t value : values) {
      std::int64_t shifted = 0, apart = 0;
      if (__builtin_add_overflow(value, *first, &shifted) ||
          __builtin_sub_overflow(shifted, *other, &apart)) {
        continue;
      }
      spreads.push_back(apart < 0 ? -apart : apart);
    }
  }
  if (!spreads.empty()) {
    alignment.clock_error = Seconds(static_cast<double>(median(spreads)) * 1e-9);
  }
}

// Whether the sizes agree, where all ranks give the whole.
bool agree_in_size(const Recording& recording, const MatchedCall& matched) {
  const RecordedCall& first = recording.calls[matched.calls.front()];
  if (first.op == Operation::all_to_all) return true;  // each rank sends its own
  return std::all_of(matched.calls.begin(), matched.calls.end(), [&](std::size_t i) {
    const RecordedCall& call = recording.calls[i];
    return !call.bytes || !first.bytes || call.bytes == first.bytes;
  });
}

// Whether all kernels ran at one moment, which those of one collective do.
bool ran_together(const Recording& recording, const Alignment& alignment,
                  const MatchedCall& matched) {
  constexpr std::int64_t kTolerance = 10'000;  // ns; clocks drift, and offsets are medians
  std::int64_t last_start = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t i : matched.calls) {
    const RecordedCall& call = recording.calls[i];
    const auto& offset = alignment.clock_offset_ns[call.rank];
    const auto end = end_ns(call);
    std::int64_t shifted_start = 0, shifted_end = 0;
    if (!offset || !end || __builtin_add_overflow(*call.start_ns, *offset, &shifted_start) ||
        __builtin_add_overflow(*end, *offset, &shifted_end)) {
      continue;
    }
    last_start = std::max(last_start, shifted_start);
    first_end = std::min(first_end, shifted_end);
  }
  std::int64_t limit = 0;
  return __builtin_add_overflow(first_end, kTolerance, &limit) || last_start <= limit;
}

template <class Holds>
void keep_where(Alignment& alignment, Holds holds) {
  const auto dropped = std::stable_partition(
      alignment.matched.begin(), alignment.matched.end(),
      [&](const auto& matched) { return !matched.by_order || holds(matched); });
  for (auto matched = dropped; matched != alignment.matched.end(); ++matched) {
    alignment.unmatched += static_cast<std::int64_t>(matched->calls.size());
  }
  alignment.matched.erase(dropped, alignment.matched.end());
}

}  // namespace

bool synchronises(Operation op) {
  return op == Operation::all_reduce || op == Operation::all_gather ||
         op == Operation::reduce_scatter || op == Operation::all_to_all || op == Operation::barrier;
}

Alignment align(const Recording& recording) {
  Alignment alignment;
  match(recording, alignment);
  // Order misleads where a recording lacks calls; what it matched has to be possible.
  keep_where(alignment, [&](const auto& matched) { return agree_in_size(recording, matched); });
  set_clocks(recording, alignment);
  keep_where(alignment,
             [&](const auto& matched) { return ran_together(recording, alignment, matched); });
  set_clocks(recording, alignment);
  split(recording, alignment);
  return alignment;
}

// [TRACE-7]
std::int64_t name_whole_group(Recording& recording, const Alignment& alignment) {
  std::int64_t named = 0;
  for (const MatchedCall& matched : alignment.matched) {
    if (!matched.complete || recording.calls[matched.calls.front()].group) continue;
    const auto size = static_cast<std::int64_t>(matched.calls.size());
    const std::uint32_t group =
        group_index(recording, "all " + std::to_string(size) + " ranks", size);
    for (const std::size_t call : matched.calls) recording.calls[call].group = group;
    named += size;
  }
  reduce_omission(recording, kCallsWithoutGroup, named);
  return named;
}

}  // namespace headway
