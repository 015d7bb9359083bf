#include "study/infer/pass/products.hpp"

#include <algorithm>

#include "cost/serving/experts.hpp"
#include "cost/serving/split.hpp"
#include "step/passes/passes.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

// Embedding and head, which are no layer's, are in 16 bits whatever the weights.
Seconds tuned_time(const PassContext& of, const Op& op, const Matmul& product, bool of_layer,
                   PassItem& item) {
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  const KernelParameters& kernels = of.constants.alone.kernels;
  const WeightFormat* stored = of.serving.stored;
  if (stored != nullptr && of_layer && is_stored(*stored, of.serving.model, op.routed)) {
    const double weights = static_cast<double>(product.batch * product.n * product.k);
    item.bytes += Bytes(weights * (stored->bytes() - bytes_per_element(op.precision)));
    return unpacked_product_time(product, *stored, accelerator, kernels, of.constants.formats);
  }
  const Scaling scaling = scaling_of(*of.serving.weights);
  if (op.routed) {
    ServingKernels serving = of.constants.kernels;
    if (of.untuned.blocks > 0) serving.experts_blocks *= of.untuned.blocks;
    return expert_product_time(product, op.precision, scaling, accelerator, kernels, serving);
  }
  return dense_product_time(product, op.precision, scaling, accelerator, kernels);
}

// [INFER-12] Nothing where kernels are as measured.
Seconds untuned_time(const PassContext& of, const Matmul& product) {
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  const double values =
      static_cast<double>(product.n) * static_cast<double>(product.k * product.batch);
  Seconds out(0);
  if (of.untuned.products > 0) {
    out = Flops(2.0 * static_cast<double>(product.m) * values) /
          (peak_of_16_bits(accelerator) * of.untuned.products);
  }
  if (of.untuned.weights > 0) {
    out = std::max(out, Bytes(2 * values) / (accelerator.memory_bandwidth * of.untuned.weights));
  }
  return out;
}

}  // namespace

Seconds product_time(const PassContext& of, const Op& op, const Matmul& product, bool of_layer,
                     PassItem& item) {
  return std::max(tuned_time(of, op, product, of_layer, item), untuned_time(of, product));
}

Seconds rated_time(const PassContext& of, const Op& op, bool of_layer) {
  const Arithmetic arithmetic = arithmetic_of(of.serving, of.constants, op, of_layer);
  return work(op, AttentionFlops::full) /
         (arithmetic.peak * sustained_share(of.constants.alone.kernels, arithmetic.format));
}

}  // namespace headway
