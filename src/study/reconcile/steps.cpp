// [REC-1] Steps in a recording: as said; else as many as the profiler marked; else the number that
// agrees with the counts of most expected kinds of calls (bytes of each operation count as a kind,
// too, so that other buckets do not hide it); else how often the sequence of calls repeats. A part
// of a step is taken only where all kinds agree on it and there are several.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "study/reconcile/match.hpp"
#include "trace/analysis/repetition.hpp"

namespace headway {
namespace {

using LaneOp = std::pair<std::size_t, CollectiveOp>;

// Measured over expected of each kind that both sides have, and of the bytes of each operation.
std::vector<double> ratios(const std::vector<ExpectedKind>& expected,
                           const std::vector<MeasuredKind>& measured) {
  std::vector<double> out;
  std::map<LaneOp, std::pair<double, double>> bytes;  // measured, expected
  for (const MeasuredKind& kind : measured) {
    const auto op = to_collective(kind.op);
    if (!op || kind.lane == kNoLane || !kind.bytes || *kind.bytes <= kSmallCall) continue;
    bytes[{kind.lane, *op}].first += kind.count * kind.bytes->value();
  }
  const std::vector<std::size_t> owner = owners(expected, measured);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ExpectedKind& kind = expected[i];
    if (kind.bytes <= kSmallCall) continue;
    bytes[{kind.lane, kind.op}].second += kind.count * kind.bytes.value();
    double count = 0;
    for (std::size_t j = 0; j < measured.size(); ++j) {
      count += owner[j] == i ? measured[j].count : 0;
    }
    if (count > 0) out.push_back(count / kind.count);
  }
  for (const auto& [key, sums] : bytes) {
    if (sums.first > 0 && sums.second > 0) out.push_back(sums.first / sums.second);
  }
  return out;
}

bool agrees(double ratio, double steps) {
  return std::abs(ratio - steps) <= kTotalTolerance * steps;
}

}  // namespace

std::optional<double> steps_by_counts(const std::vector<ExpectedKind>& expected,
                                      const std::vector<MeasuredKind>& measured) {
  const std::vector<double> found = ratios(expected, measured);
  std::optional<double> best;
  std::ptrdiff_t most = 0;
  std::vector<double> candidates;
  for (const double ratio : found) {
    const double whole = std::round(ratio);
    if (whole >= 1 && agrees(ratio, whole)) candidates.push_back(whole);
  }
  std::sort(candidates.begin(), candidates.end());
  for (const double candidate : candidates) {
    const auto votes = std::count_if(found.begin(), found.end(),
                                     [&](double ratio) { return agrees(ratio, candidate); });
    if (votes > most) {  // of equal ones the smallest: rather repeated than missing
      most = votes;
      best = candidate;
    }
  }
  if (best || found.size() < 3) return best;
  const double part = found.front();
  const bool all =
      std::all_of(found.begin(), found.end(), [&](double ratio) { return agrees(ratio, part); });
  return all && part < 1 ? std::optional(part) : std::nullopt;
}

std::int64_t repeats(const Recording& recording, const LaneMapping& mapping, std::uint32_t rank) {
  std::map<std::tuple<std::size_t, Operation, double>, std::uint32_t> known;
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.rank != rank) continue;
    const auto number = static_cast<std::uint32_t>(known.size());
    const std::tuple word(mapping.lane_of_call[i], call.op, call.bytes.value_or(Bytes(-1)).value());
    words.push_back(known.try_emplace(word, number).first->second);
  }
  const auto found = repetition_in(words);
  return found ? static_cast<std::int64_t>(found->count) : 1;
}

}  // namespace headway
