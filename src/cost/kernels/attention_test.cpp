// Attention, fused and not.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <tuple>

#include "cost/kernels/kernels.hpp"
#include "cost/kernels/machine_for_test.hpp"

namespace headway {
namespace {

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

// What a row takes however short: as if each query had so many keys more to see, whether all units
// are busy or one block decides.
TEST(Attention, WhatARowTakesHoweverShortIsAsMoreKeys) {  // [KERNEL-2]
  constexpr std::int64_t kRow = 200;
  KernelParameters p = ideal(), with = ideal();
  p.flash_forward.tail = p.flash_backward.tail = with.flash_forward.tail =
      with.flash_backward.tail = 0.3;
  with.flash_forward.row_keys = with.flash_backward.row_keys = kRow;
  for (const std::int64_t heads : {1, 64}) {
    AttentionShape shape{1, heads, heads, 4096, 4096, 128, 128};
    shape.causal = false;
    AttentionShape longer = shape;
    longer.keys += kRow;
    const auto kernel = AttentionKernel::flash2;
    EXPECT_NEAR(us(attention_forward_time(shape, kernel, Precision::bf16, machine(), with)),
                us(attention_forward_time(longer, kernel, Precision::bf16, machine(), p)), 1e-6);
    EXPECT_NEAR(us(attention_backward_time(shape, kernel, Precision::bf16, machine(), with)) /
                    us(attention_backward_time(shape, kernel, Precision::bf16, machine(), p)),
                (4096.0 + kRow) / 4096, 1e-6);
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

// Early and late halves of queries share the triangle alike: what one accelerator does alone, each
// of a ring does a part of, forward and backward, with a mask or without.
RC_GTEST_PROP(Attention, RanksOfARingShareTheWorkAlike, ()) {  // [STEP-3]
  const auto ring = *rc::gen::inRange<std::int64_t>(2, 17);
  const auto own = 256 * *rc::gen::inRange<std::int64_t>(1, 65);
  AttentionShape alone{1, 512, 512, ring * own, ring * own, 128, 128};
  alone.causal = *rc::gen::arbitrary<bool>();
  AttentionShape shared = alone;
  shared.queries = own;
  shared.ring = ring;
  const auto kernel = AttentionKernel::flash2;
  Accelerator reads_at_once = machine();
  reads_at_once.memory_bandwidth = BytesPerSecond(1e18);
  for (const auto time : {attention_forward_time, attention_backward_time}) {
    const double whole = us(time(alone, kernel, Precision::bf16, reads_at_once, ideal()));
    const double part = us(time(shared, kernel, Precision::bf16, reads_at_once, ideal()));
    RC_ASSERT(std::abs(static_cast<double>(ring) * part / whole - 1) < 1e-9);
  }
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

// [KERNEL-3] An operation each, bytes a score of bf16 forward: scale 2 + 2, mask 2 + 2, cast 2 + 4,
// softmax 4 + 4, cast 4 + 2. Backward: cast 2 + 4, softmax 4 + 4 + 4 (gradient and result in, one
// out), cast 4 + 2, scale 2 + 2. Of fp16 PyTorch's softmax casts what it reads and what it writes
// back: 2 + 4 for cast and softmax, 4 + 4 + 2 backward. The mask is added to all scores.
TEST(Attention, ByAnOperationEachTheScoresMoveWhatTheExpressionsMove) {
  Accelerator fast = machine();
  fast.peak.fill(FlopsPerSecond(1e30));  // only bytes count
  KernelParameters parameters = ideal();
  parameters.eager_efficiency = 0.5;
  AttentionShape fused{1, 10, 10, 2048, 2048, 128, 128};
  AttentionShape eager = fused;
  eager.eager = true;
  const double scores = 10 * 2048.0 * 2048;
  const auto passes = [&](auto time, const AttentionShape& shape, Precision precision) {
    return us(time(shape, AttentionKernel::unfused, precision, fast, parameters));
  };
  for (const double dropout : {0.0, 0.1}) {
    fused.dropout = eager.dropout = dropout;
    const double more = dropout > 0 ? 5 : 0;
    for (const auto& [precision, forward, backward] :
         {std::tuple(Precision::bf16, 28.0, 28.0), std::tuple(Precision::fp16, 20.0, 20.0)}) {
      const double ahead = passes(attention_forward_time, eager, precision) -
                           passes(attention_forward_time, fused, precision);
      EXPECT_NEAR(ahead, ((forward + more) / 0.5 - (3 + more)) * scores * 1e-6, 1e-3);
      const double back = passes(attention_backward_time, eager, precision) -
                          passes(attention_backward_time, fused, precision);
      EXPECT_NEAR(back, ((backward + more) / 0.5 - (4 + more)) * scores * 1e-6, 1e-3);
    }
  }
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

}  // namespace
}  // namespace headway
