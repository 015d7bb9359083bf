// [REC-7] A finding is whatever differs in the calls, and every loss of at least 2 % of the
// communication's time: transfers of more than 1 MiB that take more than 1.25 times the model,
// shorter ones that take more than twice (p90 of the model's error on benchmarks: 15 % above 1 MiB,
// up to 57 % below, and a step is no benchmark), waiting, many small messages. Seconds lost are
//   calls: model of the measured calls - model of the expected ones (what was measured, where the
//   model cannot price it);  link, latency: transfer - model;  waiting: as [REC-5].
// Findings are ordered by seconds lost that no computation hides; those about the layout stand
// first, since all others depend on it.
#include "study/reconcile/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

std::string factor_text(double factor) {
  return formatted(factor < 9.95 ? "%.1fx" : "%.0fx", factor);
}

std::string count_text(double count) {
  const bool whole = std::abs(count - std::round(count)) < 0.05;
  return formatted(whole ? "%.0f" : "%.1f", count);
}

std::string calls_text(double count, Bytes size, std::string_view op) {
  std::string out = count_text(count) + " " + std::string(op);
  if (size.value() > 0) out += " of " + to_text(size);
  return out;
}

std::string expected_text(const ReconciledRow& row) {
  return calls_text(row.expected_count, row.expected_size(), to_name(row.expected_op));
}

std::string measured_text(const ReconciledRow& row) {
  return calls_text(row.measured_count, row.measured_size(), to_name(row.measured_op));
}

std::string rank_names(const std::vector<std::uint32_t>& ranks, const Recording& recording) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RecordedRank& rank = recording.ranks[ranks[i]];
    if (i > 0) out += i + 1 == ranks.size() ? " and " : ", ";
    out += rank.number ? std::to_string(*rank.number) : printable(rank.label, 40);
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + out;
}

class Judge {
 public:
  Judge(const Reconciliation& reconciliation, const Recording& recording, const Cluster& cluster)
      : all_(reconciliation), recording_(recording), cluster_(cluster) {
    const Seconds whole = std::max(all_.expected, all_.measured.value_or(Seconds(0)));
    least_ = kLeastShare * whole;
  }

  Verdict judge() {
    judge_layout();
    for (std::size_t i = 0; i < all_.rows.size(); ++i) judge_calls(i);
    judge_links();
    judge_waiting();
    for (std::size_t i = 0; i < all_.rows.size(); ++i) judge_small(i);
    std::stable_sort(
        verdict_.findings.begin(), verdict_.findings.end(), [](const Finding& a, const Finding& b) {
          const bool layout_a = a.kind == FindingKind::layout;
          const bool layout_b = b.kind == FindingKind::layout;
          if (layout_a != layout_b) return layout_a;
          return a.exposed * a.lost.value_or(Seconds(0)) > b.exposed * b.lost.value_or(Seconds(0));
        });
    verdict_.line = line();
    return std::move(verdict_);
  }

 private:
  void add(FindingKind kind, std::optional<Seconds> lost, std::optional<std::size_t> row,
           std::string text, std::vector<std::uint32_t> ranks = {}) {
    const ReconciledRow* about = row ? &all_.rows[*row] : nullptr;
    const bool known = about && about->exposed && about->measured().value() > 0;
    const double exposed = known ? *about->exposed / about->measured() : 1;
    verdict_.findings.push_back({kind, lost, exposed, row, std::move(ranks), std::move(text)});
  }

  void judge_layout() {
    if (all_.world_size && *all_.world_size != all_.run_ranks) {
      add(FindingKind::layout, {}, {},
          "the trace is of " + std::to_string(*all_.world_size) + " ranks, the run of " +
              std::to_string(all_.run_ranks) + ": give the run the same --gpus");
    }
    for (const GroupMapping& group : all_.groups) {
      if (!group.recorded || group.evidence != GroupEvidence::name) continue;
      const RecordedGroup& recorded = recording_.groups[*group.recorded];
      const std::string name = "the group " + shown_name(recorded);
      if (group.groups.empty()) {
        if (group.size.value_or(2) < 2) continue;
        add(FindingKind::layout, {}, {},
            name + " communicates, and the run has no such group: is its degree 1 there?");
      } else if (group.size && *group.size != group.layout_size && carries_much(group)) {
        add(FindingKind::layout, {}, {},
            name + " has " + std::to_string(*group.size) + " ranks, " +
                std::string(to_name(group.groups.front())) + " of the run " +
                std::to_string(group.layout_size));
      }
    }
  }

  // Whether the recorded group carries more than norms and flags.
  bool carries_much(const GroupMapping& group) const {
    return std::any_of(recording_.calls.begin(), recording_.calls.end(), [&](const auto& call) {
      return call.group == group.recorded && (!call.bytes || *call.bytes > kSmallCall);
    });
  }

  static std::string shown_name(const RecordedGroup& group) {
    return printable(group.description.empty() ? group.id : group.description, 60);
  }

  void judge_calls(std::size_t index) {
    const ReconciledRow& row = all_.rows[index];
    // What the measured calls cost beyond the expected ones.
    std::optional<Seconds> lost;
    if (row.model) {
      lost = *row.model - row.expected;
    } else if (row.timed_count > 0) {
      lost = row.measured() - row.expected;
    }
    if (row.match == Match::setup) {
      if (lost.value_or(Seconds(0)) <= least_) return;
    } else if (!differs(row.match)) {
      return;
    }
    const std::string group = group_text(row, recording_);
    std::string text;
    switch (row.match) {
      case Match::fewer:
      case Match::more:
        text = group + " sends " + measured_text(row) + " where " + count_text(row.expected_count) +
               " are expected";
        break;
      case Match::repeated: {
        const double times = row.sized ? row.measured_bytes / row.expected_bytes
                                       : row.measured_count / row.expected_count;
        text = group + " repeats " + expected_text(row) + " " + factor_text(times);
        break;
      }
      case Match::resized:
        text = group + " sends " + measured_text(row) + " where " + expected_text(row) +
               (row.expected_count == 1 ? " is" : " are") + " expected";
        break;
      case Match::rebucketed:
        text = group + " cuts " + to_text(row.measured_bytes) + " into " + measured_text(row) +
               " where " + expected_text(row) + " are expected: the bucket size differs";
        break;
      case Match::other_operation:
        text = "the trace sends " + to_text(row.measured_bytes) + " by " + group + " " +
               std::string(to_name(row.measured_op)) + " where " +
               std::string(to_name(row.expected_op)) + " is expected";
        break;
      case Match::missing:
        text = "the trace lacks the " + group + " " + expected_text(row);
        break;
      case Match::setup:
        text = group + " sends " + measured_text(row) +
               ": buffers every step (broadcast_buffers of DDP), or weights at the start";
        break;
      default:
        text = group + " sends " + measured_text(row) + ", which nothing in the run asks for";
    }
    add(FindingKind::calls, lost, index, text + cost_text(lost));
  }

  static std::string cost_text(std::optional<Seconds> lost) {
    if (!lost) return "";
    if (lost->value() > 0) return ": " + to_text(*lost) + " a step more";
    if (lost->value() < 0) return ": " + to_text(-*lost) + " a step less";
    return "";
  }

  const std::string& level_name(int level) const {
    return cluster_.levels[static_cast<std::size_t>(level)].name;
  }

  // Slow rows of one group, operation and length of message are one finding.
  void judge_links() {
    struct Slow {
      Seconds transfer, model;
      Bytes smallest, largest;
      std::size_t first_row = 0;
      bool whole = false;
    };
    std::map<std::tuple<std::vector<Group>, Operation, bool>, Slow> found;
    for (std::size_t i = 0; i < all_.rows.size(); ++i) {
      const ReconciledRow& row = all_.rows[i];
      const auto slowdown = row.slowdown();
      if (!slowdown || row.groups.empty() || row.match == Match::small) continue;
      const bool is_long = row.measured_size() > kLongCall;
      if (*slowdown <= 1 + (is_long ? kLongError : kShortError)) continue;
      const auto [slow, made] = found.try_emplace({row.groups, row.measured_op, is_long});
      Slow& sum = slow->second;
      const Bytes size = row.measured_size();
      sum.smallest = made ? size : std::min(sum.smallest, size);
      sum.largest = std::max(sum.largest, size);
      if (made) sum.first_row = i;
      sum.transfer += row.transfer;
      sum.model += row.timed_model;
      sum.whole = sum.whole || row.transfer_kind == TransferKind::whole;
    }
    for (const auto& [key, slow] : found) {
      const auto& [groups, op, is_long] = key;
      const Seconds lost = slow.transfer - slow.model;
      if (lost <= least_) continue;
      const ReconciledRow& row = all_.rows[slow.first_row];
      std::string text = group_text(row, recording_) + " " + std::string(to_name(op)) + " takes " +
                         factor_text(slow.transfer / slow.model) + " the model at ";
      text += to_text(slow.smallest);
      if (to_text(slow.smallest) != to_text(slow.largest)) text += " to " + to_text(slow.largest);
      text +=
          " on " + printable(level_name(row.level), 20) + " links: " + to_text(lost) + " a step; ";
      if (slow.whole) {
        text += all_are_recorded()
                    ? "waiting may be in it, which these times do not tell"
                    : "waiting is in it: record all ranks of the group to tell which it is";
      } else if (!is_long) {
        text += "messages this short are latency: fuse them or overlap them";
      } else if (row.level == 0) {
        text += "check the links inside a node (NVLink errors, P2P disabled)";
      } else {
        text += "check the network cards (how many are used, their rate, GPUDirect)";
      }
      add(is_long ? FindingKind::slow_link : FindingKind::latency, lost, slow.first_row,
          std::move(text));
    }
  }

  bool all_are_recorded() const {
    return all_.recorded_ranks >= all_.world_size.value_or(all_.run_ranks);
  }

  // Of messages whose both ends are recorded.
  Seconds waiting_for_messages() const {
    Seconds sum;
    for (const ReconciledRow& row : all_.rows) {
      const bool message = to_collective(row.measured_op) == CollectiveOp::send_receive;
      if (message && row.transfer_kind == TransferKind::aligned) sum += row.waiting;
    }
    return sum;
  }

  void judge_waiting() {
    if (all_.waiting <= least_) return;
    Seconds known(0), named(0);
    std::vector<std::uint32_t> ranks;
    for (const LateRank& late : all_.late) known += late.causes;
    for (const LateRank& late : all_.late) {
      if (named >= kLateShare * known || ranks.size() == 4) break;
      named += late.causes;
      ranks.push_back(late.rank);
    }
    std::string text;
    // A few ranks that cause most of it are to blame; where it takes half of them, all are.
    const bool few = ranks.size() * 2 < static_cast<std::size_t>(all_.recorded_ranks) ||
                     (ranks.size() == 1 && all_.recorded_ranks == 2 && named >= 0.9 * known);
    if (known > least_ && named >= kLateShare * known && few) {
      std::sort(ranks.begin(), ranks.end());
      text = rank_names(ranks, recording_) + (ranks.size() == 1 ? " arrives" : " arrive") +
             " late: " + to_text(named) + " of waiting a step on the other ranks" +
             (all_.waiting > named * 1.05 ? ", of " + to_text(all_.waiting) + " in all" : "");
      add(FindingKind::waiting, named, {}, std::move(text), std::move(ranks));
      return;
    }
    if (known > least_) {
      text = "ranks wait " + to_text(all_.waiting) +
             " a step for each other, and none of them is always the last: uneven work or jitter";
    } else if (const Seconds messages = waiting_for_messages(); 2 * messages > all_.waiting) {
      text = "ranks wait " + to_text(messages) +
             " a step for messages: what the pipeline leaves empty, or a late rank";
    } else {
      text = "calls wait " + to_text(all_.waiting) + " a step, by the spread of equal kernels: ";
      text += all_are_recorded() ? "their times do not tell who is late"
                                 : "record all ranks to see who is late";
    }
    add(FindingKind::waiting, all_.waiting, {}, std::move(text));
  }

  void judge_small(std::size_t index) {
    const ReconciledRow& row = all_.rows[index];
    if (row.match != Match::small && row.match != Match::barrier) return;
    const Seconds lost = row.transfer - row.expected;
    if (lost <= least_) return;
    const std::string what = row.match == Match::barrier ? "barriers" : "calls of up to 4 KiB";
    add(FindingKind::small_messages, lost, index,
        count_text(row.measured_count) + " " + what + " a step take " + to_text(row.transfer) +
            ": norms, flags or shapes that the host exchanges; each is latency");
  }

  std::string line() const {
    if (recording_.calls.empty()) return "no communication was recorded";
    if (!verdict_.findings.empty()) {
      std::string out = verdict_.findings.front().text;
      const std::size_t more = verdict_.findings.size() - 1;
      if (more > 0) out += " (and " + std::to_string(more) + " more)";
      return out;
    }
    double kinds = 0;
    Seconds transfer, model;
    for (const ReconciledRow& row : all_.rows) {
      kinds += row.match == Match::as_expected ? 1 : 0;
      if (!(row.timed_model.value() > 0)) continue;
      transfer += row.transfer;
      model += row.timed_model;
    }
    std::string out = "as expected: " + count_text(kinds) +
                      (kinds == 1 ? " kind of call agrees" : " kinds of calls agree") +
                      " in number and size";
    return out + (model.value() > 0
                      ? formatted(", transfers take %.2fx the model", transfer / model)
                      : "; the source has no times");
  }

  const Reconciliation& all_;
  const Recording& recording_;
  const Cluster& cluster_;
  Seconds least_;
  Verdict verdict_;
};

}  // namespace

std::string group_text(const ReconciledRow& row, const Recording& recording) {
  if (row.match == Match::small) return "small";
  if (!row.groups.empty()) {
    std::string out;
    for (const Group group : row.groups) {
      // Where others have the same ranks, those say more.
      const std::uint8_t along = row_of(group).along, stages = bit(Dimension::pp);
      const bool spanning = (along & stages) != 0 && along != stages;
      if (spanning && !out.empty()) continue;
      out += (out.empty() ? "" : "/") + std::string(to_name(group));
    }
    return out;
  }
  if (!row.recorded) return "-";
  const RecordedGroup& group = recording.groups[*row.recorded];
  return printable(group.description.empty() ? group.id : group.description, 40);
}

Verdict verdict_of(const Reconciliation& reconciliation, const Recording& recording,
                   const Cluster& cluster) {
  return Judge(reconciliation, recording, cluster).judge();
}

}  // namespace headway
