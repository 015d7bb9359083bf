// The one table of the constants of kernels: their names, what they may be, and which measured
// kernels decide them.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cost/calibration/constant.hpp"
#include "cost/calibration/kernel_entries.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {

/// What decides a constant: nothing that is measured here, products by format, products of all
/// architectures together, products of experts, attention.
enum class DecidedBy : std::uint8_t {
  nothing,
  products,  // of 16 bits; the other formats in the order of ProductFormat
  products_8_bit,
  products_8_bit_blocks,
  products_4_bit,
  all_products,
  grouped_products,
  attention_forward,
  attention_backward,
};

constexpr DecidedBy decided_by(ProductFormat format) {
  return static_cast<DecidedBy>(static_cast<std::size_t>(DecidedBy::products) +
                                static_cast<std::size_t>(format));
}

struct KernelConstant {
  AllowedRange range;  // in a file
  DecidedBy by = DecidedBy::nothing;
  // In a fit, in units of `unit`, so that all are of like size.
  double least = 0, most = 0, unit = 1;
  bool follows =
      false;  // is given the value of the one before it: their kernels are measured as one
};

/// Of attention in one direction, decided by `by`.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, FlashParameters>
void for_each_constant(Parameters& p, DecidedBy by, Visitor&& visit) {
  using Row = KernelConstant;
  visit("flash1", p.ceiling[0], Row{kFraction});
  visit("flash2", p.ceiling[1], Row{kFraction, by, 0.2, 1});
  // The rows are of the best kernel of their library.
  visit("flash3", p.ceiling[2], Row{kFraction, by, 0.2, 1, 1, true});
  visit("triton", p.ceiling[3], Row{kFraction});
  visit("flash1_wide", p.wide[0], Row{kFraction});
  visit("flash2_wide", p.wide[1], Row{kFraction});
  visit("flash3_wide", p.wide[2], Row{kFraction});
  visit("triton_wide", p.wide[3], Row{kFraction});
  visit("block_rows", p.block_rows, Row{{1, 1e6}});
  visit("row_keys", p.row_keys, Row{{0, 1e4}});
  visit("tail", p.tail, Row{kShare, by, 0, 1});
  visit("unequal_dims", p.unequal_dims, Row{kFraction, by, 0.5, 1});
}

/// Of the products of one format.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, ProductParameters>
void for_each_constant(Parameters& p, ProductFormat format, Visitor&& visit) {
  using Row = KernelConstant;
  constexpr double kMicrosecond = 1e-6, kNanosecond = 1e-9;
  const DecidedBy by = decided_by(format);
  visit("ceiling", p.ceiling, Row{kFraction, by, 0.3, 1});
  visit("loop_prologue", p.loop_prologue, Row{kNotNegative, by, 0, 4, 256});
  visit("wave_loss", p.wave_loss, Row{kShare, by, 0, 1});
  visit("memory_overlap_loss", p.memory_overlap_loss, Row{kShare, by, 0, 1});
  visit("loop_step", p.loop_step, Row{kPositive, by, 0.01, 4, kNanosecond});
  // The project's groups are of 16 bits alone.
  const bool half = format == ProductFormat::bits_16;
  visit("grouped_efficiency", p.grouped_efficiency,
        Row{kFraction, half ? DecidedBy::grouped_products : DecidedBy::nothing, 0.3, 1});
  visit("quantisation_start", p.quantisation_start,
        half ? Row{kPositive} : Row{kPositive, by, 0.5, 20, kMicrosecond});
}

/// visit(name, constant, KernelConstant) for each that a file may hold, and visit.table(name, walk)
/// for those in a table: walk(visitor) visits them.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, KernelParameters>
void for_each_constant(Parameters& p, Visitor&& visit) {
  using Row = KernelConstant;
  constexpr double kMicrosecond = 1e-6;
  visit("memory_efficiency", p.memory_efficiency, Row{kFraction});
  visit("shortest_kernel", p.shortest_kernel, Row{kPositive});
  visit("sustained", p.sustained, Row{kFraction});
  visit("matmul_start", p.matmul_start, Row{kPositive, DecidedBy::products, 2, 5, kMicrosecond});
  visit("misaligned_efficiency", p.misaligned_efficiency, Row{kFraction});
  visit("fp32_ceiling", p.fp32_ceiling, Row{kFraction});
  visit.table("tile_efficiency", [&](auto&& tiles) {
    // The large tiles are the measure (1); smaller ones reach less of the peak.
    constexpr std::array<double, kTiles> kLeast = {1, 1, 0.7, 0.5, 0.3};
    for (std::size_t i = 0; i < kLeast.size(); ++i) {
      const bool moves = kLeast[i] < 1;
      tiles(tile_name(kTileShapes[i]), p.tile_efficiency[i],
            Row{kFraction, moves ? DecidedBy::all_products : DecidedBy::nothing, kLeast[i], 1});
    }
  });
  visit("grouped_start", p.grouped_start,
        Row{kPositive, DecidedBy::grouped_products, 0.01, 20, kMicrosecond});
  for (std::size_t i = 0; i < kProductFormats; ++i) {
    visit.table(product_table(static_cast<ProductFormat>(i)), [&](auto&& products) {
      for_each_constant(p.products[i], static_cast<ProductFormat>(i), products);
    });
  }
  visit.table("flash_forward", [&](auto&& flash) {
    for_each_constant(p.flash_forward, DecidedBy::attention_forward, flash);
  });
  visit.table("flash_backward", [&](auto&& flash) {
    for_each_constant(p.flash_backward, DecidedBy::attention_backward, flash);
  });
  visit("softmax_width", p.softmax_width, Row{kNotNegative});
  visit("recurrent_start", p.recurrent_start, Row{kPositive});
  visit("recurrent_efficiency", p.recurrent_efficiency, Row{kFraction});
}

}  // namespace headway
