#include <algorithm>
#include <cmath>
#include <map>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/laws/batch.hpp"

namespace headway {
namespace {

std::string number_text(double value) {
  return std::isfinite(value) ? formatted("%.4g", value) : "-";
}

std::string laws_table(const std::vector<StepsLaw>& laws) {
  std::vector<std::vector<std::string>> rows = {{"points of", "unit", "E0", "critical batch",
                                                 "points", "batches", "rms", "largest kept aside"}};
  for (const StepsLaw& law : laws) {
    rows.push_back(
        {law.name, law.unit, number_text(law.progress),
         std::isfinite(law.critical) ? number_text(law.critical) : "none: flat",
         std::to_string(law.points),
         number_text(law.least_batch) + "-" + number_text(law.most_batch),
         law.kept_aside_error || law.points > 2 ? formatted("%.1f %%", 100 * law.rms) : "-",
         law.kept_aside_error ? formatted("%+.1f %%", 100 * *law.kept_aside_error) : "-"});
  }
  return aligned(rows, 2);
}

std::string batches_table(const BatchAnswer& answer) {
  const bool timed = !answer.batches.empty() && answer.batches.front().time.has_value();
  std::vector<std::string> head = {"batch", answer.laws.front().unit, "steps", "regime", "points"};
  if (timed) head.insert(head.begin() + 3, "time");
  std::vector<std::vector<std::string>> rows = {head};
  for (const BatchRow& row : answer.batches) {
    std::vector<std::string> cells = {number_text(row.batch), number_text(row.progress),
                                      number_text(row.steps), std::string(words_of(row.regime)),
                                      row.outside ? "outside" : "within"};
    if (timed) cells.insert(cells.begin() + 3, row.time ? duration_text(*row.time) : "-");
    rows.push_back(std::move(cells));
  }
  return aligned(rows, 0);
}

std::string targets_table(const std::vector<TimedTarget>& targets) {
  std::map<std::string, std::vector<double>> times, samples;
  std::map<std::string, std::size_t> reasons;
  for (const TimedTarget& each : targets) {
    if (!each.reason.empty()) {
      ++reasons[each.reason];
      continue;
    }
    times[each.run.benchmark].push_back(std::abs(each.error()));
    if (each.run.samples > 0) {
      samples[each.run.benchmark].push_back(std::abs(each.samples_error()));
    }
  }
  const auto quantile = [](std::vector<double> of, double q) {
    if (of.empty()) return std::string("-");
    std::sort(of.begin(), of.end());
    const auto at = static_cast<std::size_t>(q * static_cast<double>(of.size() - 1) + 0.5);
    return formatted("%.1f %%", 100 * of[at]);
  };
  std::vector<std::vector<std::string>> rows = {
      {"benchmark", "runs", "time, median error", "90 %", "samples, median error"}};
  for (const auto& [name, errors] : times) {
    rows.push_back({name, std::to_string(errors.size()), quantile(errors, 0.5),
                    quantile(errors, 0.9), quantile(samples[name], 0.5)});
  }
  std::string out = aligned(rows);
  for (const auto& [reason, count] : reasons) {
    out += wrapped("not predicted: " + std::to_string(count) + " (" + reason + ")", 0, 2);
  }
  return out;
}

std::string sparsity_text(const Sparsity& of) {
  const SparseShares work = sparse_shares(of);
  return "\nof dense training, weights of density " + formatted("%.3g", of.density) + ", form " +
         std::string(kSparsityForms[static_cast<std::size_t>(of.form)]) +
         (of.masks_sent ? ", masks sent" : ", masks known to all") + "\n" +
         aligned({{"  FLOP that run, training", percent_text(work.products)},
                  {"  FLOP that run, inference", percent_text(work.inference)},
                  {"  bytes of weights", percent_text(work.weights)},
                  {"  bytes of gradients exchanged", percent_text(work.exchange)}});
}

}  // namespace

std::string batch_text(const BatchAnswer& answer) {
  std::string out = "progress to the target with a batch of B: E0 x (1 + B / critical batch)\n\n";
  if (!answer.targets.empty()) {
    return "time to the target: samples by the law of the round's points, over the measured "
           "throughput,\nand evaluation as of other submitters' runs\n\n" +
           targets_table(answer.targets);
  }
  out += laws_table(answer.laws);
  for (const std::string& each : answer.without) out += wrapped("no law: " + each, 0, 2);
  if (answer.factors.samples != 1 || answer.factors.steps != 1) {
    out += "\nsparsity: samples x " + formatted("%.4g", answer.factors.samples) + ", steps x " +
           formatted("%.4g", answer.factors.steps) + " (given; no published number)\n";
  } else if (answer.sparsity) {
    out +=
        "\nsparsity: samples and steps of dense training: no published number; "
        "--sparse-samples and --sparse-steps are yours\n";
  }
  if (!answer.batches.empty()) out += "\n" + batches_table(answer);
  if (answer.sparsity) out += sparsity_text(*answer.sparsity);
  return out;
}

}  // namespace headway
