#include "limits/forms/closed_forms.hpp"

#include <algorithm>
#include <cmath>

namespace headway::limits {
namespace {

// The study's anchors.
constexpr double kBatchTokens = 4e6, kLayers = 100, kFlop = 3e23;

// A MAC is two FLOP. T0 is FLOP but stands beside T in MAC, as in the study.
Flops from_factor(double factor, double duration_over_serial_time, double alpha) {
  const double batch_per_layer = kBatchTokens / kLayers * std::pow(kFlop, -alpha);
  const double square = batch_per_layer * duration_over_serial_time;
  return Flops(2 * std::pow(factor * square * square, 1 / (1 - 2 * alpha)));
}

// What the formulas take for a node: a domain of the innermost level, or one GPU where that level
// is the only one; and the narrowest level that joins nodes.
struct Node {
  double gpus = 1;
  BytesPerSecond outside;
};
Node node_of(const Machine& machine) {
  const std::vector<Level>& levels = machine.levels;
  if (levels.size() == 1) return {1, levels[0].bandwidth};
  BytesPerSecond outside = levels[1].bandwidth;
  for (std::size_t i = 2; i < levels.size(); ++i) outside = std::min(outside, levels[i].bandwidth);
  return {static_cast<double>(levels[0].size), outside};
}

double macs_per_second(const Setting& setting) {
  return setting.machine.gpu.peak_of(setting.precision).value() / 2;
}

}  // namespace

// [LIMIT-18] Latency limit. A step takes at least 4 L t: forward and backward through two products
// a layer, t = kernel latency + 2 (the two halves of an all-reduce) x the sum of the levels'
// latencies. With D = 20 N, T = 60 N^2 MAC, D/b steps, b = b0 (T/T0)^alpha_b and
// L = L0 (T/T0)^alpha_L:
//   T = (3/320 ((b0/L0) T0^-alpha t_d / t)^2)^(1/(1 - 2 alpha)),  alpha = alpha_b - alpha_L.
// [LIMIT-19] Linear-scaling limit, for nodes that do C MAC/s, read Mw words/s from memory and send
// W words/s. A product needs n = C/Mw tokens and a shard A = 4C/(3W) wide to stay busy; so there
// are at most N/(2 L A^2) tensor ranks and b/(2n) others (a pipeline without bubble needs twice as
// many micro-batches as stages), and T / (C t_d) nodes are needed:
//   T = (1/960 ((b0/L0) T0^-alpha C t_d / (A^2 n))^2)^(1/(1 - 2 alpha)).
// Source: Erdil & Schneider-Joseph 2024. Valid for the 2-D tensor split and D = 20 N; extremely
// sensitive to alpha.
NodeNeeds node_needs(const Setting& setting) {
  const double word = bytes_per_element(setting.precision);
  const double macs = macs_per_second(setting);
  const double words_from_memory = setting.machine.gpu.memory_bandwidth.value() / (2 * word);
  const double words_sent = node_of(setting.machine).outside.value() / word;
  return {macs / words_from_memory, 4 * macs / (3 * words_sent)};
}

ClosedForms closed_forms(const Setting& setting, double alpha) {
  ClosedForms out;
  out.alpha = alpha;
  double serial = setting.machine.gpu.kernel_latency.value();
  for (const Level& level : setting.machine.levels) serial += 2 * level.latency.value();
  const double duration = setting.duration.value();
  out.latency = from_factor(3.0 / 320, duration / serial, alpha);

  const NodeNeeds needs = node_needs(setting);
  const double node_macs = node_of(setting.machine).gpus * macs_per_second(setting);
  out.linear_scaling = from_factor(
      1.0 / 960, node_macs * duration / (needs.shard * needs.shard * needs.tokens), alpha);
  return out;
}

// alpha of [LIMIT-18] from the laws: with d_ff ~ d, S ~ d^s and L ~ d^2e, N ~ d^(2 + 2e + s) and
// T ~ N^2/S ~ d^(4 + 4e + s). The batch grows with T^e_b, and with sqrt(S) unless it is constant.
double implied_alpha(const Setting& setting) {
  const double layers = 2 * setting.layers.exponent;
  const double experts = setting.sparsity.sparse ? setting.sparsity.exponent : 0;
  const double training = 4 + 2 * layers + experts;
  const double batch = setting.batch.constant ? 0 : setting.batch.exponent + experts / 2 / training;
  return batch - layers / training;
}

}  // namespace headway::limits
