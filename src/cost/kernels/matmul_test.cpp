// Matrix products, and what brings their operands into fewer bits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "cost/kernels/kernels.hpp"
#include "cost/kernels/machine_for_test.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

TEST(Matmul, AnIdealMachineTakesFlopsOverPeak) {  // [KERNEL-1]
  // 2 · 4096 · 4096 · 4096 FLOP at 100 TFLOP/s = 1374.4 us; bytes 3 · 4096² · 2 = 101 us are
  // hidden.
  EXPECT_NEAR(us(matmul_time({4096, 4096, 4096}, Precision::bf16, machine(), ideal())), 1374.390,
              1e-3);
}

TEST(Matmul, AWholeWaveCostsTheSameAsItsTilesAndOneTileMoreAWaveMore) {  // [KERNEL-1]
  KernelParameters p = ideal();
  half(p).wave_loss = 1;
  p.tile_efficiency = {1, 1e-6, 1e-6, 1e-6, 1e-6};  // only 256 x 128
  const std::int64_t k = 8192;
  // One tile on one unit of 1 TFLOP/s: 2 · 256 · 128 · 8192 FLOP = 536.87 us, and so for 100.
  const double tile = 2.0 * 256 * 128 * 8192 / 1e12 * 1e6;
  EXPECT_NEAR(us(matmul_time({256, 128, k}, Precision::bf16, machine(), p)), tile, 1e-6 * tile);
  EXPECT_NEAR(us(matmul_time({2560, 1280, k}, Precision::bf16, machine(), p)), tile, 1e-6 * tile);
  EXPECT_NEAR(us(matmul_time({256, 128 * 101, k}, Precision::bf16, machine(), p)), 2 * tile,
              1e-6 * tile);
  half(p).wave_loss = 0.25;  // of the 0.99 idle waves
  EXPECT_NEAR(us(matmul_time({256, 128 * 101, k}, Precision::bf16, machine(), p)),
              (1.01 + 0.25 * 0.99) * tile, 1e-6 * tile);
}

TEST(Matmul, TheFastestTileIsTaken) {  // [KERNEL-1]
  KernelParameters p = ideal();
  half(p).wave_loss = 1;
  p.tile_efficiency = {1, 1, 1, 1, 0.5};
  // 1280 x 640: 25 tiles of 256 x 128 leave 75 units idle; 100 tiles of 128 x 64 fill them.
  const double expected = 2.0 * 128 * 64 * 8192 / 1e12 * 1e6;
  EXPECT_NEAR(us(matmul_time({1280, 640, 8192}, Precision::bf16, machine(), p)), expected,
              1e-6 * expected);
}

TEST(Matmul, FewRowsAreBoundByReadingTheWeights) {  // [KERNEL-1]
  // 8192² weights of 2 bytes at 1 TB/s: 134.2 us; the 64-row tile computes 85.9 us.
  const double bytes = 2.0 * (8.0 * 8192 + 8192.0 * 8192 + 8.0 * 8192);
  EXPECT_NEAR(us(matmul_time({8, 8192, 8192}, Precision::bf16, machine(), ideal())), bytes * 1e-6,
              1e-3);
}

// Of compute and memory the shorter is not hidden whole: 1,374.39 and 100.66 us; 85.90 and 134.48.
TEST(Matmul, LosesAShareOfTheShorterOfComputeAndMemory) {  // [KERNEL-1]
  KernelParameters p = ideal();
  half(p).memory_overlap_loss = 0.25;
  EXPECT_NEAR(us(matmul_time({4096, 4096, 4096}, Precision::bf16, machine(), p)),
              1374.390 + 0.25 * 3 * 4096 * 4096 * 2e-6, 1e-3);
  const double bytes = 2.0 * (8.0 * 8192 + 8192.0 * 8192 + 8.0 * 8192);
  EXPECT_NEAR(us(matmul_time({8, 8192, 8192}, Precision::bf16, machine(), p)),
              bytes * 1e-6 + 0.25 * 2 * 16 * 8192.0 * 8192 / 100e6, 1e-3);
}

// [KERNEL-9] The bound is below what a real order of work moves, and near it: a square of C of side
// t stays in the cache while columns of A and rows of B stream past it, 2·m·n·k/t of them and C.
TEST(Matmul, ACacheSavesNoMoreTrafficThanAnOrderOfWorkDoes) {
  for (const double kib : {64.0, 1024.0, 16384.0}) {
    const Matmul shape{65536, 65536, 65536};
    const double all = std::pow(65536.0, 3), held = kib * 1024 / 2;
    const double side = std::floor(std::sqrt(held + 1) - 1);  // t² of C, t of A, one of B
    const double streamed = 2 * (2 * all / side + 65536.0 * 65536);
    const double least = least_traffic_of(shape, 2, Bytes(kib * 1024)).value();
    EXPECT_LE(least, streamed) << kib;
    EXPECT_GE(least, 0.9 * streamed) << kib;
  }
  EXPECT_EQ(least_traffic_of({65536, 65536, 65536}, 2, Bytes(0)).value(), 0);  // not known
}

// A cache of 32 KiB, 16,384 elements of 16 bits, has 2·4096³/128 elements move at least, less two
// fills of it: 2,147 us at 1 TB/s, where computing takes 1,374; one of 1 MiB hides them.
TEST(Matmul, ASmallCacheMakesAProductWaitForMemory) {
  Accelerator small = machine();
  small.cache = Bytes(32 * 1024);
  const Matmul shape{4096, 4096, 4096};
  const double moved = 2 * (2 * std::pow(4096.0, 3) / 128 - 2 * 16384);
  EXPECT_NEAR(us(matmul_time(shape, Precision::bf16, small, ideal())), moved * 1e-6, 1e-3);
  small.cache = Bytes(1024 * 1024);
  EXPECT_NEAR(us(matmul_time(shape, Precision::bf16, small, ideal())), 1374.390, 1e-3);
}

// No accelerator that is sold has a cache so small that its products wait for it, in any format.
TEST(Matmul, OfAcceleratorsThatAreKnownNoneHasTooSmallACache) {
  const Matmul shape{65536, 65536, 65536};
  for (const std::string& name : accelerator_names()) {
    const Accelerator accelerator = *load_accelerator(name);
    for (int i = 0; i < kPrecisions; ++i) {
      const auto precision = static_cast<Precision>(i);
      const FlopsPerSecond peak = accelerator.peak_of(precision);
      if (!(peak.value() > 0)) continue;
      const Bytes moved = least_traffic_of(shape, bytes_per_element(precision), accelerator.cache);
      EXPECT_LT(moved / accelerator.memory_bandwidth, Flops(2 * std::pow(65536.0, 3)) / peak)
          << name << " " << to_name(precision);
    }
  }
}

TEST(Matmul, AccumulatingInFp32MovesFourTimesTheResult) {  // [KERNEL-1]
  const Matmul thin{8192, 8192, 64};
  const double once = us(matmul_time(thin, Precision::bf16, machine(), ideal()));
  const double twice =
      us(matmul_time(thin, Precision::bf16, machine(), ideal(), kAccumulatedResult));
  EXPECT_NEAR(twice - once, 6 * 8192.0 * 8192 * 1e-6, 1e-3);
}

TEST(Matmul, RowsThatAreNoMultipleOf16BytesTakeTwiceTheTimeAtHalfEfficiency) {  // [KERNEL-1]
  KernelParameters p = ideal();
  p.misaligned_efficiency = 0.5;
  // Both widths take 393 tile columns of 128 and 12 tiles of k.
  const double aligned = us(matmul_time({4096, 50304, 768}, Precision::bf16, machine(), p));
  const double odd = us(matmul_time({4096, 50257, 768}, Precision::bf16, machine(), p));
  EXPECT_NEAR(odd, 2 * aligned, 1e-6 * odd);
}

TEST(Matmul, TheRowsOfAColumnwiseOperandCountAlongM) {  // [KERNEL-1]
  KernelParameters p = ideal();
  p.misaligned_efficiency = 0.5;
  const auto weight_gradient = [&](std::int64_t words) {
    return us(
        matmul_time({words, 768, 4096, 1, 0, /*by_columns=*/true}, Precision::bf16, machine(), p));
  };
  EXPECT_NEAR(weight_gradient(50257), 2 * weight_gradient(50304), 1e-6 * weight_gradient(50257));
  // Tokens run along no row: their number may be odd.
  EXPECT_NEAR(us(matmul_time({50257, 768, 4096}, Precision::bf16, machine(), p)),
              us(matmul_time({50304, 768, 4096}, Precision::bf16, machine(), p)), 1e-3);
}

TEST(Matmul, AGroupPaysItsStartsAndEfficiency) {  // [KERNEL-1b]
  KernelParameters p = ideal();
  half(p).grouped_efficiency = 0.8;
  p.grouped_start = Seconds(3e-6);
  const double one = us(matmul_time({1024, 4096, 4096}, Precision::bf16, machine(), p));
  const double group = us(matmul_time({1024, 4096, 4096, 16}, Precision::bf16, machine(), p));
  EXPECT_NEAR(group, 16 * one / 0.8 + 16 * 3, 1e-6 * group);
  EXPECT_NEAR(us(batched_matmul_time({1024, 4096, 4096, 16}, Precision::bf16, machine(), p)),
              16 * one, 1e-6 * one);
}

TEST(Matmul, EachFormatHasItsOwnConstants) {  // [KERNEL-1]
  KernelParameters p = ideal();
  p.of(ProductFormat::bits_8).ceiling = 0.9;
  p.of(ProductFormat::bits_8_blocks).ceiling = 0.75;
  p.of(ProductFormat::bits_4).ceiling = 0.5;
  Accelerator a = machine();
  a.peak[static_cast<std::size_t>(Precision::fp4)] = FlopsPerSecond(400e12);
  const Matmul shape{8192, 8192, 8192};
  const auto expect = [&](Precision precision, Scaling scaling, double rate) {
    EXPECT_NEAR(us(matmul_time(shape, precision, a, p, 0, scaling)),
                2 * std::pow(8192.0, 3) / rate * 1e6, 1e-3);
  };
  expect(Precision::bf16, Scaling::whole, 100e12);
  expect(Precision::bf16, Scaling::blocks, 100e12);  // of 16 bits there are no scales
  expect(Precision::fp8, Scaling::whole, 200e12 * 0.9);
  expect(Precision::fp8, Scaling::blocks, 200e12 * 0.75);
  expect(Precision::fp4, Scaling::whole, 400e12 * 0.5);  // always by blocks
  expect(Precision::fp4, Scaling::blocks, 400e12 * 0.5);
}

// On 100 units 25 tiles of 256 x 128 are one wave and 101 of 64 x 64 two; either loop takes 2 ns
// for each of its 8,192 + 64 elements at least, however short its arithmetic.
TEST(Matmul, ATilesLoopHasALeastTimeForEachElementOfK) {  // [KERNEL-5]
  KernelParameters p = ideal();
  half(p).loop_step = Seconds(2e-9);
  half(p).loop_prologue = 64;
  Accelerator fast = machine();
  fast.peak.fill(FlopsPerSecond(1e21));
  fast.memory_bandwidth = BytesPerSecond(1e21);
  const double loop = 2e-3 * (8192 + 64);  // us
  EXPECT_NEAR(us(matmul_time({1280, 640, 8192}, Precision::bf16, fast, p)), loop, 1e-3);
  p.tile_efficiency = {1e-30, 1e-30, 1e-30, 1e-30, 1};  // only 64 x 64
  EXPECT_NEAR(us(matmul_time({64, 64 * 100, 8192}, Precision::bf16, fast, p)), loop, 1e-3);
  EXPECT_NEAR(us(matmul_time({64, 64 * 101, 8192}, Precision::bf16, fast, p)), 2 * loop, 1e-3);
  p.sustained = 0.5;  // a latency, not a rate
  EXPECT_NEAR(us(matmul_time({64, 64 * 100, 8192}, Precision::bf16, fast, p)), loop, 1e-3);
  // Where the arithmetic takes longer, it alone counts: 536.87 us a tile of 256 x 128 at 1 TFLOP/s.
  const double tile = 2.0 * 256 * 128 * (8192 + 64) / 1e12 * 1e6;
  p = ideal();
  half(p).loop_step = Seconds(2e-9);
  half(p).loop_prologue = 64;
  p.tile_efficiency = {1, 1e-6, 1e-6, 1e-6, 1e-6};
  EXPECT_NEAR(us(matmul_time({2560, 1280, 8192}, Precision::bf16, machine(), p)), tile,
              1e-6 * tile);
}

// [KERNEL-1] Units of matrices take 16 rows at a time: one row computes as long as 16, a quarter of
// 64, and what moves beside it costs as much less. Groups keep whole tiles.
TEST(Matmul, OfFewRowsComputesSixteenAtATime) {
  KernelParameters p = ideal();
  p.tile_efficiency = {1e-30, 1e-30, 1e-30, 1e-30, 1};  // only 64 x 64
  Accelerator fast = machine();
  fast.memory_bandwidth = BytesPerSecond(1e21);
  const auto time = [&](std::int64_t rows, std::int64_t products = 1) {
    return us(matmul_time({rows, 6400, 8192, products}, Precision::bf16, fast, p));
  };
  const double all = time(64);
  EXPECT_NEAR(all, 2.0 * 64 * 6400 * 8192 / 100e12 * 1e6, 1e-6 * all);
  EXPECT_NEAR(time(1), all / 4, 1e-6 * all);
  EXPECT_NEAR(time(16), all / 4, 1e-6 * all);
  EXPECT_NEAR(time(17), all / 2, 1e-6 * all);
  EXPECT_NEAR(time(65), 2 * all, 1e-6 * all);
  EXPECT_NEAR(time(1, 4), 4 * all, 1e-6 * all);
}

TEST(Quantisation, TakesAStartAndItsBytesOverTheBandwidth) {  // [KERNEL-6]
  KernelParameters p = ideal();
  p.memory_efficiency = 0.8;
  p.of(ProductFormat::bits_8).quantisation_start = Seconds(7e-6);
  // 4 M elements read twice in 16 bit and written in 8: 20 MB at 0.8 of 1 TB/s.
  EXPECT_NEAR(us(quantisation_time(4e6, 5, ProductFormat::bits_8, machine(), p)), 7 + 25, 1e-9);
  EXPECT_EQ(us(quantisation_time(0, 5, ProductFormat::bits_8, machine(), p)), 0);
  EXPECT_EQ(us(quantisation_time(4e6, 0, ProductFormat::bits_8, machine(), p)), 0);
}

RC_GTEST_PROP(Matmul, NeverAboveThePeak, ()) {
  const Matmul x = any_matmul();
  const double flops = 2.0 * static_cast<double>(x.m * x.n) * static_cast<double>(x.k * x.batch);
  RC_ASSERT(flops / matmul_time(x, Precision::bf16, machine(), {}).value() < 100e12);
}

RC_GTEST_PROP(Matmul, MoreRowsColumnsStepsOrProductsAreNeverFaster, ()) {
  const Matmul x = any_matmul();
  Matmul larger = x;
  const int which = *rc::gen::inRange(0, x.batch > 1 ? 4 : 3);
  (which == 0   ? larger.m
   : which == 1 ? larger.n
   : which == 2 ? larger.k
                : larger.batch) += 64 * *rc::gen::inRange(1, 20);
  RC_ASSERT(matmul_time(larger, Precision::bf16, machine(), {}) >=
            matmul_time(x, Precision::bf16, machine(), {}) * (1 - 1e-12));
}

// Units for single numbers load them one by one: odd rows cost them nothing, those for matrices
// half.
TEST(Matmul, OfOddRowsIsSlowerWhereUnitsLoadWholeRows) {  // [KERNEL-1]
  KernelParameters odd = ideal();
  odd.misaligned_efficiency = 0.5;
  const Matmul shape{4096, 4096, 4095};
  const auto time = [&](Precision precision, const KernelParameters& p) {
    return us(matmul_time(shape, precision, machine(), p));
  };
  EXPECT_EQ(time(Precision::fp32, odd), time(Precision::fp32, ideal()));
  EXPECT_NEAR(time(Precision::bf16, odd), 2 * time(Precision::bf16, ideal()),
              1e-6 * time(Precision::bf16, odd));
}

}  // namespace
}  // namespace headway
