#include "limits/search/step.hpp"

#include <algorithm>
#include <cmath>

namespace headway::limits {
namespace {

constexpr double kProductsOfALayer = 6;  // two blocks: forward and two gradients
constexpr double kForwardProducts = 2;
constexpr double kOuterWords = 2;  // of DiLoCo's outer optimizer
// With recomputation the forward pass, a third of the products, runs twice.
constexpr double kRecomputedProducts = 4.0 / 3;

double real(std::int64_t value) {
  return static_cast<double>(value);
}

// The products of one GPU in one step: layers of its stage, its experts, micro-batches.
double layer_batches(const Shape& shape, const Degrees& degrees, std::int64_t micro_batches) {
  return real(shape.layers) / real(degrees.pipeline) *
         (real(shape.experts) / real(degrees.expert)) * real(micro_batches);
}

double products_of_a_layer(const Setting& setting) {
  return setting.relaxation.forward_only ? kForwardProducts : kProductsOfALayer;
}

double recomputed(const Setting& setting) {
  return setting.recompute_activations ? kRecomputedProducts : 1;
}

}  // namespace

// [LIMIT-13] A shard holds m = d_model/TPm by h = d_ff/TPf of each weight matrix. A layer
// multiplies by h x m and m x h forward, by the transposed ones backward, and computes two weight
// gradients:
//   tau = 2 t(h, m) + 2 t(m, h) + t'(h, m) + t'(m, h),  with t = floor(batch / (DP M S)) tokens
//   matmul = L/PP S/EP M tau
LayerMatmuls::LayerMatmuls(const Setting& setting, const Shape& shape, std::int64_t tensor_model,
                           std::int64_t tensor_ff)
    : down_(setting.machine.gpu, setting.precision, real(shape.d_model / tensor_model),
            real(shape.d_ff / tensor_ff), MatmulKind::activations),
      up_(setting.machine.gpu, setting.precision, real(shape.d_ff / tensor_ff),
          real(shape.d_model / tensor_model), MatmulKind::activations),
      down_gradient_(setting.machine.gpu, setting.precision, real(shape.d_model / tensor_model),
                     real(shape.d_ff / tensor_ff), MatmulKind::weight_gradient),
      up_gradient_(setting.machine.gpu, setting.precision, real(shape.d_ff / tensor_ff),
                   real(shape.d_model / tensor_model), MatmulKind::weight_gradient),
      forward_only_(setting.relaxation.forward_only) {}

Seconds LayerMatmuls::time(std::int64_t tokens) const {
  const double t = real(tokens);
  if (forward_only_) return up_.time(t) + down_.time(t);
  return 2 * up_.time(t) + 2 * down_.time(t) + up_gradient_.time(t) + down_gradient_.time(t);
}

std::int64_t tokens_of_product(const Shape& shape, std::int64_t data, std::int64_t micro_batches) {
  return shape.batch_tokens / data / micro_batches / shape.experts;  // floors nest
}

Seconds matmul_time(const Setting& setting, const Shape& shape, const Degrees& degrees,
                    std::int64_t micro_batches, const LayerMatmuls& layer) {
  const std::int64_t tokens = tokens_of_product(shape, degrees.data, micro_batches);
  return layer.time(tokens) * layer_batches(shape, degrees, micro_batches) * recomputed(setting);
}

// [LIMIT-39] Each product takes its latency and at least its FLOP at the sustained peak; tokens of
// a product are rounded down and then up to a multiple of 8, which leaves 8/9 of them or more. With
// M
// >= PP micro-batches (blocks of their own: PP/K) a GPU runs at least L/K S/EP times the products
// of a layer, with a zero bubble twice as many.
Seconds least_matmul_time(const Setting& setting, const Shape& shape, std::int64_t gpus,
                          std::int64_t expert, bool zero_bubble) {
  constexpr double kLeastTokens = 8.0 / 9;
  const Gpu& gpu = setting.machine.gpu;
  const FlopsPerSecond sustained = gpu.sustained * gpu.peak_of(setting.precision) * real(gpus);
  const double layers = real(shape.layers) / real(setting.relaxation.blocks) *
                        (real(shape.experts) / real(expert)) * (zero_bubble ? 2 : 1);
  return (kLeastTokens * (shape.training / steps_of(shape) / sustained) +
          gpu.kernel_latency * products_of_a_layer(setting) * layers) *
         recomputed(setting);
}

// [LIMIT-29] With a loss of its own no block waits for a gradient from another: blocks work on
// batches one behind the other, so only the stages of one block have a bubble, and only its layers'
// latencies follow one another in a step.
std::int64_t waiting_stages(const Setting& setting, std::int64_t stages) {
  const std::int64_t blocks = setting.relaxation.blocks;
  return (stages + blocks - 1) / blocks;
}

// [LIMIT-14] One forward, one backward, interleaved: z = (v - 1) max(0, PP - M);
//   beta = (z + PP - 1) / (z + PP - 1 + v M).
// Zero-bubble schedules (Qi et al. 2023, ZB-H2; M >= 2 PP, v = 1): none.
double bubble_share(std::int64_t stages, std::int64_t interleave, std::int64_t micro_batches,
                    bool zero_bubble) {
  if (zero_bubble) return 0;
  const double idle =
      real((interleave - 1) * std::max<std::int64_t>(0, stages - micro_batches)) + real(stages - 1);
  return idle / (idle + real(interleave) * real(micro_batches));
}

// [LIMIT-15] What overlaps runs beside the products, what does not is added to them:
//   pipeline = (max(matmul, overlapped network) + other network) / (1 - beta) + latency
// With a zero bubble the latency is hidden as well: it stands beside the products. (The published
// program means to do this but drops it: as_published.) Last, the replicas' all-reduce:
//   total = pipeline + data, or max(pipeline, data), and its latency.
Seconds step_time(const Setting& setting, Seconds matmul, const NetworkTimes& network,
                  double bubble, bool zero_bubble) {
  Seconds overlapped, other;
  (setting.overlap.tensor ? overlapped : other) += network.tensor;
  (setting.overlap.pipeline ? overlapped : other) += network.pipeline;
  const Seconds latency = (network.tensor_latency + network.pipeline_latency) /
                          static_cast<double>(setting.relaxation.blocks);
  if (zero_bubble && !setting.as_published) overlapped = std::max(overlapped, latency);

  Seconds total = (std::max(matmul, overlapped) + other) / (1 - bubble);
  if (!zero_bubble) total += latency;
  // [LIMIT-28] Replicas that do not wait only need the network to carry what they send.
  if (setting.relaxation.asynchronous) return std::max(total, network.data);
  total = setting.overlap.data ? std::max(total, network.data) : total + network.data;
  return total + network.data_latency;
}

namespace {

// The total again, part by part: each part is what the step grows by when it is put in.
StepParts parts_of(const Setting& setting, const Shape& shape, const Layout& layout,
                   const StepTimes& step, double bubble) {
  StepParts out;
  const Gpu& gpu = setting.machine.gpu;
  const FlopsPerSecond sustained =
      gpu.sustained * gpu.peak_of(setting.precision) * real(layout.gpus());
  out.arithmetic = shape.training / steps_of(shape) / sustained * recomputed(setting);
  out.kernel_latency = gpu.kernel_latency * products_of_a_layer(setting) *
                       layer_batches(shape, layout.degrees(), layout.micro_batches) *
                       recomputed(setting);
  out.memory = step.matmul - out.arithmetic - out.kernel_latency;
  constexpr double kRounding = 1e-12;
  if (std::abs(out.memory / step.matmul) < kRounding) out.memory = Seconds();

  NetworkTimes no_latency = step.network;
  no_latency.tensor_latency = no_latency.pipeline_latency = no_latency.data_latency = Seconds();
  const Seconds without_bubble = step_time(setting, step.matmul, no_latency, 0, layout.zero_bubble);
  const Seconds without_latency =
      step_time(setting, step.matmul, no_latency, bubble, layout.zero_bubble);
  out.network = without_bubble - step.matmul;
  out.bubble = without_latency - without_bubble;
  out.network_latency = step.total - without_latency;
  return out;
}

}  // namespace

StepTimes step_times(const Setting& setting, const Shape& shape, const Layout& layout) {
  StepTimes out;
  const LayerMatmuls layer(setting, shape, layout.tensor_model.degree(), layout.tensor_ff.degree());
  const double bubble = bubble_share(waiting_stages(setting, layout.pipeline.degree()),
                                     layout.interleave, layout.micro_batches, layout.zero_bubble);
  out.matmul = matmul_time(setting, shape, layout.degrees(), layout.micro_batches, layer);
  out.network = Network(setting, shape, layout.gpus()).times(layout);
  out.total = step_time(setting, out.matmul, out.network, bubble, layout.zero_bubble);
  out.parts = parts_of(setting, shape, layout, out, bubble);
  return out;
}

std::array<Seconds, 6> in_order(const StepParts& parts) {
  return {parts.arithmetic, parts.memory, parts.kernel_latency,
          parts.network,    parts.bubble, parts.network_latency};
}

std::size_t largest_loss(const StepParts& parts) {
  const std::array<Seconds, 6> all = in_order(parts);
  return static_cast<std::size_t>(std::max_element(all.begin() + 1, all.end()) - all.begin());
}

// [LIMIT-16] Weights in every replica, optimizer words spread over all: N w DP + 4 N w <= GPUs x
// memory. Activations are not counted. [LIMIT-27] Groups of replicas that meet rarely differ, so
// each holds the optimizer's words, and all together the weights of the last meeting and the outer
// momentum: N w (DP + 4 DP_loose + 2).
bool fits(const Setting& setting, const Shape& shape, std::int64_t gpus, std::int64_t data,
          std::int64_t loose) {
  const double words =
      real(data) + setting.optimizer_words * real(loose) + (loose > 1 ? kOuterWords : 0);
  return words * shape.parameters * bytes_per_element(setting.precision) <=
         real(gpus) * setting.machine.gpu.memory.value();
}

std::int64_t loose_replicas(const Setting& setting, const Split& data) {
  std::int64_t out = 1;
  if (!(setting.relaxation.sync_every > 1)) return out;
  for (std::size_t level = setting.relaxation.loose_level; level < data.at.size(); ++level) {
    out *= data.at[level];
  }
  return out;
}

double utilization(const Setting& setting, const Shape& shape, std::int64_t gpus, Seconds step) {
  const Flops of_step = shape.training / steps_of(shape);
  return of_step / (setting.machine.gpu.peak_of(setting.precision) * real(gpus) * step);
}

}  // namespace headway::limits
