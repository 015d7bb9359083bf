#include "cost/serving/experts.hpp"

namespace headway {

// [INFER-36] As a product of its own [KERNEL-1], of 8 bits by blocks at `experts_blocks` of the
// rate: each expert's rows are filled up to whole tiles, and a tile's scales change with its expert
// and along k.
Seconds expert_product_time(const Matmul& shape, Precision precision, Scaling scaling,
                            const Accelerator& accelerator, const KernelParameters& products,
                            const ServingKernels& kernels) {
  if (precision != Precision::fp8 || scaling != Scaling::blocks) {
    return batched_matmul_time(shape, precision, accelerator, products, scaling);
  }
  KernelParameters slower = products;
  slower.sustained *= kernels.experts_blocks;
  return batched_matmul_time(shape, precision, accelerator, slower, scaling);
}

Seconds expert_products_time(const ExpertProducts& experts, const Accelerator& accelerator,
                             const KernelParameters& products, const ServingKernels& kernels) {
  const auto product = [&](const Matmul& shape) {
    return expert_product_time(shape, experts.precision, experts.scaling, accelerator, products,
                               kernels);
  };
  return product(experts.into) + product(experts.out) + experts.start +
         pass_time(experts.passed, accelerator, products);
}

}  // namespace headway
