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
  bool sorted = false;  // by kernels of their own, before the product's
};

/// [INFER-36] What passes over the tokens of experts move: gathered before the first product,
/// activated between both, put back and summed up behind them; read and written in 16 bits, and
/// before either product once more as `quantised` bytes an element.
struct RoutedPasses {
  Bytes before, behind;  // behind: the second product
};
/// `routed`: tokens times their choices, on a rank; `width`: of the stream; `inner`: of the rank's
/// part of an expert.
RoutedPasses routed_passes(double routed, double width, double inner, double quantised);
/// Bytes that are read and written to quantise an element that lies in 16 bits: of one scale for
/// all it is read twice; blocks of 8 bits have a scale of 32 bits for 128, of 4 bits one of 8
/// for 16.
double quantised_bytes(Precision precision, Scaling scaling);

/// [INFER-36] One pass over their tokens; `sorted`: in 8 bits by blocks, by kernels of their own.
Seconds routed_pass_time(Bytes moved, bool sorted, const Accelerator& accelerator,
                         const KernelParameters& products, const ServingKernels& kernels);

/// [INFER-36] One product of all experts.
Seconds expert_product_time(const Matmul& shape, Precision precision, Scaling scaling,
                            const Accelerator& accelerator, const KernelParameters& products,
                            const ServingKernels& kernels);

Seconds expert_products_time(const ExpertProducts& experts, const Accelerator& accelerator,
                             const KernelParameters& products, const ServingKernels& kernels);

}  // namespace headway
