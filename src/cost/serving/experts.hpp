// Products of experts, by kernels that engines have for all of them together.
#pragma once

#include "cost/kernels/kernels.hpp"
#include "cost/serving/serving.hpp"

namespace headway {

/// Experts of a gated network, as their benchmarks time them: a product into both halves, one out
/// of them, and passes over the tokens that go to them.
struct ExpertProducts {
  Matmul into, out;
  Precision precision = Precision::fp8;
  Scaling scaling = Scaling::blocks;
  Bytes passed;
  Seconds start;
};

/// [INFER-36] One product of all experts.
Seconds expert_product_time(const Matmul& shape, Precision precision, Scaling scaling,
                            const Accelerator& accelerator, const KernelParameters& products,
                            const ServingKernels& kernels);

Seconds expert_products_time(const ExpertProducts& experts, const Accelerator& accelerator,
                             const KernelParameters& products, const ServingKernels& kernels);

}  // namespace headway
