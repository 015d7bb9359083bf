// Seconds of one kernel: matrix product, attention, memory-bound pass. Formulas with sources and
// validity: docs/models/kernels.md. Pure functions without allocation.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "step/program/op.hpp"

namespace headway {

/// The output tiles that a matrix product may be cut into; the fastest is taken. Powers of two.
struct Tile {
  std::int64_t m, n;
};
constexpr int kTiles = 5;
constexpr std::array<Tile, kTiles> kTileShapes = {
    {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 64}}};

/// How a product's operands are scaled: by one factor for all, or for each row, or for each block
/// of 16 to 128 elements.
enum class Scaling : std::uint8_t { whole, blocks };

/// Products whose kernels differ, as their constants do: operands of 16 bits (and more), of 8 bits
/// by scaling, of 4 bits (by blocks always).
enum class ProductFormat : std::uint8_t { bits_16, bits_8, bits_8_blocks, bits_4 };
constexpr std::size_t kProductFormats = 4;
constexpr std::array<std::string_view, kProductFormats> kProductFormatNames = {
    "16_bit", "8_bit", "8_bit_blocks", "4_bit"};

constexpr ProductFormat format_of(Precision precision, Scaling scaling = Scaling::whole) {
  if (precision == Precision::fp4) return ProductFormat::bits_4;
  if (precision != Precision::fp8) return ProductFormat::bits_16;
  return scaling == Scaling::blocks ? ProductFormat::bits_8_blocks : ProductFormat::bits_8;
}

/// Of products with weights.
constexpr Scaling scaling_of(const Recipe& recipe) {
  return recipe.block_scaled ? Scaling::blocks : Scaling::whole;
}

/// Constants of matrix products of one format [KERNEL-1].
struct ProductParameters {
  double ceiling = 0.85;       // of the peak that a long product with the best tile reaches
  double loop_prologue = 128;  // filling and draining the loop over k, in steps of k
  double wave_loss = 0.7;      // share of a last, partly filled wave that is lost, 0 ... 1
  double memory_overlap_loss =
      0.2;            // share of the shorter of compute and memory that is not hidden
  Seconds loop_step;  // a tile's loop takes this long at least for each element of k [KERNEL-5]
  double grouped_efficiency = 0.85;  // factor of grouped products (experts) against one product
  Seconds quantisation_start;        // of the kernel that quantises an operand [KERNEL-6]
};

/// Constants of flash attention in one direction, forward or backward.
struct FlashParameters {
  /// Fraction of the peak that long sequences and wide heads reach, by flash1, flash2, flash3,
  /// triton.
  std::array<double, 4> ceiling = {0.40, 0.68, 0.80, 0.40};
  double block_rows = 128;  // rows that one compute unit works on at a time
  double row_keys = 0;      // of flash2 and flash3: a row takes as long as with so many keys more
  double tail = 0.5;        // share of the longest block's time that nothing hides, 0 ... 1
  double unequal_dims = 0.85;  // factor where head_dim != value_dim (latent attention), (0, 1]
  /// Factor where heads are wider than 64, (0, 1], by the same: a block of the first algorithm no
  /// longer fits the registers.
  std::array<double, 4> wide = {1, 1, 1, 1};
};

/// Constants of one accelerator architecture, fitted on measured kernels
/// (data/calibration/kernels.toml). Efficiencies are fractions of the data sheet in (0, 1].
struct KernelParameters {
  double memory_efficiency = 0.85;  // of the memory bandwidth that a long pass reaches
  double eager_efficiency = 1;      // of that, what kernels of one operation each reach
  Seconds shortest_kernel{2e-6};    // ramp up and down of a pass or attention, added to its work
  double sustained = 1;             // of the rate of a short benchmark that hours of training keep

  // Matrix products.
  std::array<ProductParameters, kProductFormats> products;  // by ProductFormat
  Seconds matmul_start{3e-6};          // ramp up and down of a product, added to its work
  double misaligned_efficiency = 0.5;  // factor where a row is not a multiple of 16 bytes
  double fp32_ceiling = 0.92;          // of products in fp32, which no unit for matrices multiplies
  std::array<double, kTiles> tile_efficiency = {1, 1, 0.95, 0.85, 0.7};
  Seconds grouped_start{2e-6};  // of each product of a group

  // A step of a recurrent cell [KERNEL-8].
  Seconds recurrent_start{6e-6};
  double recurrent_efficiency = 0.13;  // of the peak

  ProductParameters& of(ProductFormat format) { return products[static_cast<std::size_t>(format)]; }
  const ProductParameters& of(ProductFormat format) const {
    return products[static_cast<std::size_t>(format)];
  }

  // Flash attention [KERNEL-2].
  FlashParameters flash_forward;
  FlashParameters flash_backward;
  double softmax_width = 32;  // the softmax of one score costs as much as this much head dimension
};

/// The share of the peak that long products keep in hours of training.
inline double sustained_share(const KernelParameters& parameters, ProductFormat format) {
  return parameters.of(format).ceiling * parameters.sustained;
}

/// Bytes moved per element of C by a product that adds to an fp32 gradient in place.
constexpr double kAccumulatedResult = 8;

/// Time of `shape` with operands in `precision`. batch > 1 is a group of unlike products, as of
/// experts. `result_bytes` are moved per element of C; 0: C is written once, in 16 bit (fp32 and
/// tf32: 32 bit). `scaling`: of 8-bit operands.
Seconds matmul_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                    const KernelParameters& parameters, double result_bytes = 0,
                    Scaling scaling = Scaling::whole);

/// As matmul_time, for a convolution or another product of a network of modules (Matmul::image)
/// [KERNEL-7]: the fastest of the product with its depth cut over idle units, and, of few channels
/// a group, the direct sum on the units that multiply no matrices.
Seconds convolution_time(const Matmul& shape, Precision precision, const Accelerator& accelerator,
                         const KernelParameters& parameters);

/// As matmul_time, for a batch of products issued as one kernel.
Seconds batched_matmul_time(const Matmul& shape, Precision precision,
                            const Accelerator& accelerator, const KernelParameters& parameters,
                            Scaling scaling = Scaling::whole);

/// The kernel that quantises `elements` of a product's operand, `bytes` read and written for each,
/// where it is timed with the product [KERNEL-6]. In a step it is a pass.
Seconds quantisation_time(double elements, double bytes, ProductFormat format,
                          const Accelerator& accelerator, const KernelParameters& parameters);

Seconds attention_forward_time(const AttentionShape& shape, AttentionKernel kernel,
                               Precision precision, const Accelerator& accelerator,
                               const KernelParameters& parameters);
Seconds attention_backward_time(const AttentionShape& shape, AttentionKernel kernel,
                                Precision precision, const Accelerator& accelerator,
                                const KernelParameters& parameters);
/// Flash attention forward at a ceiling that is no kernel's of training.
Seconds flash_forward_time(const AttentionShape& shape, double ceiling, Precision precision,
                           const Accelerator& accelerator, const KernelParameters& parameters);

/// A memory-bound pass that reads and writes `moved` bytes in all [KERNEL-4]. eager: by a library's
/// kernels of one operation each (elementwise, reductions, casts, copies), not by a fused one.
Seconds pass_time(Bytes moved, const Accelerator& accelerator, const KernelParameters& parameters,
                  bool eager = false);

}  // namespace headway
