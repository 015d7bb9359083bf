// [REC-3] Calls are of one kind where group, operation and size agree: sizes within 1 % (padding,
// uneven buckets; 30 % of the mean for exchanges with experts, whose routing varies), counts and
// sums of bytes within 2 %, a count at least within half a call.
// [REC-4] What does not agree is called, in this order: repeated (a whole multiple of the count),
// re-bucketed (all that is left of the operation has the same bytes), fewer or more of the size,
// resized (the same count of another size; then whatever is left on both sides), another operation
// of the same bytes in the same group, missing, unexpected.
#include "study/reconcile/match.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headway {
namespace {

bool near_count(double measured, double expected) {
  return std::abs(measured - expected) <= std::max(0.5, kTotalTolerance * expected) && measured > 0;
}

bool near_total(double measured, double expected) {
  return expected > 0 && std::abs(measured - expected) <= kTotalTolerance * expected;
}

// k >= 2 where `measured` is k times `expected`.
bool whole_multiple(double measured, double expected) {
  if (!(expected > 0)) return false;
  const double k = std::round(measured / expected);
  return k >= 2 && std::abs(measured - k * expected) <= kTotalTolerance / k * measured;
}

double count_of(const auto& kinds) {
  double sum = 0;
  for (const auto& kind : kinds) sum += kind.count;
  return sum;
}
double bytes_of(const std::vector<ExpectedKind>& kinds) {
  double sum = 0;
  for (const auto& kind : kinds) sum += kind.count * kind.bytes.value();
  return sum;
}
double bytes_of(const std::vector<MeasuredKind>& kinds) {
  double sum = 0;
  for (const auto& kind : kinds) sum += kind.count * kind.bytes.value_or(Bytes()).value();
  return sum;
}

bool is_small(const MeasuredKind& kind) {
  return kind.bytes && *kind.bytes <= kSmallCall;
}

// All calls of one lane and operation; what is paired leaves.
class LaneOperation {
 public:
  std::vector<ExpectedKind> expected;
  std::vector<MeasuredKind> measured;

  void pair(std::vector<Pairing>& out) {
    pair_unsized(out);
    pair_sizes(
        out, [](double m, double e) { return near_count(m, e); }, Match::as_expected);
    pair_routed(out);
    pair_sizes(out, whole_multiple, Match::repeated);
    pair_totals(out);
    pair_sizes(
        out, [](double m, double e) { return m < e && m > 0; }, Match::fewer);
    pair_sizes(
        out, [](double m, double e) { return m > e; }, Match::more);
    pair_counts(out);
    if (!expected.empty() && !measured.empty()) take_all(out, Match::resized);
  }

 private:
  enum class Kept : std::uint8_t { no, yes };

  void take_all(std::vector<Pairing>& out, Match match) {
    out.push_back({match, std::move(expected), std::move(measured)});
    expected.clear();
    measured.clear();
  }

  // Where a source does not tell sizes, only counts can agree.
  void pair_unsized(std::vector<Pairing>& out) {
    const bool sized = std::all_of(measured.begin(), measured.end(),
                                   [](const auto& kind) { return kind.bytes.has_value(); });
    if (sized || expected.empty()) return;
    const double m = count_of(measured), e = count_of(expected);
    take_all(out, near_count(m, e)       ? Match::as_expected
                  : whole_multiple(m, e) ? Match::repeated
                  : m < e                ? Match::fewer
                                         : Match::more);
  }

  // Kinds of one size whose counts satisfy `agree`.
  template <class Agree>
  void pair_sizes(std::vector<Pairing>& out, Agree agree, Match match) {
    const std::vector<std::size_t> owner = owners(expected, measured);
    std::vector<Kept> kept(expected.size(), Kept::yes);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double count = 0;
      for (std::size_t j = 0; j < measured.size(); ++j) {
        count += owner[j] == i ? measured[j].count : 0;
      }
      if (!(count > 0) || !agree(count, expected[i].count)) continue;
      Pairing pairing{match, {expected[i]}, {}};
      for (std::size_t j = 0; j < measured.size(); ++j) {
        if (owner[j] == i) pairing.measured.push_back(std::move(measured[j]));
      }
      kept[i] = Kept::no;
      out.push_back(std::move(pairing));
    }
    std::vector<ExpectedKind> expected_left;
    std::vector<MeasuredKind> measured_left;
    for (std::size_t j = 0; j < measured.size(); ++j) {
      const bool paired = owner[j] != kNobody && kept[owner[j]] == Kept::no;
      if (!paired) measured_left.push_back(std::move(measured[j]));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (kept[i] == Kept::yes) expected_left.push_back(expected[i]);
    }
    expected = std::move(expected_left);
    measured = std::move(measured_left);
  }

  // Routing decides what a rank sends in each exchange with experts: only the mean is expected.
  void pair_routed(std::vector<Pairing>& out) {
    if (expected.empty() || measured.empty() || !expected.front().routed) return;
    const double m = bytes_of(measured), e = bytes_of(expected);
    if (near_count(count_of(measured), count_of(expected)) &&
        std::abs(m - e) <= kRoutedTolerance * e) {
      take_all(out, Match::as_expected);
    }
  }

  // Nothing is lost, but it is cut otherwise.
  void pair_totals(std::vector<Pairing>& out) {
    if (expected.empty() || measured.empty()) return;
    const double m = bytes_of(measured), e = bytes_of(expected);
    if (near_total(m, e)) {
      take_all(out, Match::rebucketed);
    } else if (whole_multiple(m, e)) {
      take_all(out, Match::repeated);
    }
  }

  // The same count of another size: the nearest size first.
  void pair_counts(std::vector<Pairing>& out) {
    for (std::size_t i = 0; i < expected.size();) {
      const ExpectedKind kind = expected[i];
      std::size_t best = measured.size();
      double distance = 0;
      for (std::size_t j = 0; j < measured.size(); ++j) {
        if (!near_count(measured[j].count, kind.count)) continue;
        const double size = std::max(measured[j].bytes.value_or(Bytes()).value(), 1.0);
        const double away = std::abs(std::log(size / kind.bytes.value()));
        if (best == measured.size() || away < distance) {
          best = j;
          distance = away;
        }
      }
      if (best == measured.size()) {
        ++i;
        continue;
      }
      out.push_back({Match::resized, {kind}, {measured[best]}});
      measured.erase(measured.begin() + static_cast<std::ptrdiff_t>(best));
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
};

// Reductions and gathers can stand for one another: an all-reduce for a reduce-scatter.
void pair_operations(std::map<std::pair<std::size_t, CollectiveOp>, LaneOperation>& left,
                     std::vector<Pairing>& out) {
  for (auto& [wanted, missing] : left) {
    if (missing.expected.empty()) continue;
    for (auto& [found, surplus] : left) {
      if (found.first != wanted.first || found.second == wanted.second) continue;
      if (surplus.measured.empty() || !surplus.expected.empty()) continue;
      if (!near_total(bytes_of(surplus.measured), bytes_of(missing.expected))) continue;
      out.push_back(
          {Match::other_operation, std::move(missing.expected), std::move(surplus.measured)});
      missing.expected.clear();
      surplus.measured.clear();
      break;
    }
  }
}

}  // namespace

std::vector<std::size_t> owners(const std::vector<ExpectedKind>& expected,
                                const std::vector<MeasuredKind>& measured) {
  std::vector<std::size_t> out(measured.size(), kNobody);
  for (std::size_t j = 0; j < measured.size(); ++j) {
    const MeasuredKind& kind = measured[j];
    const auto op = to_collective(kind.op);
    if (!op || !kind.bytes) continue;
    double least = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const ExpectedKind& candidate = expected[i];
      if (candidate.lane != kind.lane || candidate.op != *op) continue;
      if (!same_size(*kind.bytes, candidate.bytes)) continue;
      const double away = std::abs((*kind.bytes - candidate.bytes).value());
      if (out[j] == kNobody || away < least) {
        out[j] = i;
        least = away;
      }
    }
  }
  return out;
}

bool differs(Match match) {
  return match != Match::as_expected && match != Match::setup && match != Match::small &&
         match != Match::barrier;
}

std::vector<MeasuredKind> measured_kinds(const Recording& recording, const LaneMapping& mapping) {
  std::map<std::size_t, bool> sends;  // lanes in which sends are recorded as such
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    if (recording.calls[i].op == Operation::send) sends[mapping.lane_of_call[i]] = true;
  }
  // Of calls of no lane the recorded group tells them apart.
  using Key = std::tuple<std::size_t, std::uint32_t, Operation, double>;
  std::map<Key, MeasuredKind> kinds;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    const std::size_t lane = mapping.lane_of_call[i];
    if (call.op == Operation::receive && sends.contains(lane)) continue;
    const bool transfer = to_collective(call.op) == CollectiveOp::send_receive;
    const Operation op = transfer ? Operation::send_receive : call.op;
    const double size = -call.bytes.value_or(Bytes(-1)).value();
    const std::uint32_t apart = lane == kNoLane ? call.group.value_or(0) + 1 : 0;
    MeasuredKind& kind = kinds[{lane, apart, op, size}];
    kind.lane = lane;
    if (!kind.recorded) kind.recorded = call.group;
    kind.op = op;
    kind.bytes = call.bytes;
    kind.count += call.count;
    kind.calls.push_back(i);
  }
  std::vector<MeasuredKind> out;
  for (auto& [key, kind] : kinds) out.push_back(std::move(kind));
  return out;
}

std::vector<Pairing> pair_up(std::vector<ExpectedKind> expected,
                             std::vector<MeasuredKind> measured) {
  std::vector<Pairing> out;
  Pairing small{Match::small, {}, {}};
  std::map<std::pair<std::size_t, CollectiveOp>, LaneOperation> operations;
  for (ExpectedKind& kind : expected) {
    if (kind.bytes <= kSmallCall) {
      small.expected.push_back(std::move(kind));
    } else {
      operations[{kind.lane, kind.op}].expected.push_back(std::move(kind));
    }
  }
  std::vector<MeasuredKind> foreign;
  for (MeasuredKind& kind : measured) {
    const auto op = to_collective(kind.op);
    if (kind.op == Operation::barrier) {
      out.push_back({Match::barrier, {}, {std::move(kind)}});
    } else if (is_small(kind)) {
      small.measured.push_back(std::move(kind));
    } else if (kind.lane == kNoLane || !op) {
      foreign.push_back(std::move(kind));
    } else {
      operations[{kind.lane, *op}].measured.push_back(std::move(kind));
    }
  }
  for (auto& [key, operation] : operations) operation.pair(out);
  pair_operations(operations, out);
  for (auto& [key, operation] : operations) {
    for (ExpectedKind& kind : operation.expected) {
      out.push_back({Match::missing, {std::move(kind)}, {}});
    }
    if (operation.measured.empty()) continue;
    // Of sizes that nobody expects there can be many: one row an operation.
    const Match match = key.second == CollectiveOp::broadcast ? Match::setup : Match::unexpected;
    out.push_back({match, {}, std::move(operation.measured)});
  }
  std::map<std::pair<std::optional<std::uint32_t>, Operation>, Pairing> strangers;
  for (MeasuredKind& kind : foreign) {
    Pairing& pairing = strangers[{kind.recorded, kind.op}];
    pairing.match = kind.op == Operation::broadcast ? Match::setup : Match::unexpected;
    pairing.measured.push_back(std::move(kind));
  }
  for (auto& [key, pairing] : strangers) out.push_back(std::move(pairing));
  if (!small.expected.empty() || !small.measured.empty()) out.push_back(std::move(small));
  return out;
}

}  // namespace headway
