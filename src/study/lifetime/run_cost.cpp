#include "study/lifetime/run_cost.hpp"

#include <algorithm>
#include <cmath>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "model/count.hpp"
#include "platform/files.hpp"
#include "step/passes/update.hpp"

namespace headway {
namespace {

const Result<Document>& assumptions() {
  static const Result<Document> document = embedded_document("economics/run.toml");
  return document;
}

}  // namespace

Result<RunAssumptions> default_assumptions(const Cluster& cluster, std::int64_t accelerators) {
  const auto& document = assumptions();
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  const auto entry = [&](const char* name) { return fields.table(name, /*required=*/true); };
  RunAssumptions out;
  out.mtbf = entry("mtbf").quantity<Seconds>("value");
  out.hardware_share = entry("hardware_share").number("value");
  out.restart = entry("restart").quantity<Seconds>("value");
  out.repair = entry("repair").quantity<Seconds>("value");
  out.checkpoint_bandwidth = entry("checkpoint_bandwidth").quantity<BytesPerSecond>("value") *
                             static_cast<double>(accelerators);
  out.carbon = entry("carbon").number("value");
  out.price = cluster.price_per_accelerator_hour;
  out.pue = cluster.power_usage_effectiveness;
  if (!problems.empty()) return problems;
  return out;
}

Result<std::vector<AssumptionSource>> default_sources() {
  const auto& document = assumptions();
  if (!document) return document.problems();
  Problems problems;
  Fields fields(*document, problems);
  std::vector<AssumptionSource> out;
  for (const std::string& name : fields.keys()) {
    Fields entry = fields.table(name);
    const Node* value = document->root.find(name)->find("value");
    const auto* written = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    const std::string number = formatted("%g", written == nullptr ? entry.number("value") : 0);
    out.push_back(
        {name, written == nullptr ? number : *written,
         entry.text("source") + " (" + entry.text("kind") + ", " + entry.text("date") + ")"});
  }
  if (!problems.empty()) return problems;
  return out;
}

// [SCALE-16] bytes = P · (weights + master + states); bf16 with Adam: P · (2 + 4 + 8). Data order
// and counters are small. LoRA: the trained share is not told apart here; the whole model is
// written.
Bytes checkpoint_bytes(const Model& model, const Job& job) {
  const Parameters count = parameters(model);
  const double all = static_cast<double>(count.total + count.prediction);
  const Bytes master(keeps_master(job) ? 4 : 0);
  const Bytes weights(job.recipe->activation == Precision::fp32 ? 4 : 2);
  return all * (weights + master + optimizer_state_bytes(job));
}

std::int64_t accelerators_of_node(const Cluster& cluster) {
  constexpr std::int64_t kMostOfAHost = 8;  // racks and tori are repaired host by host
  for (const Level& level : cluster.levels) {
    if (level.size > 1) return std::min(level.size, kMostOfAHost);
  }
  return 1;
}

// [SCALE-17] steps = tokens / (batch · sequence); training = steps · step time · (1 + stragglers);
// the run's time is that of [SCALE-2] to [SCALE-6] on it. Accelerator-hours = ranks · time.
// [SCALE-18] E = PUE · Σ over what the run does: time · ranks · (accelerator + host power).
// Training and work done twice draw the power of the step, checkpoints that of waiting, restarts
// and waiting for nodes that of idling, spares idle all the time. Money and CO2 are proportional.
RunCost run_cost(const Run& run, const Forecast& forecast, const RunAssumptions& assumed,
                 const PowerConstants& power) {
  RunCost out;
  const double batch =
      static_cast<double>(run.job.global_batch) * static_cast<double>(run.job.sequence);
  out.steps = std::ceil(assumed.tokens / batch);
  out.step_time = forecast.step_time * (1 + assumed.slowest_share);
  out.accelerators = run.layout.ranks();

  out.checkpoint = assumed.checkpoint_size.value_or(checkpoint_bytes(run.model, run.job));
  const Seconds write = out.checkpoint / assumed.checkpoint_bandwidth;
  const Seconds blocking = std::min(assumed.checkpoint_blocking.value_or(write), write);
  out.reliability = {.mean_time_between = mean_time_between(assumed.mtbf, out.accelerators),
                     .checkpoint = blocking,
                     .hidden_write = write - blocking,
                     .restart = assumed.restart};
  // A checkpoint stands at the end of a step, and not before the one before is written.
  const Seconds wanted = assumed.interval.value_or(
      std::max(best_interval(out.reliability), out.reliability.hidden_write));
  const double whole = std::max(1.0, std::round(wanted / out.step_time));
  out.interval = std::min(whole, out.steps) * out.step_time;
  out.hopeless = is_hopeless(out.reliability, out.interval);

  const std::int64_t node = accelerators_of_node(run.cluster);
  const Seconds breaking = assumed.hardware_share > 0
                               ? out.reliability.mean_time_between / assumed.hardware_share
                               : Seconds(0);
  const std::int64_t nodes = (out.accelerators + node - 1) / node;
  out.spare_nodes = assumed.spares.value_or(cheapest_spares(breaking, assumed.repair, nodes));
  out.spare_accelerators = out.spare_nodes * node;
  const double waiting = waiting_share(breaking, assumed.repair, out.spare_nodes);
  out.time = run_time(out.reliability, out.steps * out.step_time, out.interval, waiting);
  out.early = quantile_of(out.time, 0.1);
  out.late = quantile_of(out.time, 0.9);

  const double ranks = static_cast<double>(out.accelerators);
  const double spares = static_cast<double>(out.spare_accelerators);
  out.accelerator_time = out.time.total() * ranks;
  out.spare_time = out.time.total() * spares;

  const Accelerator& accelerator = run.cluster.accelerator;
  // Stragglers stretch the step without more products.
  out.accelerator_power =
      training_power(power, accelerator, forecast.busy / (1 + assumed.slowest_share));
  const Watts host = host_power(power, run.cluster);
  const auto joules = [&](Seconds time, Watts drawn, double count) {
    return time * (drawn + host) * count * assumed.pue;
  };
  const Watts idle = idle_power(accelerator), held = waiting_power(power, accelerator);
  out.energy.training = joules(out.time.training, out.accelerator_power, ranks);
  out.energy.checkpoints = joules(out.time.checkpoints, held, ranks);
  out.energy.lost_work = joules(out.time.lost_work, out.accelerator_power, ranks);
  out.energy.restarts = joules(out.time.restarts, idle, ranks);
  out.energy.waiting = joules(out.time.waiting, idle, ranks);
  out.energy.spares = joules(out.time.total(), idle, spares);
  constexpr double kHour = 3600, kKilowattHour = 3.6e6;
  out.price = assumed.price * (out.accelerator_time + out.spare_time).value() / kHour;
  out.carbon = assumed.carbon * out.energy.total().value() / kKilowattHour;
  return out;
}

}  // namespace headway
