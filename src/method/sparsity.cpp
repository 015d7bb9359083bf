#include "method/sparsity.hpp"

#include <algorithm>
#include <cmath>

namespace headway {

// [LAW-17] Density d, b bits a value. Products of zeros that lie anywhere run as all others. 2:4
// (two of four neighbours, from d = 1/2 down) halves products with the weights: forward and
// gradients of inputs, where the mask holds for the transposed weights, too; gradients of weights
// stay dense: (1/2 + 1/2 + 1)/3. Blocks run d of all three. Bytes of weights: values and what says
// where they are: a bit each (anywhere), two bits for each kept one (2:4), 32 bits a block.
// Gradients: d values; with masks sent a bit for each place, or the index of each value where that
// is less.
SparseShares sparse_shares(const Sparsity& of) {
  const double d = of.density, bits = of.value_bits;
  SparseShares out;
  switch (of.form) {
    case SparsityForm::none:
      out.weights = std::min(1.0, d + 1 / bits);
      break;
    case SparsityForm::two_four:
      if (d <= 0.5) {
        out.inference = 0.5;
        out.products = (0.5 + 0.5 + 1) / 3;
        out.weights = 0.5 + 0.5 * 2 / bits;
      }
      break;
    case SparsityForm::blocks: {
      const double values = static_cast<double>(of.block) * of.block;
      out.inference = out.products = d;
      out.weights = std::min(1.0, d + 32 / (bits * values));
      break;
    }
  }
  constexpr double kIndexBits = 32;
  const double mask = of.masks_sent ? std::min(1.0, d * kIndexBits) / bits : 0;
  out.exchange = std::min(1.0, d + mask);
  return out;
}

}  // namespace headway
