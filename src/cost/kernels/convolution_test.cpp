// Convolutions and recurrent steps.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cost/kernels/kernels.hpp"
#include "cost/kernels/machine_for_test.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

Matmul window_product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t taps) {
  return {.m = m,
          .n = n,
          .k = k,
          .image = static_cast<double>(m) * static_cast<double>(k / taps),
          .taps = taps};
}

// 3 x 3 over 64 channels: each position is read once, not nine times.
TEST(Convolution, ReadsItsImageOnce) {  // [KERNEL-7]
  const Matmul c = window_product(1'000'000, 64, 576, 9);
  EXPECT_EQ(traffic_of(c, Precision::bf16).value(), 2 * (64e6 + 576 * 64 + 64e6));
}

// 64 x 576 are 9 tiles of 64 x 64 on 100 units; each takes 2 · 64 · 64 · 10^6 FLOP at 1 TFLOP/s,
// 8,192 us. Cut 32 times they are three waves of 256 us, and 32 parts of fp32 are summed: 4.7 us.
TEST(Convolution, CutsTheDepthOfAWeightsGradientOverIdleUnits) {  // [KERNEL-7]
  KernelParameters p = ideal();
  half(p).wave_loss = 1;
  p.tile_efficiency = {1e-6, 1e-6, 1e-6, 1e-6, 1};
  Matmul gradient = window_product(64, 576, 1'000'000, 1);
  gradient.by_columns = true;
  gradient.image = 64e6;
  EXPECT_NEAR(us(batched_matmul_time(gradient, Precision::bf16, machine(), p)), 8192, 1);
  EXPECT_NEAR(us(convolution_time(gradient, Precision::bf16, machine(), p)),
              3 * 256 + 4.0 * 32 * 64 * 576 * 1e-6, 2);
}

// Of a group of 4 channels a tile would be idle but for a sixteenth; one operation a channel and
// tap at half of 100 TFLOP/s takes 2 · 10^5 · 4 · 36 · 32 FLOP / 50 TFLOP/s = 18.4 us, the
// bytes 51.2.
TEST(Convolution, OfNarrowGroupsIsNoProductOfTiles) {  // [KERNEL-7]
  const Matmul narrow{.m = 100'000, .n = 4, .k = 36, .batch = 32, .image = 12.8e6, .taps = 9};
  const double bytes = 2 * (12.8e6 + 32 * 144 + 12.8e6);
  EXPECT_NEAR(us(convolution_time(narrow, Precision::bf16, machine(), ideal())), bytes * 1e-6, 0.1);
}

// 3 x 3 over 256 channels in fp32 at 100 TFLOP/s: 2 · 10^5 · 256 · 2,304 FLOP take 1,180 us, 16 of
// 36 multiplications 524; so where the image has a border more than what leaves, not where windows
// move by two, whose image has four times the positions. 16-bit products are not transformed.
TEST(Convolution, OfThreeByThreeInFp32TakesFourNinthsOfItsProducts) {  // [KERNEL-7]
  const Matmul c = window_product(100'000, 256, 2304, 9);
  const double all = 2.0 * 1e5 * 256 * 2304 / 100e12 * 1e6;
  EXPECT_NEAR(us(convolution_time(c, Precision::fp32, machine(), ideal())), all * 16 / 36,
              1e-3 * all);
  EXPECT_NEAR(us(convolution_time(c, Precision::bf16, machine(), ideal())), all, 1e-3 * all);
  Matmul bordered = c, strided = c;
  bordered.image *= 1.1;
  strided.image *= 4;
  EXPECT_NEAR(us(convolution_time(bordered, Precision::fp32, machine(), ideal())), all * 16 / 36,
              1e-3 * all);
  EXPECT_NEAR(us(convolution_time(strided, Precision::fp32, machine(), ideal())), all, 1e-3 * all);
}

// Of 1,024 channels the gradient of the weight takes 18,874 us; tiles of 6 x 6, 36 multiplications
// for 144, a quarter of that, and 2.25 elements of 4 bytes a position of both images, 1.024 · 10^8
// each, written and read at 1 TB/s 3,686 us.
TEST(Convolution, OfThreeByThreeInFp32TransformsBothImagesForItsWeightsGradient) {  // [KERNEL-7]
  Matmul gradient = window_product(1024, 9 * 1024, 100'000, 9);
  gradient.by_columns = true;
  gradient.image = 1e5 * 1024;
  const double all = 2.0 * 1e5 * 1024 * 9 * 1024 / 100e12 * 1e6;
  const double moved = 2 * 4 * 2.25 * 2 * 1.024e8 / 1e12 * 1e6;
  EXPECT_NEAR(us(convolution_time(gradient, Precision::fp32, machine(), ideal())), all / 4 + moved,
              2e-3 * all);
}

// 10^6 rows of 1,024 numbers times one column: 4 bytes of each at 1 TB/s, whatever a tile would
// compute of 63 columns that are not there.
TEST(Convolution, OfAMatrixAndAVectorTakesAsLongAsItsBytes) {  // [KERNEL-7]
  const Matmul c = window_product(1'000'000, 1, 1024, 1);
  const double bytes = 4 * (1'000'000.0 * 1024 + 1024 + 1'000'000);
  EXPECT_NEAR(us(convolution_time(c, Precision::fp32, machine(), ideal())), bytes * 1e-6, 1e-3);
}

// The gradient of those weights, 4 x 36 of 32 groups over 10^5 positions: as many operations.
TEST(Convolution, OfNarrowGroupsIsNoneInItsWeightsGradientEither) {  // [KERNEL-7]
  const Matmul gradient{
      .m = 4, .n = 36, .k = 100'000, .batch = 32, .by_columns = true, .image = 12.8e6, .taps = 9};
  const double bytes = 2 * (12.8e6 + 12.8e6 + 32 * 144);
  EXPECT_NEAR(us(convolution_time(gradient, Precision::bf16, machine(), ideal())), bytes * 1e-6,
              0.1);
}

// 2 · 100 · 4,096 · 1,024 FLOP at a tenth of 100 TFLOP/s take 83.9 us, behind a start of 6.
TEST(Convolution, StepsOfARecurrentCellStartOneByOne) {  // [KERNEL-8]
  KernelParameters p = ideal();
  p.recurrent_start = Seconds(6e-6);
  p.recurrent_efficiency = 0.1;
  Matmul step = window_product(100, 4096, 1024, 1);
  step.recurrent = true;
  EXPECT_NEAR(us(convolution_time(step, Precision::bf16, machine(), p)), 6 + 83.886, 1e-3);
}

RC_GTEST_PROP(Convolution, NeverAboveThePeakNorBelowItsBytes, ()) {
  const Matmul x = any_matmul();
  const Matmul c = window_product(x.m, x.n, x.k * 9, 9);
  const Seconds time = convolution_time(c, Precision::bf16, machine(), {});
  const double flops = 2.0 * static_cast<double>(c.m * c.n) * static_cast<double>(c.k);
  RC_ASSERT(flops / time.value() < 100e12);
  RC_ASSERT(traffic_of(c, Precision::bf16) / machine().memory_bandwidth < time);
}

}  // namespace
}  // namespace headway
