#include "cost/serving/split.hpp"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

// Rows of one tile: a product of no more leaves units without one.
constexpr std::int64_t kFewRows = 128;

// Parts of the sum beside each other, and a pass that adds them up, in 32 bits: as many as there
// are units for; of 4 bits, whose kernels that were measured split none, two.
Seconds split_product_time(const Matmul& product, Precision precision, Scaling scaling,
                           const Accelerator& accelerator, const KernelParameters& kernels) {
  constexpr std::int64_t kTile = 64, kMostParts = 8;
  const bool four = precision == Precision::fp4;
  const std::int64_t tiles = ((product.m + kTile - 1) / kTile) * ((product.n + kTile - 1) / kTile);
  Seconds best(std::numeric_limits<double>::infinity());
  for (std::int64_t parts = 2; parts <= (four ? 2 : kMostParts); parts *= 2) {
    if (!four && (tiles * parts > accelerator.compute_units || product.k % (kTile * parts) != 0)) {
      break;
    }
    Matmul part = product;
    part.k = (product.k + parts - 1) / parts;
    part.batch = parts;
    const double results =
        static_cast<double>(part.batch) * static_cast<double>(product.m * product.n);
    best = std::min(best, batched_matmul_time(part, precision, accelerator, kernels, scaling) +
                              pass_time(Bytes(4 * results), accelerator, kernels));
  }
  return best;
}

}  // namespace

Seconds dense_product_time(const Matmul& product, Precision precision, Scaling scaling,
                           const Accelerator& accelerator, const KernelParameters& kernels) {
  const Seconds whole = matmul_time(product, precision, accelerator, kernels, 0, scaling);
  if (product.m > kFewRows || product.batch > 1) return whole;
  return std::min(whole, split_product_time(product, precision, scaling, accelerator, kernels));
}

}  // namespace headway
