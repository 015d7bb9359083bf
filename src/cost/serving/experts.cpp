#include "cost/serving/experts.hpp"

namespace headway {

// [INFER-36] As a product of its own [KERNEL-1] at a share of the rate: each expert's rows are
// filled up to whole tiles, and of 8 bits by blocks a tile's scales change with its expert and
// along k.
Seconds expert_product_time(const Matmul& shape, Precision precision, Scaling scaling,
                            const Accelerator& accelerator, const KernelParameters& products,
                            const ServingKernels& kernels) {
  KernelParameters slower = products;
  if (precision == Precision::bf16 || precision == Precision::fp16) {
    slower.sustained *= kernels.experts_wide;
  } else if (format_of(precision, scaling) == ProductFormat::bits_8_blocks) {
    slower.sustained *= kernels.experts_blocks;
  }
  return batched_matmul_time(shape, precision, accelerator, slower, scaling);
}

RoutedPasses routed_passes(double routed, double width, double inner, double quantised) {
  constexpr double kCopied = 4, kActivated = 6;  // 16 bits: one read and written; two read
  return {Bytes(routed * (width * (kCopied + quantised) + inner * (kActivated + quantised))),
          Bytes(routed * width * kCopied)};
}

double quantised_bytes(Precision precision, Scaling scaling) {
  constexpr double kRead = 2;
  if (precision == Precision::fp8) return scaling == Scaling::blocks ? kRead + 1 + 4.0 / 128 : 5;
  if (precision == Precision::fp4) return kRead + 0.5 + 1.0 / 16;
  return 0;
}

Seconds routed_pass_time(Bytes moved, bool sorted, const Accelerator& accelerator,
                         const KernelParameters& products, const ServingKernels& kernels) {
  return pass_time(sorted ? moved * kernels.experts_passes : moved, accelerator, products);
}

Seconds expert_products_time(const ExpertProducts& experts, const Accelerator& accelerator,
                             const KernelParameters& products, const ServingKernels& kernels) {
  const auto product = [&](const Matmul& shape) {
    return expert_product_time(shape, experts.precision, experts.scaling, accelerator, products,
                               kernels);
  };
  return product(experts.into) + product(experts.out) + experts.start +
         routed_pass_time(experts.passed, experts.sorted, accelerator, products, kernels);
}

}  // namespace headway
