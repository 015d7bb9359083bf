// Passes, and what holds of every kernel.
#include "cost/kernels/kernels.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cost/kernels/machine_for_test.hpp"

namespace headway {
namespace {

TEST(Pass, TakesBytesOverBandwidthAndARamp) {  // [KERNEL-4]
  KernelParameters p = ideal();
  p.memory_efficiency = 0.8;
  p.shortest_kernel = Seconds(2e-6);
  EXPECT_NEAR(us(pass_time(Bytes(8e6), machine(), p)), 2 + 10, 1e-9);
  EXPECT_EQ(us(pass_time(Bytes(0), machine(), p)), 0);
  p.eager_efficiency = 0.5;
  EXPECT_NEAR(us(pass_time(Bytes(8e6), machine(), p, /*eager=*/true)), 2 + 20, 1e-9);
  EXPECT_NEAR(us(pass_time(Bytes(8e6), machine(), p)), 2 + 10, 1e-9);
}

// Time of any kernel: 0 matmul, 1, 2 attention forward, backward, 3 pass.
struct AnyKernel {
  int kind;
  Matmul product;
  AttentionShape attention;
  AttentionKernel kernel;
  Seconds time(const Accelerator& a, const KernelParameters& p) const {
    if (kind == 0) return matmul_time(product, Precision::bf16, a, p);
    if (kind == 1) return attention_forward_time(attention, kernel, Precision::bf16, a, p);
    if (kind == 2) return attention_backward_time(attention, kernel, Precision::bf16, a, p);
    return pass_time(Bytes(static_cast<double>(product.m * product.n)), a, p);
  }
};

AnyKernel any_kernel() {
  return {*rc::gen::inRange(0, 4), any_matmul(), any_attention(),
          *rc::gen::element(AttentionKernel::unfused, AttentionKernel::flash1,
                            AttentionKernel::flash2, AttentionKernel::flash3)};
}

RC_GTEST_PROP(Kernels, MoreBandwidthOrPeakIsNeverSlower, ()) {
  const AnyKernel kernel = any_kernel();
  Accelerator faster = machine();
  if (*rc::gen::arbitrary<bool>()) {
    faster.memory_bandwidth *= 1.5;
  } else {
    for (FlopsPerSecond& peak : faster.peak) peak *= 1.5;
  }
  RC_ASSERT(kernel.time(faster, {}) <= kernel.time(machine(), {}));
}

// Half the bytes of an element, and a peak that is no lower.
RC_GTEST_PROP(Kernels, ALowerPrecisionIsNeverSlower, ()) {
  const Matmul x = any_matmul();
  const auto time = [&](Precision precision) {
    return matmul_time(x, precision, machine(), ideal());
  };
  RC_ASSERT(time(Precision::bf16) <= time(Precision::fp32));
  RC_ASSERT(time(Precision::fp8) <= time(Precision::bf16));
}

RC_GTEST_PROP(Kernels, DoublingEveryRateAndHalvingFixedTimesHalvesTheTime, ()) {
  const AnyKernel kernel = any_kernel();
  Accelerator faster = machine();
  faster.memory_bandwidth *= 2;
  for (FlopsPerSecond& peak : faster.peak) peak *= 2;
  KernelParameters shorter;
  KernelParameters longer;
  half(longer).loop_step = Seconds(1e-9);
  half(shorter).loop_step = Seconds(0.5e-9);
  for (Seconds* t : {&shorter.shortest_kernel, &shorter.matmul_start, &shorter.grouped_start}) {
    *t *= 0.5;
  }
  const double time = kernel.time(machine(), longer).value();
  RC_ASSERT(std::abs(kernel.time(faster, shorter).value() - time / 2) < 1e-12 * time);
}

RC_GTEST_PROP(Kernels, SustainedLowersOnlyRatesOfComputation, ()) {
  const AnyKernel kernel = any_kernel();
  KernelParameters hot;
  hot.sustained = 0.5;
  const double cold_time = kernel.time(machine(), {}).value();
  const double hot_time = kernel.time(machine(), hot).value();
  RC_ASSERT(hot_time >= cold_time);
  RC_ASSERT(hot_time <= 2 * cold_time * (1 + 1e-12));
}

}  // namespace
}  // namespace headway
