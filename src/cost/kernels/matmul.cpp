#include <algorithm>
#include <bit>
#include <limits>

#include "cost/kernels/kernels.hpp"

namespace headway {
namespace {

// The loop over k advances in steps of this many elements; a remainder costs a whole step.
constexpr std::int64_t kLoopStep = 64;

double ceil_positive(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole < x ? whole + 1 : whole;
}

// Area of C that the units compute, with the idle rest of the last wave, over the tile's
// efficiency.
double effective_area(const Matmul& shape, double units, const KernelParameters& parameters) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTiles; ++i) {
    const Tile tile = kTileShapes[i];
    const auto rows = static_cast<double>((shape.m + tile.m - 1) >>
                                          std::countr_zero(static_cast<std::uint64_t>(tile.m)));
    const auto columns = static_cast<double>((shape.n + tile.n - 1) >>
                                             std::countr_zero(static_cast<std::uint64_t>(tile.n)));
    const double tiles = rows * columns * static_cast<double>(shape.batch);
    const double waves = tiles / units;
    const double paid = waves + parameters.wave_loss * (ceil_positive(waves) - waves);
    const double area = paid * units * static_cast<double>(tile.m * tile.n);
    best = std::min(best, area / parameters.tile_efficiency[i]);
  }
  return best;
}

// [KERNEL-1] Matrix product. With C[m, n] cut into tiles, `units` compute units at peak/units each:
//   area    = min over tiles of waves' · units · tile area / tile efficiency
//   waves'  = w + wave_loss · (ceil(w) - w),  w = batch · ceil(m/tile m) · ceil(n/tile n) / units
//   compute = 2 · area · (64 · ceil(k/64) + loop_prologue) / (peak · ceiling · sustained)
//   memory  = bytes of A, B and C once / (bandwidth · memory efficiency)
//   t       = start + max(compute, memory) + memory_overlap_loss · min(compute, memory)
// Source: tile and wave quantisation as in NVIDIA's "Matrix Multiplication Background User's
// Guide"; constants fitted (docs/models/kernels.md has the errors). Valid for m >= 32; libraries
// choose kernels by heuristics, which scatter +-15 % about any smooth form.
Seconds product_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                     const KernelParameters& parameters, double efficiency, double result_bytes) {
  if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0 || shape.batch <= 0) return Seconds(0);
  const double element = bytes_per_element(precision);
  const double result = result_bytes > 0 ? result_bytes : (element > 2 ? 4 : 2);
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
             k = static_cast<double>(shape.k), batch = static_cast<double>(shape.batch);

  const double units = static_cast<double>(std::max<std::int64_t>(accelerator.compute_units, 1));
  const auto steps = static_cast<double>((shape.k + kLoopStep - 1) / kLoopStep * kLoopStep);
  // Loads of 16 bytes need rows in memory that are multiples of 16 bytes. In a group one dimension
  // counts tokens, which no row runs along; m counts them elsewhere unless A lies by columns.
  const auto unit = static_cast<std::int64_t>(16 / element);
  const bool aligned = shape.n % 8 == 0 && (shape.batch > 1 || shape.k % unit == 0) &&
                       (!shape.by_columns || shape.m % unit == 0);
  if (element <= 1) {
    efficiency *= precision == Precision::fp4 ? parameters.fp4_ceiling : parameters.fp8_ceiling;
  }
  if (!aligned) efficiency *= parameters.misaligned_efficiency;
  const FlopsPerSecond rate = accelerator.peak_of(precision) *
                              (parameters.matmul_ceiling * parameters.sustained * efficiency);
  const Seconds compute =
      Flops(2 * effective_area(shape, units, parameters) * (steps + parameters.loop_prologue)) /
      rate;
  const Seconds memory = Bytes(batch * (element * (m * k + k * n) + result * m * n)) /
                         (accelerator.memory_bandwidth * parameters.memory_efficiency);
  return parameters.matmul_start + std::max(compute, memory) +
         parameters.memory_overlap_loss * std::min(compute, memory);
}

}  // namespace

Seconds matmul_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                    const KernelParameters& parameters, double result_bytes, double rate) {
  if (shape.batch == 1) {
    return product_time(shape, precision, accelerator, parameters, rate, result_bytes);
  }
  // [KERNEL-1b] A group of unlike products: one product's time for all, at grouped_efficiency, and
  // a start for each product of the group.
  const Seconds together = product_time(shape, precision, accelerator, parameters,
                                        parameters.grouped_efficiency * rate, result_bytes);
  return together + parameters.grouped_start * static_cast<double>(shape.batch);
}

Seconds batched_matmul_time(const Matmul& shape, Precision precision,
                            const Accelerator& accelerator, const KernelParameters& parameters) {
  return product_time(shape, precision, accelerator, parameters, 1, 0);
}

}  // namespace headway
