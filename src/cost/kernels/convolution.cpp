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
// tiles (Winograd's, arXiv 1509.09308). Images that are not padded are a border larger than what
// leaves them; windows that move by two leave a quarter.
bool is_transformed(const Matmul& shape, Precision precision) {
  if (precision != Precision::fp32 || shape.taps != 9) return false;
  const double batch = static_cast<double>(shape.batch);
  const double positions = shape.by_columns ? static_cast<double>(shape.k) * batch
                                            : static_cast<double>(shape.m) * batch;
  const double channels = static_cast<double>(shape.by_columns ? shape.n : shape.k) / 9;
  const double ratio = shape.image / (positions * channels);
  return ratio > 0.5 && ratio < 2;
}

// Tiles of 4 x 4 in the kernel that multiplies them: 16 multiplications for 36. In kernels of their
// own before it tiles of 6 x 6, 36 for 144, written and read, 2.25 elements a position of both
// images.
constexpr double kFusedTile = 16.0 / 36, kApartTile = 36.0 / 144, kTileElements = 2.25;
Seconds transforms_time(const Matmul& shape, const Accelerator& accelerator,
                        const KernelParameters& parameters) {
  const double batch = static_cast<double>(shape.batch);
  const double leaving = shape.by_columns ? static_cast<double>(shape.k * shape.m) * batch
                                          : static_cast<double>(shape.m * shape.n) * batch;
  constexpr double kElement = 4, kWrittenAndRead = 2;
  return 2 * parameters.shortest_kernel +
         Bytes(kElement * kWrittenAndRead * kTileElements * (shape.image + leaving)) /
             (accelerator.memory_bandwidth * parameters.memory_efficiency);
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

// The product at a share of its multiplications, its depth cut so that no unit is idle.
static Seconds cut_product_time(const Matmul& shape, double share, Precision precision,
                                const Accelerator& accelerator,
                                const KernelParameters& parameters) {
  Seconds best(1e30);
  const auto deep = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(share * static_cast<double>(shape.k) + 0.5));
  const double result = static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                        static_cast<double>(shape.batch);
  for (std::int64_t cuts = 1; cuts <= kMostCuts; cuts *= 2) {
    if (cuts > 1 && shape.k / cuts < 128) break;
    Matmul part = shape;
    part.k = (deep + cuts - 1) / cuts;
    part.batch = shape.batch * cuts;
    Seconds time = batched_matmul_time(part, precision, accelerator, parameters);
    if (cuts > 1) {
      time += pass_time(Bytes(4 * result * static_cast<double>(cuts)), accelerator, parameters);
    }
    best = std::min(best, time);
  }
  return best;
}

// [KERNEL-7] min over cuts c = 1, 2, 4 ... 64 of the product of depth k/c, c times beside each
// other, and of a pass over its c parts in fp32 where c > 1. Source: implicit products of
// convolutions and their split depth as cuDNN and cuBLAS have them (NVIDIA, "Convolutional Layers
// User's Guide"). Of at most 16 channels in and out of a group also the direct sum; of windows of
// 3 x 3 in fp32 also 4/9 of the depth (not of the weight's gradient, whose kernel is none of
// these), or a quarter of it behind passes that transform both images. A product with a dimension
// of one is a pass.
Seconds convolution_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                         const KernelParameters& parameters) {
  if (shape.recurrent) return recurrent_time(shape, precision, accelerator, parameters);
  // A matrix and a vector, or two vectors, are read and written as fast as memory goes.
  if (shape.batch == 1 && std::min({shape.m, shape.n, shape.k}) == 1) {
    return pass_time(traffic_of(shape, precision), accelerator, parameters);
  }
  Seconds best = cut_product_time(shape, 1, precision, accelerator, parameters);
  if (is_transformed(shape, precision)) {
    if (!shape.by_columns) {
      best =
          std::min(best, cut_product_time(shape, kFusedTile, precision, accelerator, parameters));
    }
    best = std::min(best, cut_product_time(shape, kApartTile, precision, accelerator, parameters) +
                              transforms_time(shape, accelerator, parameters));
  }
  const std::int64_t channels = shape.by_columns ? shape.m : shape.n;  // that leave, of a group
  if (channels > kFewChannels || shape.batch == 1) return best;
  return std::min(best, direct_time(shape, precision, accelerator, parameters));
}

}  // namespace headway
