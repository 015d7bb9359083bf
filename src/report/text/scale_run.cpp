#include "report/scale_run.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string time_table(const WholeRun& whole) {
  const RunTime& time = whole.cost.time;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, part] :
       {std::pair("  training", time.training), std::pair("  checkpoints", time.checkpoints),
        std::pair("  lost work", time.lost_work), std::pair("  restarts", time.restarts),
        std::pair("  waiting for nodes", time.waiting)}) {
    rows.push_back({name, duration_text(part), percent_text(part / time.total())});
  }
  return aligned(rows);
}

// What more data parallelism brings.
std::string scaled_table(const std::vector<ScaledRun>& scaled, bool grown) {
  std::vector<std::vector<std::string>> rows = {
      {"  accelerators", "batch", "tokens", "days", "80 % of runs", "goodput", "MFU", "cost"}};
  for (const ScaledRun& each : scaled) {
    if (each.grown != grown) continue;
    const RunCost& cost = each.whole.cost;
    rows.push_back({"  " + short_count_text(static_cast<double>(cost.accelerators)),
                    tokens_text(each.whole.batch), tokens_text(each.whole.assumed.tokens),
                    formatted("%.3g", cost.time.total().value() / kDay),
                    formatted("%.3g", cost.early.value() / kDay) + " - " +
                        formatted("%.3g", cost.late.value() / kDay),
                    percent_text(cost.time.goodput), percent_text(each.whole.forecast.mfu),
                    price_text(cost.price)});
  }
  return aligned(rows);
}

}  // namespace

std::string scale_run_text(const WholeRun& whole, const ScaledRuns& series) {
  const std::vector<ScaledRun>& scaled = series.runs;
  const RunCost& cost = whole.cost;
  const RunTime& time = cost.time;
  const RunAssumptions& assumed = whole.assumed;
  const bool network = whole.run.model.is_network();
  const std::string each = network ? " samples" : " tokens";
  std::string out = printable(whole.run.model.name) + " on " + printable(whole.run.cluster.name) +
                    ": " + tokens_text(assumed.tokens) + each + " on " +
                    short_count_text(static_cast<double>(cost.accelerators)) + " accelerators\n" +
                    short_count_text(cost.steps) + " steps of " + tokens_text(whole.batch) + each +
                    ", " + to_text(cost.step_time) + " each, MFU " +
                    percent_text(whole.forecast.mfu) + "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"expected time", duration_text(time.total())},
      {"80 % of runs, by the luck of failures",
       duration_text(cost.early) + " to " + duration_text(cost.late)}};
  if (whole.forecast.step_time_interval) {
    const Interval<Seconds>& step = *whole.forecast.step_time_interval;
    const double low = step.low / whole.forecast.step_time;
    const double high = step.high / whole.forecast.step_time;
    rows.push_back({"80 % by the step time's interval", duration_text(time.total() * low) + " to " +
                                                            duration_text(time.total() * high)});
  }
  rows.push_back({"goodput", percent_text(time.goodput)});
  rows.push_back({"accelerator-hours", short_count_text(cost.accelerator_time.value() / kHour)});
  if (cost.spare_nodes > 0) {
    rows.push_back(
        {"accelerator-hours of spares", short_count_text(cost.spare_time.value() / kHour)});
  }
  rows.push_back({"power while training, host included",
                  to_text(Watts(cost.energy.training / (time.training * assumed.pue) /
                                static_cast<double>(cost.accelerators)))});
  rows.push_back({"energy, cooling included", energy_text(cost.energy.total())});
  rows.push_back({"CO2 equivalent", mass_text(cost.carbon)});
  rows.push_back({"cost", cost.price > 0 ? "$" + short_count_text(cost.price) : "price not known"});
  for (const ProviderRate& rate : whole.providers) {
    rows.push_back({"cost at provider " + printable(rate.provider) + "'s " +
                        formatted("$%.3g", rate.dollars) + " an hour",
                    "$" + short_count_text(price_at(rate, cost))});
  }
  out += aligned(rows);

  out += "\nwhere the time goes\n" + time_table(whole);
  const Reliability& r = cost.reliability;
  if (r.mean_time_between.value() > 0) {
    out += wrapped(
        (time.failures < 10 ? formatted("%.1f", time.failures) : short_count_text(time.failures)) +
            " interruptions, one in " + duration_text(r.mean_time_between) + "; checkpoints of " +
            to_text(cost.checkpoint) + " every " + duration_text(cost.interval) +
            ", training stopped for " + duration_text(r.checkpoint) + "; " +
            std::to_string(cost.spare_nodes) + " spare nodes",
        0, 2);
  }
  const double tokens = token_factor(whole.batch, whole.critical_batch);
  if (!network)
    out += "\n" + wrapped("loss by the law: " + formatted("%.3f", whole.loss) +
                              " nats a token; critical batch there: " +
                              tokens_text(whole.critical_batch) + " tokens. This batch takes " +
                              formatted("%.2f", tokens) + " x the tokens of a small one and " +
                              formatted("%.2f", step_factor(whole.batch, whole.critical_batch)) +
                              " x the steps of a large one.",
                          0, 2);
  out += "\nmore or fewer data-parallel ranks, same batch\n" + scaled_table(scaled, false);
  if (!network) {  // laws of loss are of language
    out += "\nbatch grown with them, tokens for the same loss\n" + scaled_table(scaled, true);
  }

  if (!series.left_out.empty()) {
    out += wrapped("left out: " + join(series.left_out, "; "), 0, 2);
  }

  out += "\nassumed\n";
  for (const AssumedValue& value : whole.values) {
    out += wrapped(value.name + " " + printable(value.value) + ": " + printable(value.source, 1000),
                   2, 4);
  }
  for (const std::string& assumption : whole.run.assumptions) {
    out += wrapped(printable(assumption, 1000), 2, 4);
  }
  for (const std::string& note : whole.forecast.notes) {
    out += wrapped("note: " + printable(note, 1000), 0, 2);
  }
  return out;
}

}  // namespace headway
