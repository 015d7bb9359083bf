// [REC-5] A kernel's time is transfer and waiting. Where several ranks are recorded the transfer is
// the shortest of one call's kernels [TRACE-2], of a message on the host as [LIVE-5] has it. Where
// one is, it is taken to be the shortest of at least four equal calls of that rank: of many calls
// one is likely to have come last; else the whole kernel counts as transfer. Valid: for that only
// as an upper bound.
#include "study/reconcile/times.hpp"

#include <algorithm>

#include "trace/analysis/overlap.hpp"
#include "trace/analysis/pairs.hpp"

namespace headway {
namespace {

constexpr std::size_t kEnoughEqual = 4;

bool has_time(const RecordedCall& call) {
  return can_mean_transfer(call.time) && call.duration && call.duration->value() > 0;
}

// Messages of which both ends are recorded, on the host: a kernel of one waits for both.
void split_messages(const Recording& recording, std::vector<SplitTime>& out) {
  for (const auto& [ends, pair] : pair_calls(recording)) {
    if (pair.sends.size() != pair.receives.size()) continue;  // which are one is not known
    for (std::size_t k = 0; k < pair.sends.size(); ++k) {
      const RecordedCall &send = recording.calls[pair.sends[k]],
                         &receive = recording.calls[pair.receives[k]];
      const auto transfer = message_transfer(send, receive);
      if (!send.own_time || !receive.own_time || !transfer) continue;
      for (const std::size_t i : {pair.sends[k], pair.receives[k]}) {
        const Seconds longer = *recording.calls[i].duration - *transfer;
        out[i] = {TransferKind::aligned, *transfer, std::max(Seconds(0), longer)};
      }
    }
  }
}

void split_alone(const Recording& recording, const MeasuredKind& kind,
                 std::vector<SplitTime>& out) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_rank;
  for (const std::size_t i : kind.calls) {
    const RecordedCall& call = recording.calls[i];
    if (out[i].kind == TransferKind::none && has_time(call)) by_rank[call.rank].push_back(i);
  }
  for (const auto& [rank, calls] : by_rank) {
    Seconds shortest = *recording.calls[calls.front()].duration;
    bool single = true;  // not sums of several
    for (const std::size_t i : calls) {
      shortest = std::min(shortest, *recording.calls[i].duration);
      single = single && recording.calls[i].count == 1;
    }
    const bool equal = single && calls.size() >= kEnoughEqual && kind.bytes;
    for (const std::size_t i : calls) {
      const RecordedCall& call = recording.calls[i];
      if (call.time == TimeKind::benchmark) {
        out[i] = {TransferKind::benchmark, *call.duration, Seconds(0)};
      } else if (equal) {
        out[i] = {TransferKind::shortest, shortest, *call.duration - shortest};
      } else {
        out[i] = {TransferKind::whole, *call.duration, Seconds(0)};
      }
    }
  }
}

}  // namespace

std::vector<SplitTime> split_times(const Recording& recording, const Alignment& alignment,
                                   const std::vector<MeasuredKind>& kinds) {
  std::vector<SplitTime> out(recording.calls.size());
  for (const MatchedCall& matched : alignment.matched) {
    for (std::size_t i = 0; i < matched.calls.size(); ++i) {
      out[matched.calls[i]] = {TransferKind::aligned, matched.transfer, matched.waiting[i]};
    }
  }
  split_messages(recording, out);
  for (const MeasuredKind& kind : kinds) split_alone(recording, kind, out);
  return out;
}

ExposedShares exposed_shares(const Recording& recording) {
  ExposedShares shares;
  if (recording.compute.empty()) return shares;
  std::map<std::pair<std::optional<std::uint32_t>, Operation>, std::pair<double, double>> sums;
  for (const Overlap& overlap : overlap_of(recording)) {
    for (const ExposedCalls& calls : overlap.by_call) {
      auto& [time, exposed] = sums[{calls.group, calls.op}];
      time += calls.time.value();
      exposed += calls.exposed.value();
    }
  }
  for (const auto& [key, sum] : sums) {
    if (sum.first > 0) shares[key] = sum.second / sum.first;
  }
  return shares;
}

std::vector<LateRank> late_ranks(const Recording& recording, const Alignment& alignment,
                                 double per) {
  std::vector<LateRank> late(recording.ranks.size());
  for (std::size_t i = 0; i < late.size(); ++i) {
    late[i].rank = static_cast<std::uint32_t>(i);
    const RankWaiting& rank = alignment.ranks[i];
    if (rank.matched > 0) {
      late[i].share_last = static_cast<double>(rank.times_last) / static_cast<double>(rank.matched);
    }
  }
  for (const MatchedCall& matched : alignment.matched) {
    for (const Seconds waited : matched.waiting) late[matched.last_rank].causes += waited / per;
  }
  std::erase_if(late, [](const LateRank& rank) { return !(rank.causes.value() > 0); });
  std::stable_sort(late.begin(), late.end(),
                   [](const LateRank& a, const LateRank& b) { return a.causes > b.causes; });
  return late;
}

}  // namespace headway
