// Sends and the receives that take them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// The group (kNoGroup: none), global ranks of sender and receiver, the tag (-1: none).
struct PairEnds {
  std::uint32_t group = kNoGroup;
  std::int64_t from = 0, to = 0, tag = -1;
  friend auto operator<=>(const PairEnds&, const PairEnds&) = default;
};
struct PairCalls {
  std::vector<std::size_t> sends, receives;  // indices into Recording::calls
};

/// By their ends: the first send is taken by the first receive, and so on, by their starts where
/// all have one. Calls of which an end is not known are in none.
inline std::map<PairEnds, PairCalls> pair_calls(const Recording& recording) {
  std::map<PairEnds, PairCalls> out;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const bool sends = call.op == Operation::send;
    const auto own = recording.ranks[call.rank].number;
    if ((!sends && call.op != Operation::receive) || !call.peer || !own) continue;
    PairCalls& pair = out[{call.group.value_or(kNoGroup), sends ? *own : *call.peer,
                           sends ? *call.peer : *own, call.tag.value_or(-1)}];
    (sends ? pair.sends : pair.receives).push_back(i);
  }
  const auto sort = [&](std::vector<std::size_t>& calls) {
    const auto start = [&](std::size_t i) { return recording.calls[i].start_ns; };
    if (!std::all_of(calls.begin(), calls.end(), [&](auto i) { return start(i).has_value(); })) {
      return;
    }
    std::stable_sort(calls.begin(), calls.end(),
                     [&](std::size_t a, std::size_t b) { return *start(a) < *start(b); });
  };
  for (auto& [ends, pair] : out) {
    sort(pair.sends);
    sort(pair.receives);
  }
  return out;
}

/// [LIVE-5] How long a message took: a send may end as soon as its bytes are copied, so that it is
/// from when both ends were there until the receive was done, as far as their clocks agree. Nothing
/// where a time is not known.
inline std::optional<Seconds> message_transfer(const RecordedCall& send,
                                               const RecordedCall& receive) {
  if (!send.duration || !receive.duration || !send.start_ns || !receive.start_ns) return {};
  const double sent = send.duration->value(), received = receive.duration->value();
  const double late =
      1e-9 * (static_cast<double>(*send.start_ns) - static_cast<double>(*receive.start_ns));
  return Seconds(std::clamp(received - std::max(0.0, late), std::min(sent, received), received));
}

}  // namespace headway
