// [REC-6] Of each pairing of expected and measured calls, in seconds of one rank and step:
//   measured = expected + (model - expected) + (transfer - model) + waiting
// where `model` prices the calls that were measured by the formulas that price the expected ones.
// The second term is due to which calls are made, the third to the links (or the model), the
// fourth to ranks that come late. Where not all measured calls have times, the third and fourth are
// those of the calls that have.
#include "study/reconcile/reconcile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "study/reconcile/times.hpp"

namespace headway {
namespace {

// The recorded ranks that communicate, and the class of pipeline stage of each.
struct RecordedRanks {
  std::vector<std::uint32_t> ranks;
  std::vector<std::size_t> classes;
  bool guessed = false;
};

std::size_t class_of_stage(const Step& step, std::int64_t stage) {
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    if (stage < step.stages[i].first + step.stages[i].stages) return i;
  }
  return step.stages.size() - 1;
}

RecordedRanks recorded_ranks(const Recording& recording, const Layout& layout, const Step& step) {
  std::set<std::uint32_t> communicating;
  for (const RecordedCall& call : recording.calls) communicating.insert(call.rank);
  RecordedRanks out;
  for (const std::uint32_t rank : communicating) {
    const auto number = recording.ranks[rank].number;
    const bool known = number && *number >= 0 && *number < layout.ranks();
    out.ranks.push_back(rank);
    out.classes.push_back(known ? class_of_stage(step, stage_of(layout, *number)) : 0);
    out.guessed = out.guessed || (!known && layout.pp > 1);
  }
  if (out.classes.empty()) out.classes.push_back(0);  // all calls of a rank are missing
  return out;
}

using Kinds = std::vector<ExpectedKind>;

// The mean of what ranks of these classes are expected to call.
Kinds mean_of(const std::vector<Kinds>& of_class, const std::vector<std::size_t>& classes) {
  std::map<std::tuple<std::size_t, CollectiveOp, double>, ExpectedKind> kinds;
  for (const std::size_t index : classes) {
    for (const ExpectedKind& kind : of_class[index]) {
      const auto [mean, made] = kinds.try_emplace({kind.lane, kind.op, -kind.bytes.value()}, kind);
      if (made) mean->second.count = 0;
      mean->second.count += kind.count / static_cast<double>(classes.size());
    }
  }
  Kinds out;
  for (const auto& [key, kind] : kinds) out.push_back(kind);
  return out;
}

void divide_counts(std::vector<MeasuredKind>& kinds, double by) {
  for (MeasuredKind& kind : kinds) kind.count /= by;
}

class Comparison {
 public:
  Comparison(const Recording& recording, const Run& run, const Calibration& calibration)
      : recording_(recording),
        run_(run),
        step_(lower(run)),
        prices_{run.job, run.layout, run.cluster, calibration, step_.spans},
        lanes_(lanes_of(run.layout, step_)),
        of_class_(expected_kinds(step_, prices_, lanes_)),
        ranks_(recorded_ranks(recording, run.layout, step_)) {}

  // The class of ranks without a number is the one with which least differs.
  void guess_stage(double steps) {
    if (!ranks_.guessed) return;
    std::size_t best = 0, fewest = static_cast<std::size_t>(-1);
    for (std::size_t c = 0; c < of_class_.size(); ++c) {
      ranks_.classes.assign(ranks_.classes.size(), c);
      map_and_count(steps);
      std::size_t different = 0;
      for (const Pairing& pairing : pair_up(expected_, per_step())) {
        if (differs(pairing.match)) {
          different += pairing.expected.size() + pairing.measured.size();
        }
      }
      if (different < fewest) {
        fewest = different;
        best = c;
      }
    }
    ranks_.classes.assign(ranks_.classes.size(), best);
  }

  // Which group of the layout each recorded one is, and how many steps there are.
  void map_and_count(double steps) {
    expected_ = mean_of(of_class_, ranks_.classes);
    mapping_ = map_groups(recording_, run_.layout, exchanging_on_node(step_), lanes_, expected_);
    measured_ = measured_kinds(recording_, mapping_);
    if (!ranks_.ranks.empty()) {
      divide_counts(measured_, static_cast<double>(ranks_.ranks.size()));
    }
    steps_ = count_steps(steps);
  }

  Reconciliation result(const Alignment& alignment) {
    Reconciliation out;
    out.steps = steps_;
    out.recorded_ranks = static_cast<std::int64_t>(ranks_.ranks.size());
    out.run_ranks = run_.layout.ranks();
    for (const std::uint32_t rank : ranks_.ranks) {
      if (!out.world_size) out.world_size = recording_.ranks[rank].world_size;
    }
    out.stage_guessed = ranks_.guessed;
    std::set<std::int64_t> stages;
    for (const std::size_t c : ranks_.classes) stages.insert(step_.stages[c].first);
    out.stages.assign(stages.begin(), stages.end());
    out.groups = mapping_.groups;

    times_ = split_times(recording_, alignment, measured_);
    exposed_ = exposed_shares(recording_);
    for (const Pairing& pairing : pair_up(expected_, per_step())) {
      out.rows.push_back(row_of(pairing));
    }
    std::stable_sort(out.rows.begin(), out.rows.end(), [](const auto& a, const auto& b) {
      return a.groups.empty() != b.groups.empty() ? b.groups.empty() : a.groups < b.groups;
    });
    out.late = late_ranks(recording_, alignment, ranks_and_steps());
    sum_up(out);
    return out;
  }

 private:
  double ranks_and_steps() const {
    return std::max<double>(1, static_cast<double>(ranks_.ranks.size())) * steps_.steps;
  }

  std::vector<MeasuredKind> per_step() const {
    std::vector<MeasuredKind> kinds = measured_;
    divide_counts(kinds, steps_.steps);
    return kinds;
  }

  StepCount count_steps(double said) const {
    const auto counted = steps_by_counts(expected_, measured_);
    const auto unless_same = [&](double steps) {
      return counted && *counted != steps ? counted : std::nullopt;
    };
    if (said > 0) return {said, StepEvidence::said, unless_same(said)};
    if (recording_.marked_steps > 0) {
      const auto marked = static_cast<double>(recording_.marked_steps);
      return {marked, StepEvidence::marked, unless_same(marked)};
    }
    if (recording_.repeated_steps > 0) {
      const auto repeated = static_cast<double>(recording_.repeated_steps);
      return {repeated, StepEvidence::sequence, unless_same(repeated)};
    }
    if (counted) return {*counted, StepEvidence::counts, {}};
    if (ranks_.ranks.empty()) return {};
    const std::int64_t found = repeats(recording_, mapping_, ranks_.ranks.front());
    if (found > 1) return {static_cast<double>(found), StepEvidence::sequence, {}};
    return {};
  }

  const Lane* lane_of(const Pairing& pairing) const {
    const std::size_t lane =
        !pairing.expected.empty() ? pairing.expected.front().lane : pairing.measured.front().lane;
    return lane == kNoLane ? nullptr : &lanes_[lane];
  }

  // The model's seconds of one measured call; nothing where it cannot be priced.
  std::optional<Seconds> price(const MeasuredKind& kind, const Pairing& pairing) const {
    const auto op = to_collective(kind.op);
    if (kind.lane == kNoLane || !op || !kind.bytes) return std::nullopt;
    const bool exchange = op == CollectiveOp::all_to_all && !pairing.expected.empty();
    const Group group = group_for(kind.lane, *op);
    const Call call{*op,
                    group,
                    Phase::gradient,
                    HiddenBy::nothing,
                    Precision::bf16,
                    *kind.bytes,
                    1,
                    exchange ? pairing.expected.front().choices : 1};
    return call_time(call, prices_);
  }

  // Of a lane's groups the one that has the operation's span: transfers are those of stages.
  Group group_for(std::size_t lane, CollectiveOp op) const {
    const auto& groups = lanes_[lane].groups;
    const bool sums = op != CollectiveOp::send_receive;
    const auto embedding = std::find(groups.begin(), groups.end(), Group::embedding);
    return sums && embedding != groups.end() ? Group::embedding : groups.front();
  }

  void add_times(const Pairing& pairing, ReconciledRow& row) const {
    const double per = ranks_and_steps();
    double exposed = 0;
    std::optional<double> wire = 0.0;
    for (const MeasuredKind& kind : pairing.measured) {
      const auto each = price(kind, pairing);
      for (const std::size_t i : kind.calls) {
        const SplitTime& time = times_[i];
        if (time.kind == TransferKind::none) continue;
        const RecordedCall& call = recording_.calls[i];
        const double count = call.count / per;
        row.transfer_kind = std::max(row.transfer_kind, time.kind);
        row.timed_count += count;
        row.transfer += count * time.transfer;
        row.waiting += count * time.waiting;
        if (each) row.timed_model += count * *each;
        if (wire && kind.bytes && row.ranks > 0) {
          *wire +=
              count * bus_factor(kind.op, static_cast<double>(row.ranks)) * kind.bytes->value();
        } else {
          wire.reset();
        }
        const auto share = exposed_.find({call.group, call.op});
        if (share != exposed_.end()) {
          exposed += share->second * count * (time.transfer + time.waiting).value();
        }
      }
    }
    if (row.timed_count > 0 && !exposed_.empty()) row.exposed = Seconds(exposed);
    if (!wire || !(*wire > 0)) return;
    if (row.transfer.value() > 0) row.measured_bus = Bytes(*wire) / row.transfer;
    if (row.timed_model.value() > 0) row.model_bus = Bytes(*wire) / row.timed_model;
  }

  ReconciledRow row_of(const Pairing& pairing) const {
    ReconciledRow row;
    row.match = pairing.match;
    if (const Lane* lane = lane_of(pairing); lane && pairing.match != Match::small) {
      row.groups = lane->used;
      row.ranks = static_cast<std::int64_t>(lane->first.size());
      row.level = crossed_level(span_of_group(step_.spans, lane->groups.front()), run_.cluster);
    }
    for (const ExpectedKind& kind : pairing.expected) {
      row.expected_op = kind.op;
      row.expected_count += kind.count;
      row.expected_bytes += kind.count * kind.bytes;
      row.expected += kind.count * kind.each;
    }
    if (!pairing.expected.empty()) row.phase = pairing.expected.front().phase;
    if (pairing.expected.empty() && !pairing.measured.empty()) {
      row.expected_op = to_collective(pairing.measured.front().op).value_or(row.expected_op);
    }
    std::optional<Seconds> model = Seconds(0);
    for (const MeasuredKind& kind : pairing.measured) {
      if (!row.recorded) row.recorded = kind.recorded;
      row.measured_op = kind.op;
      row.measured_count += kind.count;
      row.measured_bytes += kind.count * kind.bytes.value_or(Bytes());
      row.sized = row.sized && (kind.bytes || kind.op == Operation::barrier);
      const auto each = price(kind, pairing);
      if (model && each) {
        *model += kind.count * *each;
      } else {
        model.reset();
      }
    }
    row.model = model;
    if (row.ranks == 0 && row.recorded) {
      row.ranks = recording_.groups[*row.recorded].size.value_or(0);
    }
    add_times(pairing, row);
    return row;
  }

  static void sum_up(Reconciliation& out) {
    for (const ReconciledRow& row : out.rows) {
      out.expected += row.expected;
      out.transfer += row.transfer;
      out.waiting += row.waiting;
      if (row.timed_count > 0) out.measured = out.transfer + out.waiting;
      if (row.exposed) out.exposed = out.exposed.value_or(Seconds(0)) + *row.exposed;
    }
  }

  const Recording& recording_;
  const Run& run_;
  const Step step_;
  const Prices prices_;
  const std::vector<Lane> lanes_;
  const std::vector<Kinds> of_class_;
  RecordedRanks ranks_;
  Kinds expected_;
  LaneMapping mapping_;
  std::vector<MeasuredKind> measured_;  // on one rank, over the whole recording
  StepCount steps_;
  std::vector<SplitTime> times_;
  ExposedShares exposed_;
};

}  // namespace

std::optional<double> ReconciledRow::slowdown() const {
  if (!(timed_model.value() > 0) || !(transfer.value() > 0)) return std::nullopt;
  return transfer / timed_model;
}

Bytes ReconciledRow::expected_size() const {
  return expected_count > 0 ? expected_bytes / expected_count : Bytes();
}

Bytes ReconciledRow::measured_size() const {
  return measured_count > 0 ? measured_bytes / measured_count : Bytes();
}

Reconciliation reconcile(const Recording& recording, const Run& run, const Calibration& calibration,
                         double steps) {
  return reconcile(recording, align(recording), run, calibration, steps);
}

Reconciliation reconcile(const Recording& recording, const Alignment& alignment, const Run& run,
                         const Calibration& calibration, double steps) {
  Comparison comparison(recording, run, calibration);
  comparison.guess_stage(steps);
  comparison.map_and_count(steps);
  return comparison.result(alignment);
}

}  // namespace headway
