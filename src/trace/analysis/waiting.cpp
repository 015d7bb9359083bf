#include "trace/analysis/waiting.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace headway {
namespace {

// The mean over the ranks, as an all-to-all gives each its own; nothing where one does not say.
std::optional<Bytes> bytes_of(const Recording& recording, const MatchedCall& matched) {
  Bytes sum;
  for (const std::size_t i : matched.calls) {
    const auto& bytes = recording.calls[i].bytes;
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum / static_cast<double>(matched.calls.size());
}

}  // namespace

std::vector<WaitingRow> waiting_table(const Recording& recording, const Alignment& alignment,
                                      const std::vector<std::uint32_t>& as) {
  struct Sum {
    WaitingRow row;
    std::map<std::uint32_t, std::int64_t> last;
    Bytes on_wire;
    Seconds of_sized;
  };
  std::map<std::pair<std::uint32_t, Operation>, Sum> sums;
  for (const MatchedCall& matched : alignment.matched) {
    const RecordedCall& first = recording.calls[matched.calls.front()];
    const auto group = first.group && !as.empty() ? std::optional(as[*first.group]) : first.group;
    Sum& sum = sums[{group.value_or(kNoGroup), first.op}];
    WaitingRow& row = sum.row;
    row.group = group;
    row.op = first.op;
    ++row.collectives;
    row.incomplete += matched.complete ? 0 : 1;
    row.transfer += matched.transfer;
    ++sum.last[matched.last_rank];
    for (std::size_t i = 0; i < matched.calls.size(); ++i) {
      ++row.kernels;
      row.waiting += matched.waiting[i];
      row.kernel_time += *recording.calls[matched.calls[i]].duration;
      row.longest = std::max(row.longest, matched.waiting[i]);
    }
    // [TRACE-6]
    const auto size = group_size(recording, first);
    const auto bytes = bytes_of(recording, matched);
    if (!bytes || first.op == Operation::barrier) continue;
    const auto ranks =
        static_cast<double>(size.value_or(static_cast<std::int64_t>(matched.calls.size())));
    if (!size && !matched.complete) continue;  // of how many ranks is not known
    sum.on_wire += bus_factor(done_op(first), ranks) * *bytes;
    sum.of_sized += matched.transfer;
  }
  std::vector<WaitingRow> out;
  for (auto& [key, sum] : sums) {
    for (const auto& [rank, times] : sum.last) {
      if (times <= sum.row.times_last) continue;
      sum.row.last_rank = rank;
      sum.row.times_last = times;
    }
    if (sum.of_sized.value() > 0 && sum.on_wire.value() > 0) {
      sum.row.bus_bandwidth = sum.on_wire / sum.of_sized;
    }
    out.push_back(sum.row);
  }
  return out;
}

}  // namespace headway
