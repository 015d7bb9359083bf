#include <algorithm>

#include "cost/kernels/kernels.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostCuts = 64;  // of the depth of a product
constexpr std::int64_t kFewChannels = 16;

// One operation a channel and tap on the units for single numbers, at half their peak.
Seconds direct_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                    const KernelParameters& parameters) {
  const FlopsPerSecond peak = accelerator.peak_of(Precision::fp32);
  if (!(peak.value() > 0)) return Seconds(1e30);
  const double work = 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                      static_cast<double>(shape.k) * static_cast<double>(shape.batch);
  const Seconds moved =
      traffic_of(shape, precision) / (accelerator.memory_bandwidth * parameters.memory_efficiency);
  return parameters.shortest_kernel + std::max(Flops(work) / (0.5 * peak), moved);
}

// Whether windows of 3 x 3 move by single positions over images of fp32: libraries then transform
// tiles of 4 x 4, which need 16 multiplications for 36 (Winograd's, arXiv 1509.09308).
bool is_transformed(const Matmul& shape, Precision precision) {
  const double positions = static_cast<double>(shape.m) * static_cast<double>(shape.batch) *
                           static_cast<double>(shape.k / shape.taps);
  return precision == Precision::fp32 && shape.taps == 9 && !shape.by_columns &&
         shape.image == positions;
}

}  // namespace

// [KERNEL-8] t = recurrent_start + FLOPs / (peak · recurrent_efficiency): each step waits for the
// one before it, so that nothing hides how its product starts and ends. Validity: 4 to 512 samples.
static Seconds recurrent_time(const Matmul& shape, Precision precision,
                              const Accelerator& accelerator, const KernelParameters& parameters) {
  const double work = 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                      static_cast<double>(shape.k);
  return parameters.recurrent_start +
         Flops(work) / (accelerator.peak_of(precision) * parameters.recurrent_efficiency);
}

// [KERNEL-7] min over cuts c = 1, 2, 4 ... 64 of the product of depth k/c, c times beside each
// other, and of a pass over its c parts in fp32 where c > 1. Source: implicit products of
// convolutions and their split depth as cuDNN and cuBLAS have them (NVIDIA, "Convolutional Layers
// User's Guide"). Of at most 16 channels in and out of a group also the direct sum; of windows of
// 3 x 3 in fp32 4/9 of the depth.
Seconds convolution_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                         const KernelParameters& parameters) {
  if (shape.recurrent) return recurrent_time(shape, precision, accelerator, parameters);
  Seconds best(1e30);
  const bool transformed = is_transformed(shape, precision);
  const double result = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.batch);
  for (std::int64_t cuts = 1; cuts <= kMostCuts; cuts *= 2) {
    if (cuts > 1 && shape.k / cuts < 128) break;
    Matmul part = shape;
    if (transformed) part.k = (shape.k * 16 + 35) / 36;
    part.k = (part.k + cuts - 1) / cuts;
    part.batch = shape.batch * cuts;
    Seconds time = batched_matmul_time(part, precision, accelerator, parameters);
    if (cuts > 1) {
      time += pass_time(Bytes(4 * result * static_cast<double>(cuts)), accelerator, parameters);
    }
    best = std::min(best, time);
  }
  const std::int64_t channels = shape.by_columns ? shape.m : shape.n;  // that leave, of a group
  if (channels > kFewChannels || shape.batch == 1) return best;
  return std::min(best, direct_time(shape, precision, accelerator, parameters));
}

}  // namespace headway
