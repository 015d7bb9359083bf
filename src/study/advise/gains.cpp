// What a change of the forecast is worth by the trace.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.hpp"
#include "study/advise/parts.hpp"

namespace headway {
namespace {

constexpr double kMostFactor = 4;    // beyond it the trace and the forecast mean other things
constexpr double kLeastPart = 1e-3;  // of the step, that a part's factor can be told from

// Kernels that do not communicate, of one row: the median of the ranks in the middle step.
std::optional<Seconds> computed(const std::vector<StepRow>& rows) {
  std::vector<double> steps;
  for (const StepRow& row : rows) {
    std::vector<double> ranks;
    for (const StepOfRank& rank : row.ranks) {
      if (rank.compute) ranks.push_back(rank.compute->value());
    }
    if (const auto middle = quantile(ranks, 0.5)) steps.push_back(*middle);
  }
  const auto middle = quantile(steps, 0.5);
  return middle ? std::optional(Seconds(*middle)) : std::nullopt;
}

// Transfers that nothing hides, waiting left out; nothing where rows do not tell.
std::optional<Seconds> exposed_transfers(const Reconciliation& reconciliation, Part part) {
  std::optional<Seconds> out;
  for (const ReconciledRow& row : reconciliation.rows) {
    const bool told = row.exposed && row.transfer_kind != TransferKind::none &&
                      row.transfer_kind != TransferKind::whole && row.measured().value() > 0;
    if (!told || !of_part(row, part)) continue;
    out = out.value_or(Seconds(0)) + *row.exposed * (row.transfer / row.measured());
  }
  return out;
}

// Calls that run beside one another count each as exposed: what all take together over their sum.
double together_of_exposed(const Reconciliation& reconciliation, const std::vector<StepRow>& rows,
                           double rows_a_step) {
  Seconds together, sum;
  double ranks = 0;
  for (const StepRow& row : rows) {
    for (const StepOfRank& rank : row.ranks) {
      if (!rank.exposed) continue;
      together += *rank.exposed;
      ++ranks;
    }
  }
  for (const ReconciledRow& row : reconciliation.rows) sum += row.exposed.value_or(Seconds(0));
  if (!(sum.value() > 0) || !(ranks > 0)) return 1;
  return std::min(1.0, together / ranks * rows_a_step / sum);
}

}  // namespace

PartFactors factors_of(const Advised& as_is, const std::vector<StepRow>& rows, double rows_a_step) {
  const Parts& parts = as_is.forecast.parts;
  PartFactors out;
  out.fill(1);
  if (!as_is.measured) return out;
  const Seconds step = as_is.forecast.step_time;
  // Without late ranks as the forecast is: no setting touches what they cost.
  out.fill(as_is.step_time * (1 - as_is.late_share) / step);
  const auto set = [&](Part part, const std::optional<Seconds>& measured, Seconds forecast) {
    if (!measured || forecast < kLeastPart * step || !(measured->value() > 0)) return;
    out[static_cast<std::size_t>(part)] =
        std::clamp(*measured / forecast, 1 / kMostFactor, kMostFactor);
  };
  auto compute = computed(rows);
  if (compute) *compute *= rows_a_step;
  set(Part::compute, compute, parts.compute + parts.optimizer);
  set(Part::optimizer, compute, parts.compute + parts.optimizer);
  const double together = together_of_exposed(as_is.reconciliation, rows, rows_a_step);
  for (const PartRow& row : kParts) {
    // Of transfers between stages the trace cannot tell the bubble.
    if (!row.is_communication || row.part == Part::pp) continue;
    auto exposed = exposed_transfers(as_is.reconciliation, row.part);
    if (exposed) *exposed *= together;
    set(row.part, exposed, parts[row.part]);
  }
  return out;
}

// [ADVISE-1], [ADVISE-2]
Gain gain_of(const Advised& as_is, const Forecast& to) {
  const Forecast& from = as_is.forecast;
  double less = 0, more = 0, unsure = 0;
  const auto factor = [&](Part part) { return as_is.factors[static_cast<std::size_t>(part)]; };
  for (const PartRow& row : kParts) {
    const double change = factor(row.part) * (from.parts[row.part] - to.parts[row.part]).value();
    (change > 0 ? less : more) += std::abs(change);
  }
  for (const PricedCall& priced : to.calls) {
    const Part part = row_of(priced.call.group).part;
    if (priced.call.hidden_by == HiddenBy::nothing || from.parts[part] <= to.parts[part]) continue;
    unsure += factor(part) * priced.exposed.value();
  }
  const auto [low, high] = as_is.spread;
  const double step = as_is.step_time.value();
  // No step is shorter than its products at the peak.
  const double most = 1 - to.least_time.value() / step;
  const double least = std::min(most, (less * low - more * high - unsure) / step);
  const double highest = std::min(most, (less * high - more * low + unsure) / step);
  return {std::clamp((less - more) / step, least, highest), {least, highest}};
}

}  // namespace headway
