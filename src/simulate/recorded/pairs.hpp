// Sends and the receives that take them. Internal to src/simulate/recorded.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// Global rank of the sender and of the receiver, and the tag (-1: none).
using PairEnds = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
struct PairCalls {
  std::vector<std::size_t> sends, receives;  // indices into Recording::calls
};

/// By their ends: the first send is taken by the first receive, and so on. Calls of which an end is
/// not known are in none.
inline std::map<PairEnds, PairCalls> pair_calls(const Recording& recording) {
  std::map<PairEnds, PairCalls> out;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const bool sends = call.op == Operation::send;
    const auto own = recording.ranks[call.rank].number;
    if ((!sends && call.op != Operation::receive) || !call.peer || !own) continue;
    PairCalls& pair =
        out[{sends ? *own : *call.peer, sends ? *call.peer : *own, call.tag.value_or(-1)}];
    (sends ? pair.sends : pair.receives).push_back(i);
  }
  return out;
}

}  // namespace headway
