// Seconds of a matrix product on one GPU: arithmetic, or the data that have to move between
// memory, L2, shared memory and registers, whichever takes longest.
#pragma once

#include "limits/machine/machine.hpp"

namespace headway::limits {

/// What one product does with its weight matrix: multiplies activations by it (forward, and the
/// gradient of the activations with the shape transposed), or computes its gradient.
enum class MatmulKind { activations, weight_gradient };

/// A product of the weight matrix rows x columns with any number of tokens. Everything that does
/// not depend on the number of tokens is computed once. [LIMIT-3]
class Matmul {
 public:
  Matmul(const Gpu& gpu, Precision precision, double rows, double columns, MatmulKind kind);

  /// Seconds for `tokens` columns of activations, kernel latency included.
  Seconds time(double tokens) const;

 private:
  // Seconds to move what does not grow with the tokens, and more for each token.
  struct Move {
    double fixed = 0, per_token = 0;
  };
  Move memory_, l2_, shared_;
  double eight_tokens_ = 0;  // seconds of arithmetic for eight tokens
  double latency_ = 0;
};

/// How a surface of rows x columns falls into tiles that fit into `capacity`: tiles along each
/// side, not rounded. [LIMIT-1]
struct Tiling {
  double rows = 1, columns = 1;
};
Tiling tile(double rows, double columns, double bytes_per_word, double capacity);

}  // namespace headway::limits
