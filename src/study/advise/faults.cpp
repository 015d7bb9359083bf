// What the trace shows otherwise than was said: buckets, overlap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "study/advise/parts.hpp"
#include "study/reconcile/verdict.hpp"
#include "trace/analysis/overlap.hpp"

namespace headway {
namespace {

// Thresholds [ADVISE-4].
constexpr double kHidden = 0.5;         // least share of calls that a run means to hide
constexpr double kExposed = 0.8;        // least share of them that the trace has exposed
constexpr double kSmallerBucket = 0.8;  // of the size that is expected

// What hides calls, whose phase it is, and how its absence is said.
struct Overlapping {
  std::string_view field, what;
  Part part;
  std::array<Phase, 2> phases;
};
constexpr Overlapping kOverlaps[] = {
    {"overlap-gradients",
     "gradients are not overlapped",
     Part::dp,
     {Phase::gradient, Phase::gradient}},
    {"overlap-parameters",
     "gathers of parameters are not overlapped",
     Part::dp,
     {Phase::forward, Phase::optimizer}},
    {"overlap-tensor",
     "tensor-parallel calls are not overlapped",
     Part::tp,
     {Phase::forward, Phase::backward}},
    {"overlap-experts",
     "exchanges with experts are not overlapped",
     Part::ep,
     {Phase::forward, Phase::backward}},
};

struct OfPhase {
  Seconds time, exposed;
  Seconds compute = Seconds(std::numeric_limits<double>::infinity());  // that may hide it
  /// What is exposed of all that could be hidden.
  double share() const {
    const Seconds most = std::min(time, compute);
    return most.value() > 0 ? 1 - (time - exposed) / most : 1;
  }
};

OfPhase expected_of(const Forecast& forecast, const Overlapping& overlap) {
  OfPhase out;
  for (const PricedCall& priced : forecast.calls) {
    if (row_of(priced.call.group).part != overlap.part) continue;
    if (std::find(overlap.phases.begin(), overlap.phases.end(), priced.call.phase) ==
        overlap.phases.end()) {
      continue;
    }
    out.time += priced.call.count * priced.each;
    out.exposed += priced.exposed;
  }
  return out;
}

// Of the rank that hides most of them: one that waits for others has its waiting exposed, whoever
// is late has none. A step on that rank.
std::optional<OfPhase> measured_of(const Reconciliation& reconciliation,
                                   const std::vector<Overlap>& ranks, const Overlapping& overlap) {
  std::set<Operation> ops;
  for (const ReconciledRow& row : reconciliation.rows) {
    const bool phase =
        std::find(overlap.phases.begin(), overlap.phases.end(), row.phase) != overlap.phases.end();
    if (phase && row.expected_count > 0 && of_part(row, overlap.part)) ops.insert(row.measured_op);
  }
  std::set<std::uint32_t> groups;
  for (const GroupMapping& group : reconciliation.groups) {
    const bool of = std::any_of(group.groups.begin(), group.groups.end(),
                                [&](Group g) { return row_of(g).part == overlap.part; });
    if (of && group.recorded) groups.insert(*group.recorded);
  }
  std::optional<OfPhase> out;
  for (const Overlap& rank : ranks) {
    OfPhase sum;
    sum.compute = rank.compute / reconciliation.steps.steps;
    for (const ExposedCalls& calls : rank.by_call) {
      if (!calls.group || !groups.contains(*calls.group) || !ops.contains(calls.op)) continue;
      sum.time += calls.time / reconciliation.steps.steps;
      sum.exposed += calls.exposed / reconciliation.steps.steps;
    }
    if (!(sum.time.value() > 0)) continue;
    if (!out || sum.share() < out->share()) out = sum;
  }
  return out;
}

std::string flag_of(const FieldRow& row, double number) {
  const std::string name = "--" + std::string(row.field.name);
  if (row.field.form.kind == FieldForm::Kind::flag) return name;
  return name + " " + text_of(row.field.form, number);
}

// Calls that the run means to hide and that nothing hides in the trace.
void find_exposed(RequestedRun& run, const Reconciliation& reconciliation,
                  const Recording& recording, const Calibration& calibration,
                  std::vector<Fault>& out) {
  if (recording.compute.empty()) return;  // what hides is not known
  const std::vector<Overlap> ranks = overlap_of(recording);
  for (const Overlapping& overlap : kOverlaps) {
    const FieldRow& row = *field_row(overlap.field);
    const auto off = number_of(row.field.form, "off"), on = number_of(row.field.form, "on");
    const auto measured = measured_of(reconciliation, ranks, overlap);
    if (!off || !on || !measured || measured->share() < kExposed) continue;
    const Forecast as_said = forecast(run, calibration);
    if (expected_of(as_said, overlap).share() > 1 - kHidden) continue;
    RequestedRun other = with(run, row, *off);
    if (!is_legal(other)) continue;
    const double said = *number_of(run, row);
    Fault fault;
    fault.advice.kind = AdviceKind::exposed;
    fault.advice.what = std::string(overlap.what);
    fault.advice.says = to_text(measured->exposed) + " of " + to_text(measured->time) +
                        " a step of these calls run while nothing computes";
    fault.advice.flags = {flag_of(row, *on)};
    fault.puts_right = [field = overlap.field, said](Run& right) {
      set_number(right, *field_row(field), said);
    };
    run = std::move(other);
    out.push_back(std::move(fault));
  }
}

// Gradients in smaller pieces than the run says, where the run may say how large.
void find_buckets(RequestedRun& run, const Reconciliation& reconciliation,
                  std::vector<Fault>& out) {
  const FieldRow& row = *field_row("bucket-size");
  for (const ReconciledRow& found : reconciliation.rows) {
    const bool smaller = found.match == Match::rebucketed && of_part(found, Part::dp) &&
                         found.phase == Phase::gradient &&
                         found.measured_size() < kSmallerBucket * found.expected_size();
    if (!smaller) continue;
    RequestedRun other = with(run, row, std::round(found.measured_size().value()));
    if (!is_legal(other)) continue;
    const double said = *number_of(run, row);
    Fault fault;
    fault.advice.kind = AdviceKind::buckets;
    fault.advice.what = "gradients are sent in small buckets";
    fault.advice.says = formatted("%.0f calls of ", found.measured_count) +
                        to_text(found.measured_size()) + " a step where " +
                        formatted("%.0f of ", found.expected_count) +
                        to_text(found.expected_size()) + " are expected";
    fault.advice.flags = {"--bucket-size \"" + to_text(found.expected_size()) + "\""};
    fault.puts_right = [said](Run& right) { set_number(right, *field_row("bucket-size"), said); };
    run = std::move(other);
    out.push_back(std::move(fault));
    return;
  }
}

}  // namespace

bool of_part(const ReconciledRow& row, Part part) {
  return std::any_of(row.groups.begin(), row.groups.end(),
                     [&](Group group) { return row_of(group).part == part; });
}

std::vector<Fault> faults_of(RequestedRun& run, const Reconciliation& reconciliation,
                             const Recording& recording, const Calibration& calibration) {
  std::vector<Fault> out;
  find_exposed(run, reconciliation, recording, calibration, out);
  find_buckets(run, reconciliation, out);
  return out;
}

std::string evidence_of(const Advised& as_is, Part part) {
  Seconds time;
  std::optional<Seconds> exposed;
  for (const ReconciledRow& row : as_is.reconciliation.rows) {
    if (!of_part(row, part)) continue;
    time += row.measured();
    if (row.exposed) exposed = exposed.value_or(Seconds(0)) + *row.exposed;
  }
  if (!(time.value() > 0)) {
    return std::string(row_of(part).long_name) + " takes " + to_text(as_is.forecast.parts[part]) +
           " of the step, as " + (as_is.measured ? "calibrated to the trace" : "forecast");
  }
  return "calls of " + std::string(row_of(part).name) + " take " + to_text(time) +
         " a step in the trace" +
         (exposed ? ", " + to_text(*exposed) + " of it while nothing computes" : "");
}

}  // namespace headway
