#include "study/advise/advise.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "study/advise/parts.hpp"
#include "study/reconcile/verdict.hpp"
#include "trace/analysis/steps.hpp"

namespace headway {
namespace {

// The longest rank of each row, the mean of them; nothing where the trace has no steps with times.
std::optional<Seconds> mean_longest(const std::vector<StepRow>& rows) {
  Seconds sum;
  for (const StepRow& row : rows) sum += row.longest;
  if (!(sum.value() > 0)) return std::nullopt;
  return sum / static_cast<double>(rows.size());
}

// How many rows of the trace's steps one step of the run is. Where nothing is marked, rows are what
// repeats, which may be the micro-batches of a step: then the counts of calls tell.
double rows_a_step_of(const std::vector<StepRow>& rows, double said, const StepCount& counted) {
  const auto in_all = static_cast<double>(rows.size());
  if (rows.empty()) return 1;
  if (said > 0) return in_all / said;
  if (counted.evidence != StepEvidence::counts) return 1;
  return std::max(1.0, std::round(in_all / counted.steps));
}

// "sp" of "--sp on", "--no-sp" and "without --no-sp".
std::string_view field_of(std::string_view flag) {
  flag.remove_prefix(flag.find("--") + 2);
  if (flag.starts_with("no-")) flag.remove_prefix(3);
  return flag.substr(0, flag.find(' '));
}

void calibrate_to(RequestedRun& run, Seconds measured, Seconds predicted, const OwnOfStep& own) {
  OwnRuns runs{.file = "the trace", .setups = {}};
  runs.setups.push_back(
      own(setup_of(run.cluster.accelerator, run.job), std::log(measured / predicted)));
  run.own = std::make_shared<const OwnRuns>(std::move(runs));
}

constexpr double kLeastMet = 0.5;

// Why a trace is not one of this run; empty: it may be.
Problems not_of_this_run(const Reconciliation& reconciliation, const Recording& recording,
                         const Cluster& cluster) {
  Problems out;
  for (const Finding& finding : verdict_of(reconciliation, recording, cluster).findings) {
    if (finding.kind == FindingKind::layout) out.push_back({FieldName("trace"), finding.text});
  }
  // [ADVISE-6] Of what is sent, how much is in calls that the run makes, whatever their buckets.
  double sent = 0, met = 0;
  for (const ReconciledRow& row : reconciliation.rows) {
    const double amount = row.sized ? row.measured_bytes.value() : row.measured_count;
    const bool made = row.match == Match::as_expected || row.match == Match::fewer ||
                      row.match == Match::more || row.match == Match::repeated ||
                      row.match == Match::rebucketed;
    sent += amount;
    met += made ? amount : 0;
  }
  if (out.empty() && met < kLeastMet * sent) {
    out.push_back({FieldName("trace"),
                   formatted("is of another run: %.0f %% of what it sends is in calls that the run "
                             "makes",
                             100 * met / sent)});
  } else if (out.empty() && !(sent > 0)) {
    out.push_back({FieldName("trace"), "holds no communication"});
  }
  return out;
}

}  // namespace

Result<Advised> advise(const RequestedRun& run, const Recording& recording, const OwnOfStep& own,
                       const AdviseHow& how) {
  Advised out;
  const Alignment alignment = align(recording);
  const auto rows = step_table(recording, steps_of(recording), alignment);
  const auto longest = mean_longest(rows);
  if (longest && run.own) {
    return Problem{FieldName("calibration"),
                   "says how far times are from the model's, and the trace has steps of the run "
                   "itself that say it; leave it out"};
  }

  // The run with its ranks as the trace has them, or why the trace is none of it.
  out.run = run;
  auto faults = fit_ranks(out.run, recording);
  if (!faults) return faults.problems();
  const auto calibration = calibration_for(out.run);
  if (!calibration) return calibration.problems();
  out.reconciliation = reconcile(recording, alignment, out.run, *calibration, how.steps);
  if (Problems problems = not_of_this_run(out.reconciliation, recording, out.run.cluster);
      !problems.empty()) {
    return problems;
  }
  const double rows_a_step = rows_a_step_of(rows, how.steps, out.reconciliation.steps);
  if (longest) out.measured = *longest * rows_a_step;

  // What else is as the trace shows it and not as was said, and who is late.
  for (Fault& fault : faults_of(out.run, out.reconciliation, recording, *calibration)) {
    faults->push_back(std::move(fault));
  }
  for (Fault& fault :
       fit_links(out.run, out.reconciliation, recording, alignment, how.network, out.links)) {
    faults->push_back(std::move(fault));
  }
  std::optional<Advice> late = late_advice(recording, rows, rows_a_step);
  out.late_share = late ? late->gain : 0;

  // Calibrated to the step, less what late ranks cost of it.
  const auto uncalibrated = predict(out.run);
  if (!uncalibrated) return uncalibrated.problems();
  if (const auto& bounds = uncalibrated->step_time_interval) {
    out.spread = {bounds->low / uncalibrated->step_time, bounds->high / uncalibrated->step_time};
  }
  if (out.measured) {
    calibrate_to(out.run, *out.measured * (1 - out.late_share), uncalibrated->step_time, own);
    out.factor = out.run.own->setups.front().factor;
  }
  auto forecast = predict(out.run);
  if (!forecast) return forecast.problems();
  out.forecast = std::move(forecast).value();
  out.step_time = out.measured.value_or(out.forecast.step_time / (1 - out.late_share));
  out.factors = factors_of(out, rows, rows_a_step);

  // [ADVISE-1] Each fault put right, each setting changed, forecast again.
  std::vector<Advice> found;
  for (const Fault& fault : *faults) {
    Run right = out.run;
    fault.puts_right(right);
    const auto without = predict(right);
    ++out.tried;
    if (!without) continue;
    Advice advice = fault.advice;
    const Gain gain = gain_of(out, *without);
    advice.gain = gain.share;
    advice.interval = gain.interval;
    found.push_back(std::move(advice));
  }
  if (late) {
    const auto& bounds = out.forecast.step_time_interval;
    const double low = bounds ? bounds->low / out.forecast.step_time : 1;
    const double high = bounds ? bounds->high / out.forecast.step_time : 1;
    late->interval = {late->gain * low, std::min(1.0, late->gain * high)};
    found.push_back(std::move(*late));
    ++out.tried;
  }
  std::vector<Advice> choices = settings_of(out, out.tried);
  if (how.layouts) {
    auto layout = layout_advice(out, how.threads, out.layouts);
    // A field that was tried alone stands with the number that brought most.
    const bool tried = layout && layout->kind == AdviceKind::setting &&
                       std::any_of(choices.begin(), choices.end(), [&](const Advice& choice) {
                         return field_of(choice.flags.front()) == field_of(layout->flags.front());
                       });
    if (layout && !tried) choices.push_back(std::move(*layout));
  }
  for (Advice& advice : choices) {
    // A setting that puts a fault right is named as the fault.
    const bool named = std::any_of(faults->begin(), faults->end(), [&](const Fault& fault) {
      return fault.advice.flags == advice.flags;
    });
    if (!named) found.push_back(std::move(advice));
  }
  for (Advice& advice : found) advice.step_time = out.step_time * (1 - advice.gain);
  std::erase_if(found, [](const Advice& advice) { return advice.gain < kLeastGain; });
  // What is broken stands before what might be set otherwise.
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    const bool fault_a = is_fault(a.kind), fault_b = is_fault(b.kind);
    return fault_a != fault_b ? fault_a : a.gain > b.gain;
  });
  if (found.size() > how.most) found.resize(how.most);
  out.advice = std::move(found);
  return out;
}

}  // namespace headway
