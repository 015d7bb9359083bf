#include "trace/analysis/exchange.hpp"

#include <algorithm>
#include <map>

namespace headway {
namespace {

struct LoadOfRanks {
  double ratio = 1, mean = 0;
  std::size_t fullest = 0;  // position in the matched call
};

// Most over mean; nothing where a size is not known, or all are 0.
template <class SizeOf>
std::optional<LoadOfRanks> load_of(const Recording& recording, const MatchedCall& matched,
                                   SizeOf size_of) {
  LoadOfRanks out;
  double most = -1;
  for (std::size_t i = 0; i < matched.calls.size(); ++i) {
    const std::optional<Bytes> size = size_of(recording.calls[matched.calls[i]]);
    if (!size) return std::nullopt;
    out.mean += size->value() / static_cast<double>(matched.calls.size());
    if (size->value() > most) {
      most = size->value();
      out.fullest = i;
    }
  }
  if (!(out.mean > 0)) return std::nullopt;
  out.ratio = most / out.mean;
  return out;
}

}  // namespace

std::vector<ExchangeRow> exchange_table(const Recording& recording, const Alignment& alignment,
                                        const std::vector<std::uint32_t>& as) {
  struct Sums {
    ExchangeRow row;
    double bytes = 0, weighted = 0;
    std::map<std::uint32_t, std::int64_t> fullest;
  };
  std::map<std::uint32_t, Sums> groups;
  for (const MatchedCall& matched : alignment.matched) {
    const RecordedCall& first = recording.calls[matched.calls.front()];
    if (first.op != Operation::all_to_all) continue;
    const auto sent = load_of(recording, matched, [](const RecordedCall& c) { return c.bytes; });
    const auto got = load_of(recording, matched, [](const RecordedCall& c) { return c.received; });
    if (!sent && !got) continue;
    const LoadOfRanks load = !sent || (got && got->ratio > sent->ratio) ? *got : *sent;
    const auto group = first.group && !as.empty() ? std::optional(as[*first.group]) : first.group;
    Sums& sums = groups[group.value_or(kNoGroup)];
    sums.row.group = group;
    ++sums.row.exchanges;
    sums.row.worst = std::max(sums.row.worst, load.ratio);
    sums.bytes += load.mean;
    sums.weighted += load.mean * load.ratio;
    ++sums.fullest[recording.calls[matched.calls[load.fullest]].rank];
  }
  std::vector<ExchangeRow> out;
  for (auto& [group, sums] : groups) {
    sums.row.imbalance = sums.weighted / sums.bytes;
    for (const auto& [rank, times] : sums.fullest) {
      if (times <= sums.row.times_fullest) continue;
      sums.row.times_fullest = times;
      sums.row.fullest = rank;
    }
    out.push_back(sums.row);
  }
  return out;
}

}  // namespace headway
