// Products whose sum is made in parts beside each other.
#pragma once

#include "cost/kernels/kernels.hpp"

namespace headway {

/// [INFER-27] A product with the sum over k in one place or, of few rows, which leave units without
/// a tile, in parts, whichever is shorter.
Seconds dense_product_time(const Matmul& product, Precision precision, Scaling scaling,
                           const Accelerator& accelerator, const KernelParameters& kernels);

}  // namespace headway
