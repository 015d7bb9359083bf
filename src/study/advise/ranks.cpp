// Whose groups the trace has, and who comes late.
#include <algorithm>
#include <map>
#include <set>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "simulate/recorded/again.hpp"
#include "step/program/group_ranks.hpp"
#include "step/step.hpp"
#include "study/advise/parts.hpp"
#include "study/reconcile/expected.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

using Members = std::vector<std::int64_t>;

// The listed groups that carry calls.
std::map<Members, std::uint32_t> groups_in(const Recording& recording) {
  std::map<Members, std::uint32_t> out;
  for (const RecordedCall& call : recording.calls) {
    if (!call.group || (call.bytes && *call.bytes <= kSmallCall)) continue;
    Members members = recording.groups[*call.group].ranks;
    if (members.size() < 2) continue;
    std::sort(members.begin(), members.end());
    out.emplace(std::move(members), *call.group);
  }
  return out;
}

// The recorded groups that are none of the layout's.
std::vector<std::uint32_t> strangers(const Run& run, const Step& step,
                                     const std::map<Members, std::uint32_t>& recorded) {
  const std::int64_t node = exchanging_on_node(step);
  const std::vector<Lane> lanes = lanes_of(run.layout, step);
  std::vector<std::uint32_t> out;
  for (const auto& [members, group] : recorded) {
    const bool known = std::any_of(lanes.begin(), lanes.end(), [&](const Lane& lane) {
      return std::any_of(lane.groups.begin(), lane.groups.end(), [&](Group of) {
        if (members.front() < 0 || members.back() >= run.layout.ranks()) return false;
        Members expected = group_ranks(run.layout, of, members.front(), node);
        std::sort(expected.begin(), expected.end());
        return expected == members;
      });
    });
    // Transfers between neighbouring stages may be groups of two of their own.
    if (!known && !(members.size() == 2 && run.layout.pp > 1)) out.push_back(group);
  }
  return out;
}

std::string members_text(const Recording& recording, std::uint32_t group) {
  Members members = recording.groups[group].ranks;
  std::string out = printable(group_name(recording, group), 40) + " (ranks ";
  for (std::size_t i = 0; i < members.size() && i < 4; ++i) {
    out += (i > 0 ? ", " : "") + std::to_string(members[i]);
  }
  return out + (members.size() > 4 ? ", ...)" : ")");
}

}  // namespace

Result<std::vector<Fault>> fit_ranks(RequestedRun& run, const Recording& recording) {
  const auto recorded = groups_in(recording);
  std::vector<Fault> out;
  const auto as_said = strangers(run, lower(run), recorded);
  if (as_said.empty()) return out;
  // Another order of the dimensions, if all groups are then the layout's.
  const FieldRow& row = *field_row("order");
  const double said = *number_of(run, row);
  for (std::size_t i = 0; i < row.field.form.names.size(); ++i) {
    const auto number = number_of(row.field.form, row.field.form.names[i]);
    if (!number || *number == said) continue;
    RequestedRun other = with(run, row, *number);
    if (!is_legal(other) || !strangers(other, lower(other), recorded).empty()) continue;
    Fault fault;
    fault.advice.kind = AdviceKind::order;
    fault.advice.what = "ranks are numbered " + std::string(row.field.form.names[i]) + " and not " +
                        text_of(row.field.form, said);
    fault.advice.says = "the group " + members_text(recording, as_said.front()) +
                        " is one of that order, and none of the order that was said";
    fault.advice.flags = {"--order " + text_of(row.field.form, said)};
    fault.puts_right = [said](Run& right) { set_number(right, *field_row("order"), said); };
    run = std::move(other);
    out.push_back(std::move(fault));
    return out;
  }
  return Problem{
      FieldName("trace"),
      "is of another run: its group " + members_text(recording, as_said.front()) +
          " is none of the run's, in whatever order its ranks are numbered" +
          (as_said.size() > 1 ? ", nor are " + std::to_string(as_said.size() - 1) + " more"
                              : std::string())};
}

// [ADVISE-3] The recording run again with the own work of late ranks brought to the median of all:
// of a rank whose work is w times the median, kernels and what lies between them and its calls
// take 1 / w of their time. Late are ranks that the others wait for in at least half of the steps
// and whose excess is at least half of the largest.
std::optional<Advice> late_advice(const Recording& recording, const std::vector<StepRow>& rows,
                                  double rows_a_step) {
  if (recording.ranks.size() < 2) return std::nullopt;
  const std::vector<Straggler> ranking = stragglers(rows);
  if (ranking.empty() || !(ranking.front().causes.value() > 0)) return std::nullopt;
  double most = 0;
  std::int64_t late_steps = 0;
  for (const Straggler& rank : ranking) most = std::max(most, rank.work - 1);
  std::map<std::uint32_t, double> work;
  Seconds causes;
  std::vector<std::uint32_t> ranks;
  for (const Straggler& rank : ranking) {
    if (most < kLeastGain || rank.work - 1 < most / 2) continue;
    work[rank.rank] = rank.work;
    causes += rank.causes;
    late_steps += rank.last_in;
    ranks.push_back(rank.rank);
  }
  if (ranks.empty() || 2 * ranks.size() > ranking.size()) return std::nullopt;
  if (2 * late_steps < static_cast<std::int64_t>(rows.size())) return std::nullopt;

  auto program = program_of(recording);
  if (!program) return std::nullopt;
  const auto transfers = measured_transfers(*program);
  if (!transfers) return std::nullopt;
  const auto own = run_again(*program, recording, *transfers);
  if (!own) return std::nullopt;
  const auto shorter = [](Nanoseconds time, double by) {
    return static_cast<Nanoseconds>(static_cast<double>(time) / by);
  };
  for (RecordedItem& item : program->items) {
    const auto slow = work.find(item.rank);
    if (slow == work.end()) continue;
    if (item.meeting == RecordedItem::kAlone) {
      item.duration = shorter(item.duration, slow->second);
    }
    for (RecordedNeed& need : item.needs) {
      if (need.lag > 0) need.lag = shorter(need.lag, slow->second);
    }
  }
  const auto right = run_again(*program, recording, *transfers);
  if (!right || right->time >= own->time) return std::nullopt;

  Advice out;
  out.kind = AdviceKind::late_rank;
  std::sort(ranks.begin(), ranks.end());
  const std::vector<std::string> names = rank_names(recording);
  std::vector<std::string> shown;
  for (const std::uint32_t rank : ranks) {
    shown.push_back(names[rank]);
    if (recording.ranks[rank].number) out.ranks.push_back(*recording.ranks[rank].number);
  }
  const std::string who = join(shown, ", ");
  const bool every = late_steps == static_cast<std::int64_t>(rows.size());
  out.what =
      who + (ranks.size() == 1 ? " is late in " : " are late in ") +
      (rows.size() == 1 ? "the step"
       : every          ? "every step"
               : std::to_string(late_steps) + " of " + std::to_string(rows.size()) + " steps");
  out.says = "the others wait " + to_text(causes * rows_a_step) +
             " a step for it, all together; its own work takes " + formatted("%.2f", 1 + most) +
             " of the median of the ranks";
  out.remedy = "look at its accelerator (clock, temperature, errors), its host and its input";
  out.gain = 1 - static_cast<double>(right->time) / static_cast<double>(own->time);
  return out;
}

}  // namespace headway
