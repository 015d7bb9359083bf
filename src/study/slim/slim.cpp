#include "study/slim/slim.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/count.hpp"
#include "study/design/op_table.hpp"

namespace headway {
namespace {

// The middle of what is published for HBM (data/technology/memory.toml).
constexpr double kPicojoulesABit = 5;

// The forward pass of a rank's step, of one sample, and the rate of its products.
void count_forward(const RequestedRun& run, const Calibration& calibration, SlimAnswer& out) {
  const OpTable table = op_table(run, calibration);
  const double samples =
      static_cast<double>(run.job.global_batch) / static_cast<double>(run.layout.dp);
  Bytes moved;
  Flops products;
  Seconds time;
  for (const OpRow& row : table.rows) {
    if (row.part != "compute" || row.phase != "forward") continue;
    moved += row.bytes / samples;
    if (row.flops.value() <= 0) continue;
    (row.name.starts_with("attention") ? out.work.attention : out.work.linear) +=
        row.flops / samples;
    products += row.flops;
    time += row.time();
  }
  const double held = static_cast<double>(parameters(run.model).active);
  out.work.weights = Bytes(held * 2 / static_cast<double>(run.layout.tp * run.layout.pp));
  const Bytes of_weights = out.work.weights / static_cast<double>(run.layout.micro_batch);
  out.work.activations = std::max(Bytes(), moved - of_weights);
  out.machine.rate = time > Seconds() ? products / time : FlopsPerSecond();
}

std::vector<Slimming> kinds_of(const SlimGiven& given, Problems& problems) {
  std::vector<Slimming> out;
  const auto share = [&](const char* option, const std::optional<double>& value) {
    if (value && !(*value > 0 && *value <= 1)) {
      problems.push_back({FieldName(option), "must be above 0, at most 1: the share that is kept"});
    }
    return value.has_value() && *value < 1;
  };
  if (share("samples", given.samples)) {
    out.push_back({.name = "samples dropped", .samples = *given.samples});
  }
  if (share("tokens-kept", given.tokens)) {
    out.push_back({.name = "tokens or pixels", .tokens = *given.tokens});
  }
  const bool first = share("first-tokens", given.first_tokens);
  if (given.growing && !given.first_tokens) {
    problems.push_back(
        {FieldName("growing"), "is of --first-tokens, which a curriculum begins with"});
  }
  share("growing", given.growing);
  if (first) {
    out.push_back({.name = "curriculum of lengths",
                   .first_tokens = *given.first_tokens,
                   .growing = given.growing.value_or(1)});
  }
  if (share("width", given.width)) out.push_back({.name = "width", .width = *given.width});
  if (share("depth", given.depth)) out.push_back({.name = "depth", .depth = *given.depth});
  if (out.empty() && problems.empty()) {
    problems.push_back({FieldName("tokens-kept"),
                        "is missing, and so are --samples, --width, --depth and --first-tokens: "
                        "nothing is slimmed",
                        Trouble::missing});
  }
  return out;
}

}  // namespace

Result<SlimAnswer> answer_slimming(const SlimGiven& given) {
  Problems problems;
  const std::vector<Slimming> kinds = kinds_of(given, problems);
  const double picojoules = given.pj_a_bit.value_or(kPicojoulesABit);
  if (!(picojoules >= 0 && picojoules <= 1000)) {
    problems.push_back({FieldName("pj-a-bit"), "must be from 0 to 1000"});
  }
  auto run = make_run(given.fields);
  if (!run) append(problems, run.problems());
  if (!problems.empty()) return problems;
  const auto calibration = calibration_for(*run);
  if (!calibration) return calibration.problems();

  SlimAnswer out{.run = std::move(run).value(), .work = {}, .machine = {}, .rows = {}};
  count_forward(out.run, *calibration, out);
  if (!(out.machine.rate.value() > 0)) {
    return Problem{FieldName("model"), "runs no product that could be made less"};
  }
  const Accelerator& accelerator = out.run.cluster.accelerator;
  out.machine.memory = accelerator.memory_bandwidth;
  out.machine.idle = accelerator.idle_power;
  out.machine.joules_a_byte = picojoules * 8e-12;
  // What products draw at the rate that they sustain, above idle and DRAM.
  const Bytes bytes =
      out.work.activations + out.work.weights / static_cast<double>(out.run.layout.micro_batch);
  const Flops flops = out.work.linear + out.work.attention;
  const Joules above_idle =
      (accelerator.power_limit() - accelerator.idle_power) * (flops / out.machine.rate);
  out.machine.joules_a_flop =
      std::max(0.0, above_idle.value() - out.machine.joules_a_byte * bytes.value()) / flops.value();

  std::vector<Slimming> all = {{.name = "whole"}};
  all.insert(all.end(), kinds.begin(), kinds.end());
  if (kinds.size() > 1) all.push_back(together(kinds));
  const auto batch = static_cast<double>(out.run.layout.micro_batch);
  for (const Slimming& each : all) {
    out.rows.push_back({each, slim_cost(out.work, out.machine, each, true, batch),
                        slim_cost(out.work, out.machine, each, false, batch)});
  }
  return out;
}

}  // namespace headway
