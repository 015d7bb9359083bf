#include "cost/kernels/kernels.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cost/calibration/calibration.hpp"
#include "cost/calibration/kernel_entries.hpp"

namespace headway {
namespace {

// Round numbers: 100 units of 1 TFLOP/s, 1 TB/s.
Accelerator machine() {
  Accelerator a;
  a.name = "round";
  a.architecture = "round";
  a.peak.fill(FlopsPerSecond(100e12));
  a.peak[static_cast<int>(Precision::fp8)] = FlopsPerSecond(200e12);
  a.memory_bandwidth = BytesPerSecond(1e12);
  a.compute_units = 100;
  return a;
}

// Everything ideal: no losses, no fixed times.
KernelParameters ideal() {
  KernelParameters p;
  p.memory_efficiency = p.misaligned_efficiency = 1;
  p.products.fill({1, 0, 0, 0, Seconds(0), 1, Seconds(0)});
  p.tile_efficiency.fill(1);
  p.shortest_kernel = p.matmul_start = p.grouped_start = Seconds(0);
  p.flash_forward = p.flash_backward = {{1, 1, 1}, 128, 0, 1};
  p.softmax_width = 0;
  return p;
}

ProductParameters& half(KernelParameters& p) {
  return p.of(ProductFormat::bits_16);
}

double us(Seconds t) {
  return t.value() * 1e6;
}

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
              bytes * 1e-6 + 0.25 * 2 * 64 * 8192.0 * 8192 / 100e6, 1e-3);
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

TEST(Attention, AnIdealFlashKernelComputesTheTriangleAndHalfABlock) {  // [KERNEL-2]
  AttentionShape shape{1, 32, 32, 4096, 4096, 128, 128};
  // 32 heads · (4096² / 2 + 4096 · 64) scores · 512 FLOP forward, 1280 backward, at 100 TFLOP/s.
  const double scores = 32 * (4096.0 * 4096 / 2 + 4096 * 64);
  const auto kernel = AttentionKernel::flash2;
  EXPECT_NEAR(us(attention_forward_time(shape, kernel, Precision::bf16, machine(), ideal())),
              scores * 512 / 100e6, 1e-3);
  EXPECT_NEAR(us(attention_backward_time(shape, kernel, Precision::bf16, machine(), ideal())),
              scores * 1280 / 100e6, 1e-3);
  shape.causal = false;
  EXPECT_NEAR(us(attention_forward_time(shape, kernel, Precision::bf16, machine(), ideal())),
              32 * 4096.0 * 4096 * 512 / 100e6, 1e-3);
}

// The longest block of one unit, 128 queries with 4,096 keys at 1 TFLOP/s, and all of it at 100:
// of the shorter a share comes on top.
TEST(Attention, ItsLastBlockRunsOnAfterTheOthers) {  // [KERNEL-2]
  KernelParameters p = ideal();
  p.flash_forward.tail = 0.5;
  const double block = 128 * 4096.0 * 512 / 1e6,
               head = (4096.0 * 4096 / 2 + 4096 * 64) * 512 / 100e6;
  for (const std::int64_t heads : {1, 32}) {
    const double all = static_cast<double>(heads) * head;
    EXPECT_NEAR(us(attention_forward_time({1, heads, heads, 4096, 4096, 128, 128},
                                          AttentionKernel::flash2, Precision::bf16, machine(), p)),
                heads == 1 ? block + 0.5 * all : all + 0.5 * block, 1e-3);
  }
}

TEST(Attention, TheFirstAlgorithmLosesItsFactorOnWideHeads) {  // [KERNEL-2]
  KernelParameters p = ideal();
  p.flash_forward.ceiling.fill(p.flash_forward.ceiling[1]);
  p.flash_forward.wide = {0.5, 1, 1, 0.8};
  const auto time = [&](AttentionKernel kernel, std::int64_t dim) {
    return us(attention_forward_time({1, 32, 32, 4096, 4096, dim, dim}, kernel, Precision::bf16,
                                     machine(), p));
  };
  for (const std::int64_t dim : {64, 128}) {
    const double best = time(AttentionKernel::flash2, dim);
    EXPECT_NEAR(time(AttentionKernel::flash1, dim), best / (dim > 64 ? 0.5 : 1), 1e-6 * best);
    EXPECT_NEAR(time(AttentionKernel::triton, dim), best / (dim > 64 ? 0.8 : 1), 1e-6 * best);
  }
}

TEST(Attention, CausalSavesNothingWithinOneBlock) {  // [KERNEL-2]
  AttentionShape shape{64, 32, 32, 128, 128, 128, 128};
  const auto time = [&] {
    return attention_forward_time(shape, AttentionKernel::flash2, Precision::bf16, machine(),
                                  ideal());
  };
  const Seconds causal = time();
  shape.causal = false;
  EXPECT_DOUBLE_EQ(causal.value(), time().value());
}

TEST(Attention, AWindowBoundsTheKeysOfEachQuery) {  // [KERNEL-2]
  AttentionShape shape{1, 32, 32, 65536, 65536, 128, 128};
  shape.window = 4096;
  // The first 4160 queries see a triangle, the others 4096 keys and half a block; half a block more
  // for each on the diagonal.
  const double reach = 4096 + 64, queries = 65536;
  const double scores = reach * reach / 2 + (queries - reach) * reach + queries * 64;
  EXPECT_NEAR(us(attention_forward_time(shape, AttentionKernel::flash2, Precision::bf16, machine(),
                                        ideal())),
              32 * scores * 512 / 100e6, 1);
}

TEST(Attention, OneHeadWaitsForItsLongestBlock) {  // [KERNEL-2]
  const AttentionShape shape{1, 1, 1, 4096, 4096, 128, 128};
  // 128 queries · 4096 keys · 512 FLOP on one unit of 1 TFLOP/s.
  EXPECT_NEAR(us(attention_forward_time(shape, AttentionKernel::flash2, Precision::bf16, machine(),
                                        ideal())),
              128 * 4096.0 * 512 / 1e6, 1e-3);
}

TEST(Attention, UnfusedMovesTheScoresAsMegatronsKernelsDo) {  // [KERNEL-3]
  Accelerator fast = machine();
  fast.peak.fill(FlopsPerSecond(1e30));  // only bytes count
  AttentionShape shape{1, 10, 10, 2048, 2048, 128, 128};
  const double scores = 10 * 2048.0 * 2048, rows = 10 * 2048.0 * 128 * 2;
  const auto forward = [&] {
    return us(
        attention_forward_time(shape, AttentionKernel::unfused, Precision::bf16, fast, ideal()));
  };
  const auto backward = [&] {
    return us(
        attention_backward_time(shape, AttentionKernel::unfused, Precision::bf16, fast, ideal()));
  };
  // Products: Q, K in, S out; P, V in, O out. Softmax: half of S read, all written: 3 bytes.
  EXPECT_NEAR(forward(), (2 * scores * 2 + 4 * rows + 3 * scores) * 1e-6, 1e-3);
  // dP, dV, dQ, dK: each moves the scores once and three of the rows. Softmax: two halves read.
  EXPECT_NEAR(backward(), (4 * scores * 2 + 4 * 2 * rows + 4 * scores) * 1e-6, 1e-3);
  shape.dropout = 0.1;  // 5 bytes a score each way
  EXPECT_NEAR(forward(), (2 * scores * 2 + 4 * rows + 8 * scores) * 1e-6, 1e-3);
  EXPECT_NEAR(backward(), (4 * scores * 2 + 4 * 2 * rows + 9 * scores) * 1e-6, 1e-3);
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

TEST(Quantisation, TakesAStartAndItsBytesOverTheBandwidth) {  // [KERNEL-6]
  KernelParameters p = ideal();
  p.memory_efficiency = 0.8;
  p.of(ProductFormat::bits_8).quantisation_start = Seconds(7e-6);
  // 4 M elements read twice in 16 bit and written in 8: 20 MB at 0.8 of 1 TB/s.
  EXPECT_NEAR(us(quantisation_time(4e6, 5, ProductFormat::bits_8, machine(), p)), 7 + 25, 1e-9);
  EXPECT_EQ(us(quantisation_time(0, 5, ProductFormat::bits_8, machine(), p)), 0);
  EXPECT_EQ(us(quantisation_time(4e6, 0, ProductFormat::bits_8, machine(), p)), 0);
}

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

// Shapes as they come in training: multiples of 64.
Matmul any_matmul() {
  const auto size = [](int most) { return 64 * *rc::gen::inRange(1, most); };
  return {size(256), size(256), size(256), *rc::gen::element(1, 1, 8, 64)};
}
AttentionShape any_attention() {
  AttentionShape shape{*rc::gen::inRange(1, 8), *rc::gen::inRange(1, 64), 1, 0, 0, 0, 0};
  shape.queries = 64 * *rc::gen::inRange(1, 256);
  shape.keys = shape.queries * *rc::gen::inRange(1, 4);
  shape.head_dim = shape.value_dim = *rc::gen::element(64, 128, 256);
  shape.causal = *rc::gen::arbitrary<bool>();
  shape.window = *rc::gen::element(0, 512, 4096);
  shape.dropout = *rc::gen::element(0.0, 0.1);
  return shape;
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

RC_GTEST_PROP(Attention, MoreKeysAreNeverFasterAndAMaskNeverSlower, ()) {
  AttentionShape shape = any_attention();
  shape.causal = false;
  const auto time = [&] {
    return attention_forward_time(shape, AttentionKernel::flash2, Precision::bf16, machine(), {});
  };
  const Seconds full = time();
  shape.causal = true;
  const Seconds masked = time();
  RC_ASSERT(masked <= full);
  shape.keys += 128;
  RC_ASSERT(time() >= masked * (1 - 1e-12));
}

TEST(KernelCalibration, EntriesAreFoundByNameThenArchitectureThenFamily) {
  const auto document = parse_toml(
      "[default]\nmemory_efficiency = 0.1\n[ampere]\nfrom = 'default'\nmemory_efficiency = 0.2\n"
      "[a40]\nfrom = 'ampere'\nsustained = 0.7\n[tpu]\nmemory_efficiency = 0.4\n",
      "t.toml");
  ASSERT_TRUE(document.ok());
  const auto efficiency = [&](std::string name, std::string architecture) {
    Accelerator a = machine();
    a.name = std::move(name);
    a.architecture = std::move(architecture);
    return kernel_parameters_from(*document, nullptr, a)->memory_efficiency;
  };
  EXPECT_EQ(efficiency("a100", "ampere"), 0.2);
  EXPECT_EQ(efficiency("a40", "ampere"), 0.2) << "borrowed from ampere";
  EXPECT_EQ(efficiency("x", "tpu-v5p"), 0.4);
  EXPECT_EQ(efficiency("x", "unheard-of"), 0.1);
}

TEST(KernelCalibration, FittedFieldsOverlayEstimatesAndReachThoseThatBorrow) {
  const auto estimated = parse_toml(
      "[default]\n[ampere]\nfrom='default'\n[ampere.products_8_bit]\nloop_prologue=5\n[a40]\n"
      "from='ampere'\n",
      "e.toml");
  const auto fitted = parse_toml("[ampere.products_8_bit]\nceiling = 0.33\n", "f.toml");
  Accelerator a40 = machine();
  a40.name = "a40";
  const auto parameters = kernel_parameters_from(*estimated, &*fitted, a40);
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->of(ProductFormat::bits_8).ceiling, 0.33);
  EXPECT_EQ(parameters->of(ProductFormat::bits_8).loop_prologue, 5);
}

TEST(KernelCalibration, AllThatIsWrongIsReportedAtOnce) {
  const auto document = parse_toml(
      "[default]\nwave_lost = 0.1\nshortest_kernel = 2\n[default.products_4_bit]\nceiling = 1.2\n"
      "[default.flash_forward]\ntail = -1\n",
      "t.toml");
  const auto parameters = kernel_parameters_from(*document, nullptr, machine());
  ASSERT_FALSE(parameters.ok());
  EXPECT_EQ(parameters.problems().size(), 4u);
  const auto circle = parse_toml("[default]\nfrom = 'default'\n", "t.toml");
  EXPECT_FALSE(kernel_parameters_from(*circle, nullptr, machine()).ok());
}

TEST(KernelCalibration, TheEmbeddedFilesHoldForEveryArchitectureAndSayWhereFrom) {
  for (const char* architecture : {"volta", "ampere", "ada", "hopper", "blackwell", "cdna2",
                                   "cdna3", "cdna4", "tpu", "gaudi", "trainium", "unknown"}) {
    Accelerator a = machine();
    a.architecture = architecture;
    const auto parameters = kernel_parameters_for(a);
    ASSERT_TRUE(parameters.ok()) << architecture << ": " << where_text(parameters.problems()[0])
                                 << ' ' << parameters.problems()[0].message;
    // fp8 makes a large product 1.6 to 1.9 times as fast at twice the peak.
    const Matmul large{8192, 8192, 8192};
    const double gain = matmul_time(large, Precision::bf16, a, *parameters) /
                        matmul_time(large, Precision::fp8, a, *parameters);
    EXPECT_GT(gain, 1.6) << architecture;
    EXPECT_LT(gain, 1.9) << architecture;
  }
  const auto entries = estimated_kernel_entries();
  ASSERT_TRUE(entries.ok());
  for (const auto& [name, entry] : *entries->root.table()) {
    for (const char* field : {"kind", "source", "date"}) {
      EXPECT_NE(entry.find(field), nullptr) << name << " lacks " << field;
    }
  }
}

}  // namespace
}  // namespace headway
