// What a matrix product computes, apart from what it reads and writes.
#pragma once

#include "cost/kernels/kernels.hpp"

namespace headway {

/// Seconds of the compute units alone at `rate`, tiles and waves as [KERNEL-1] has them.
Seconds product_compute_time(const Matmul& shape, FlopsPerSecond rate,
                             const Accelerator& accelerator, const ProductParameters& product,
                             const KernelParameters& parameters);

}  // namespace headway
