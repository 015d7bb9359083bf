// Products of all experts by one kernel [INFER-36].
#include "cost/serving/experts.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

// Of 128 experts with so many rows each.
Seconds of_rows(std::int64_t rows, Precision precision, Scaling scaling, double share) {
  const Accelerator accelerator = *load_accelerator("h100-sxm");
  ServingKernels kernels;
  kernels.experts_blocks = share;
  return expert_product_time({rows, 2048, 4096, 128}, precision, scaling, accelerator,
                             *kernel_parameters_for(accelerator), kernels);
}

// Bound by compute, whose loss of rate is all of the time; few rows read weights for as long.
TEST(ExpertProducts, OfEightBitsByBlocksReachAShareOfTheRateOfOneProduct) {
  const auto blocks = [](std::int64_t rows, double share) {
    return of_rows(rows, Precision::fp8, Scaling::blocks, share);
  };
  EXPECT_NEAR(blocks(4096, 0.5) / blocks(4096, 1), 2, 0.1);
  EXPECT_NEAR(blocks(1, 0.9) / blocks(1, 1), 1, 0.05);
  const auto one_scale = [](double share) {
    return of_rows(4096, Precision::fp8, Scaling::whole, share);
  };
  EXPECT_EQ(one_scale(0.5), one_scale(1));
}

TEST(ExpertProducts, OfSixteenBitsReachAShareOfTheirOwn) {
  const Accelerator accelerator = *load_accelerator("a100-80gb");
  const auto time = [&](double share) {
    ServingKernels kernels;
    kernels.experts_wide = share;
    return expert_product_time({4096, 2048, 4096, 8}, Precision::bf16, Scaling::whole, accelerator,
                               *kernel_parameters_for(accelerator), kernels);
  };
  EXPECT_NEAR(time(0.5) / time(1), 2, 0.1);
}

// Both products, a start, and passes at the bandwidth.
TEST(ExpertProducts, AreTimedWithThePassesAboutThem) {
  const Accelerator accelerator = *load_accelerator("h100-sxm");
  const KernelParameters products = *kernel_parameters_for(accelerator);
  const ServingKernels kernels;
  ExpertProducts experts;
  experts.into = {64, 4096, 4096, 8};
  experts.out = {64, 4096, 2048, 8};
  const auto time = [&] { return expert_products_time(experts, accelerator, products, kernels); };
  const Seconds bare = time();
  experts.start = Seconds(7e-6);
  EXPECT_NEAR((time() - bare).value(), 7e-6, 1e-12);
  experts.passed = Bytes(1e9);
  const Seconds passed =
      pass_time(Bytes(1e9), accelerator, products) - pass_time(Bytes(0), accelerator, products);
  EXPECT_NEAR((time() - bare).value(), 7e-6 + passed.value(), 1e-9);
}

}  // namespace
}  // namespace headway
