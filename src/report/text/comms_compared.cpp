#include "report/comms_compared.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostCompared = 20;

// A number of calls or steps: whole where it is.
std::string number(double value) {
  const bool whole = std::abs(value - std::round(value)) < 0.005;
  return formatted(whole ? "%.0f" : value < 10 ? "%.2f" : "%.1f", value);
}

// Words in lines of at most 80 columns, behind `start`; further lines are as far in.
std::string behind(const std::string& start, const std::string& text) {
  return start + wrapped(text, start.size(), start.size()).substr(start.size());
}

std::string head(const Compared& c) {
  const Reconciliation& all = c.reconciliation;
  std::string out = printable(c.run.model.name) + " on " + printable(c.run.cluster.name) + ", " +
                    std::to_string(all.run_ranks) + " accelerators, against " +
                    std::to_string(all.recorded_ranks) +
                    (all.recorded_ranks == 1 ? " recorded rank" : " recorded ranks") + " (" +
                    printable(c.recording.format, 60) + "), " + number(all.steps.steps) +
                    (all.steps.steps == 1 ? " step" : " steps");
  out += all.steps.evidence == StepEvidence::none
             ? " assumed (--trace-steps N says how many)"
             : " (" + std::string(kStepEvidenceNames[static_cast<int>(all.steps.evidence)]) + ")";
  if (all.steps.by_counts) out += "; the counts speak for " + number(*all.steps.by_counts);
  return wrapped(out, 0, 0);
}

std::string verdict_lines(const Compared& c) {
  const auto& findings = c.verdict.findings;
  if (findings.empty()) return wrapped(c.verdict.line, 0, 0);
  std::string out = "found, the costliest first\n";
  for (std::size_t i = 0; i < std::min(findings.size(), kMostCompared); ++i) {
    out += behind("  " + std::to_string(i + 1) + ". ", findings[i].text);
  }
  if (findings.size() > kMostCompared) {
    out +=
        "  and " + std::to_string(findings.size() - kMostCompared) + " more (--json lists all)\n";
  }
  return out;
}

std::string calls_cell(double count, Bytes size) {
  if (!(count > 0)) return "-";
  return number(count) + (size.value() > 0 ? " x " + to_text(size) : "");
}

std::string name_of(const ReconciledRow& row, const Recording& recording) {
  const std::string group = group_text(row, recording);
  if (row.match == Match::small) return "calls up to 4 KiB";
  const bool measured = row.measured_count > 0;
  const std::string_view op = measured ? to_name(row.measured_op) : to_name(row.expected_op);
  return printable(group, 14) + " " + std::string(op);
}

std::string calls_table(const Compared& c) {
  std::vector<std::vector<std::string>> rows = {{"  group op", "", "expected", "measured"}};
  for (const ReconciledRow& row : c.reconciliation.rows) {
    if (rows.size() > kMostCompared) break;
    const bool small = row.match == Match::small;
    rows.push_back({"  " + name_of(row, c.recording), std::string(to_name(row.match)),
                    calls_cell(row.expected_count, small ? Bytes() : row.expected_size()),
                    calls_cell(row.measured_count, small ? Bytes() : row.measured_size())});
  }
  std::string out = "calls of one rank in one step, sizes on the mean\n" + aligned(rows, 2);
  if (c.reconciliation.rows.size() > kMostCompared) {
    out += "  and " + std::to_string(c.reconciliation.rows.size() - kMostCompared) +
           " more rows (--csv or --json has all)\n";
  }
  return out;
}

std::string_view transfer_text(TransferKind kind) {
  switch (kind) {
    case TransferKind::none:
    case TransferKind::benchmark:
      return "";
    case TransferKind::aligned:
      return "the transfer, the shortest kernel of the recorded ranks";
    case TransferKind::shortest:
      return "the shortest of equal calls of one rank; the rest is taken for waiting";
    case TransferKind::whole:
      return "where equal calls are few, the whole kernel, with waiting in it";
  }
  return "";
}

std::string times_table(const Compared& c) {
  std::vector<const ReconciledRow*> timed;
  for (const ReconciledRow& row : c.reconciliation.rows) {
    if (row.timed_count > 0) timed.push_back(&row);
  }
  if (timed.empty()) return "the recording has no times that mean a transfer\n";
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto* a, const auto* b) { return a->measured() > b->measured(); });
  if (timed.size() > kMostCompared) timed.resize(kMostCompared);
  // As many columns as 80 characters hold.
  const bool exposed = c.reconciliation.exposed.has_value();
  const bool waiting = c.reconciliation.waiting.value() > 0;
  std::vector<std::vector<std::string>> rows = {{"  group op", "each", "model", "ratio"}};
  if (!exposed || !waiting) rows.front().push_back("GB/s");
  rows.front().push_back("in all");
  if (waiting) rows.front().push_back("waiting");
  if (exposed) rows.front().push_back("exposed");
  std::set<TransferKind> kinds;
  for (const ReconciledRow* row : timed) {
    kinds.insert(row->transfer_kind);
    const auto slowdown = row->slowdown();
    std::vector<std::string> cells = {"  " + name_of(*row, c.recording),
                                      to_text(row->transfer / row->timed_count),
                                      slowdown ? to_text(row->timed_model / row->timed_count) : "-",
                                      slowdown ? formatted("%.2f", *slowdown) : "-"};
    if (!exposed || !waiting) {
      cells.push_back(row->measured_bus ? formatted("%.1f", row->measured_bus->value() / 1e9)
                                        : "-");
    }
    cells.push_back(to_text(row->measured()));
    if (waiting) cells.push_back(to_text(row->waiting));
    if (exposed) cells.push_back(row->exposed ? to_text(*row->exposed) : "-");
    rows.push_back(std::move(cells));
  }
  std::string out = "seconds of one rank in one step, the longest first\n" + aligned(rows);
  std::string_view before = "  each: ";
  for (const TransferKind kind : kinds) {
    const std::string_view note = transfer_text(kind);
    if (note.empty()) continue;
    out += std::string(before) + std::string(note) + "\n";
    before = "  or, where the ranks do not tell, ";
  }
  return out;
}

std::string groups_table(const Compared& c) {
  std::vector<std::vector<std::string>> rows;
  for (const GroupMapping& group : c.reconciliation.groups) {
    if (rows.size() == kMostCompared) break;
    std::string names;
    for (const Group g : group.groups)
      names += (names.empty() ? "" : "/") + std::string(to_name(g));
    const std::string evidence(kGroupEvidenceNames[static_cast<int>(group.evidence)]);
    rows.push_back({"  " + printable(group_name(c.recording, group.recorded), 34),
                    group.size ? std::to_string(*group.size) + " ranks" : "",
                    names.empty() ? "none of the run's" : names,
                    group.evidence == GroupEvidence::none        ? ""
                    : group.evidence == GroupEvidence::ambiguous ? "ambiguous"
                                                                 : "by " + evidence});
  }
  return rows.empty() ? "" : "recorded groups\n" + aligned(rows, 4);
}

}  // namespace

std::string compared_text(const Compared& c) {
  const Reconciliation& all = c.reconciliation;
  std::string out = head(c) + "\n" + verdict_lines(c) + "\n" + calls_table(c);
  if (!c.recording.calls.empty()) out += "\n" + times_table(c) + "\n" + groups_table(c);
  std::vector<std::string> notes;
  if (all.stage_guessed) {
    notes.emplace_back(
        "the trace does not number its ranks: compared with the pipeline stage from " +
        std::to_string(all.stages.front()) + " on, which agrees best");
  }
  for (const Omission& omission : c.recording.omissions) {
    notes.push_back("not in the trace: " + printable(omission.what, 200) + " (" +
                    std::to_string(omission.count) + ")");
  }
  for (const std::string& assumption : c.run.assumptions) {
    notes.push_back("assumed: " + printable(assumption, 1000));
  }
  if (!notes.empty()) out += "\n";
  for (const std::string& note : notes) out += wrapped(note, 0, 0);
  return out;
}

}  // namespace headway
