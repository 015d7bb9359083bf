#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cost/kernels/kernels.hpp"
#include "cost/kernels/product_compute.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

// The loop over k advances in steps of this many elements; a remainder costs a whole step.
constexpr std::int64_t kLoopStep = 64;

double ceil_positive(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole < x ? whole + 1 : whole;
}

// Of one product with fewer rows than the smallest tile libraries have tiles of as many as units of
// matrices take at a time.
std::int64_t rows_of(const Tile& tile, const Matmul& shape) {
  constexpr std::int64_t kAtATime = 16;
  const bool few = shape.batch == 1 && shape.m < tile.m && tile.m == kTileShapes.back().m;
  return few ? (shape.m + kAtATime - 1) / kAtATime * kAtATime : tile.m;
}

// Seconds for each element of k that the fastest tile needs: of the area of C that the units
// compute, with the idle rest of the last wave, at `rate`, and not less than `loop_step` for each
// wave [KERNEL-5].
Seconds time_for_each_k(const Matmul& shape, double units, FlopsPerSecond rate,
                        const ProductParameters& product, const KernelParameters& parameters) {
  const double each = 2 / rate.value(), least = product.loop_step.value();  // s an element, a wave
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTiles; ++i) {
    const Tile tile = kTileShapes[i];
    const auto rows = static_cast<double>((shape.m + tile.m - 1) >>
                                          std::countr_zero(static_cast<std::uint64_t>(tile.m)));
    const auto columns = static_cast<double>((shape.n + tile.n - 1) >>
                                             std::countr_zero(static_cast<std::uint64_t>(tile.n)));
    const double tiles = rows * columns * static_cast<double>(shape.batch);
    const double waves = tiles / units, whole = ceil_positive(waves);
    const double paid = waves + product.wave_loss * (whole - waves);
    const auto tile_rows = static_cast<double>(rows_of(tile, shape));
    const double area = paid * units * tile_rows * static_cast<double>(tile.n);
    best = std::min(best, std::max(area / parameters.tile_efficiency[i] * each, whole * least));
  }
  return Seconds(best);
}

// [KERNEL-1] Matrix product. With C[m, n] cut into tiles, `units` compute units at peak/units each:
//   area    = waves' · units · tile area / tile efficiency
//   waves'  = w + wave_loss · (ceil(w) - w),  w = batch · ceil(m/tile m) · ceil(n/tile n) / units
//   compute = min over tiles of max(2 · area / (peak · ceiling · sustained), ceil(w) · loop_step),
//             of fp32, which is multiplied and added without units for matrices, fp32_ceiling
//             · (64 · ceil(k/64) + loop_prologue)
//   memory  = bytes of A, B and C once / (bandwidth · memory efficiency)
//   again   = what a cache as large makes of it at least [KERNEL-9] / the same
//   t       = start + max(compute, memory, again) + memory_overlap_loss · min(compute, memory)
// [KERNEL-5] loop_step: what a tile's loop needs for each element of k however small the tile,
// since its loads, its products and, by blocks, its scales follow on each other. It is a latency,
// which no power slows: `sustained` leaves it. Source: tile and wave quantisation as in NVIDIA's
// "Matrix Multiplication Background User's Guide"; constants of each format fitted
// (docs/models/kernels.md has the errors). Of one product of fewer rows than the smallest tile the
// tile has as many times 16 as hold them. Libraries choose kernels by heuristics, which scatter
// +-15 % about any smooth form.
Seconds product_time(const Matmul& shape, Precision precision, Scaling scaling,
                     const Accelerator& accelerator, const KernelParameters& parameters,
                     bool grouped, double result_bytes) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0 || shape.batch <= 0) return Seconds(0);
  const ProductParameters& product = parameters.of(format_of(precision, scaling));
  const double element = bytes_per_element(precision);

  // Loads of 16 bytes need rows in memory that are multiples of 16 bytes. In a group one dimension
  // counts tokens, which no row runs along; m counts them elsewhere unless A lies by columns.
  const auto unit = static_cast<std::int64_t>(16 / element);
  const bool aligned = shape.n % 8 == 0 && (shape.batch > 1 || shape.k % unit == 0) &&
                       (!shape.by_columns || shape.m % unit == 0);
  // Units for single numbers load by single numbers.
  const bool plain = precision == Precision::fp32;
  double efficiency = (plain ? parameters.fp32_ceiling : product.ceiling) * parameters.sustained;
  if (grouped) efficiency *= product.grouped_efficiency;
  if (!aligned && !plain) efficiency *= parameters.misaligned_efficiency;
  const Seconds compute = product_compute_time(shape, accelerator.peak_of(precision) * efficiency,
                                               accelerator, product, parameters);
  const BytesPerSecond bandwidth = accelerator.memory_bandwidth * parameters.memory_efficiency;
  const Seconds memory = traffic_of(shape, precision, result_bytes) / bandwidth;
  const Seconds again = least_traffic_of(shape, element, accelerator.cache) / bandwidth;
  return parameters.matmul_start + std::max({compute, memory, again}) +
         product.memory_overlap_loss * std::min(compute, memory);
}

}  // namespace

Bytes traffic_of(const Matmul& shape, Precision precision, double result_bytes) {
  const double element = bytes_per_element(precision);
  const double result = result_bytes > 0 ? result_bytes : (element > 2 ? 4 : 2);
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k), batch = static_cast<double>(shape.batch);
  double operands = batch * (m * k + k * n);
  // Windows of a convolution read the same positions again, from the cache.
  if (shape.image > 0) operands += shape.image - batch * (shape.by_columns ? k * n : m * k);
  return Bytes(element * operands + batch * result * m * n);
}

// Of S elements at hand a product of m·n·k moves 2·m·n·k/√S - 2·S at least, whatever its order
// (Hong and Kung 1981; the constant: Smith et al., arXiv 1702.02017).
Bytes least_traffic_of(const Matmul& shape, double element, Bytes cache) {
  const double held = cache.value() / element;
  if (!(held > 0)) return Bytes(0);
  const double all =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const double moved = std::max(0.0, 2 * all / std::sqrt(held) - 2 * held);
  return Bytes(static_cast<double>(shape.batch) * element * moved);
}

Seconds product_compute_time(const Matmul& shape, FlopsPerSecond rate,
                             const Accelerator& accelerator, const ProductParameters& product,
                             const KernelParameters& parameters) {
  const double units = static_cast<double>(std::max<std::int64_t>(accelerator.compute_units, 1));
  const auto steps = static_cast<double>((shape.k + kLoopStep - 1) / kLoopStep * kLoopStep);
  return time_for_each_k(shape, units, rate, product, parameters) * (steps + product.loop_prologue);
}

Seconds matmul_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                    const KernelParameters& parameters, double result_bytes, Scaling scaling) {
  // [KERNEL-1b] A group of unlike products: one product's time for all, at grouped_efficiency, and
  // a start for each product of the group.
  const bool grouped = shape.batch != 1;
  const Seconds together =
      product_time(shape, precision, scaling, accelerator, parameters, grouped, result_bytes);
  if (!grouped) return together;
  return together + parameters.grouped_start * static_cast<double>(shape.batch);
}

Seconds batched_matmul_time(const Matmul& shape, Precision precision,
                            const Accelerator& accelerator, const KernelParameters& parameters,
                            Scaling scaling) {
  return product_time(shape, precision, scaling, accelerator, parameters, /*grouped=*/false, 0);
}

// [KERNEL-6] t = quantisation_start + elements · bytes / (bandwidth · memory efficiency). bytes, of
// a 16-bit operand: tensor-wise 5 (read for the maximum, read again, written), by blocks of 128 or
// 16 one pass with a scale a block. Source: the count; the start is fitted on products timed with
// it.
Seconds quantisation_time(double elements, double bytes, ProductFormat format,
                          const Accelerator& accelerator, const KernelParameters& parameters) {
  if (!(elements > 0) || !(bytes > 0)) return Seconds(0);
  return parameters.of(format).quantisation_start +
         Bytes(elements * bytes) / (accelerator.memory_bandwidth * parameters.memory_efficiency);
}

}  // namespace headway
