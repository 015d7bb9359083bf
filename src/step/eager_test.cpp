// What eager PyTorch and FSDP do besides the products: casts and copies of weights and gradients,
// metrics, masks, recomputation that stops early. Bytes derived by hand for one layer of a GPT.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

constexpr double kTokens = 2048, kHidden = 4096;

// MosaicGPT-7B on 8 ranks of FSDP, one sequence each, kernels not fused: a layer of 12·h² weights
// in four matrices with biases, a vocabulary of 50,368 words, tied.
Case mpt() {
  Case c = case_of("mosaicgpt-7b");
  c.model.vocabulary = 50368;
  c.job.framework = framework_from("fsdp").value();
  c.job.fused = false;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 3;
  return c;
}

double passes(const Block& block, Phase phase, bool weight_gradient) {
  double bytes = 0;
  for (const Op& op : only<Op>(block.items)) {
    const auto* pass = std::get_if<Pass>(&op.shape);
    if (pass && op.phase == phase && op.weight_gradient == weight_gradient) {
      bytes += pass->moved.value();
    }
  }
  return bytes;
}

const Block& block_of(const Step& step, BlockKind kind) {
  for (const Block& block : step.blocks) {
    if (block.kind == kind) return block;
  }
  return step.blocks.front();
}

double layer_weights() {
  return 12 * kHidden * kHidden;
}

TEST(Eager, AFlatGradientIsCopiedCastAndDivided) {  // [STEP-15]
  // Sums of the outputs' gradients for the biases: 3h + h + 4h + h of two bytes a token.
  const double biases = kTokens * 9 * kHidden * 2;
  const struct {
    WireFormat param, reduce;
    double bytes;
  } cases[] = {
      {WireFormat::bf16, WireFormat::bf16, 2 * 2 + 2 * 2},
      {WireFormat::bf16, WireFormat::fp32, 2 * 2 + (2 + 4) + 2 * 4},
      // and the product's 16-bit result is cast to the weight's fp32
      {WireFormat::fp32, WireFormat::bf16, (2 + 4) + 2 * 4 + (4 + 2) + 2 * 2},
  };
  for (const auto& each : cases) {
    Case c = mpt();
    c.job.param_dtype = each.param;
    c.job.reduce_dtype = each.reduce;
    expect_legal(c);
    EXPECT_DOUBLE_EQ(passes(c.lowered().blocks[0], Phase::backward, true),
                     each.bytes * layer_weights() + biases)
        << each.bytes;
  }
}

TEST(Eager, WireFormatsSetTheBytesOfGathersAndReductions) {  // [STEP-10]
  Case c = mpt();
  const double held = c.lowered().blocks[0].held.dense;
  const auto sum = [&](CollectiveOp op) {
    return bytes_of(calls_in(c.lowered().blocks[0].items), op, Group::dp) / held;
  };
  EXPECT_DOUBLE_EQ(sum(CollectiveOp::all_gather), 2 * 2);  // forward and backward
  EXPECT_DOUBLE_EQ(sum(CollectiveOp::reduce_scatter), 4);
  c.job.param_dtype = WireFormat::fp32;
  c.job.reduce_dtype = WireFormat::bf16;
  EXPECT_DOUBLE_EQ(sum(CollectiveOp::all_gather), 2 * 4);
  EXPECT_DOUBLE_EQ(sum(CollectiveOp::reduce_scatter), 2);
}

TEST(Eager, AutocastCastsWeightsNormsAndResidual) {  // [STEP-15]
  Case plain = mpt();
  plain.job.param_dtype = WireFormat::bf16;
  Case cast = mpt();
  cast.job.param_dtype = WireFormat::fp32;
  const Block a = plain.lowered().blocks[0], b = cast.lowered().blocks[0];
  const double values = kTokens * kHidden;
  // Two norms: x and y of 4 bytes instead of 2, and y cast; two sums: x and x + f(x) of 4.
  const double norms = 2 * (2 * 2 + (4 + 2)), sums = 2 * (2 * 2);
  EXPECT_DOUBLE_EQ(passes(b, Phase::forward, false) - passes(a, Phase::forward, false),
                   (norms + sums) * values + (4 + 2) * layer_weights());
  // Norms: five tensors instead of 2 bytes in 4, dy cast; sums: three, and the branch's cast.
  EXPECT_DOUBLE_EQ(passes(b, Phase::backward, false) - passes(a, Phase::backward, false),
                   (2 * (5 * 2 + 6) + 2 * (3 * 2 + 6)) * values);
  // Kept: the norms' inputs in 4 bytes, 16-bit copies of the weights.
  EXPECT_DOUBLE_EQ(b.saved.value() - a.saved.value(), 2 * 2 * values + 2 * layer_weights());
  cast.layout.recompute = plain.layout.recompute = Recompute::full;  // the input alone
  EXPECT_DOUBLE_EQ(cast.lowered().blocks[0].saved.value() - plain.lowered().blocks[0].saved.value(),
                   2 * values);
}

// Bytes an element of x·rsqrt(mean(x²) + ε)·g written as PyTorch expressions on 16 bit: cast 2 + 4,
// square 4 + 4, mean 4, product 4 + 4, cast back 4 + 2, scale 2 + 2. Outside of this project, 2,048
// rows of 5,120 in fp16 were timed at 353 us on an A100 that such passes read and write at 1.1 to
// 1.3 TB/s (vLLM, pull request 16), where one fused kernel moves 4 B.
TEST(Eager, AnRmsNormOfExpressionsMovesNineTimesWhatAFusedOneMoves) {  // [STEP-15]
  Case fused = case_of("llama-2-7b", "dgx-a100-40gb");
  fused.layout.dp = 8;
  fused.layout.zero = 3;
  fused.job.framework = framework_from("fsdp").value();
  Case eager = fused;
  fused.job.fused = true;
  eager.job.fused = false;
  const auto norm = [](const Case& c, Bytes Pass::*bytes) {
    const Block block = c.lowered().blocks[0];
    for (const Op& op : only<Op>(block.items)) {
      if (const auto* pass = std::get_if<Pass>(&op.shape)) return (pass->*bytes).value();
    }
    return 0.0;
  };
  const double values = static_cast<double>(eager.layout.micro_batch * eager.job.sequence) *
                        static_cast<double>(eager.model.hidden);
  const double read_and_written = 6 + 8 + 4 + 8 + 6 + 4;
  EXPECT_DOUBLE_EQ(norm(fused, &Pass::moved), 4 * values);
  EXPECT_DOUBLE_EQ(norm(eager, &Pass::moved), read_and_written * values);
  EXPECT_DOUBLE_EQ(norm(eager, &Pass::by_gradient), 70 * values);
  const double seconds = 353e-6;
  const double bandwidth = read_and_written * 2048 * 5120 / seconds;  // B/s
  EXPECT_GT(bandwidth, 1.0e12);
  EXPECT_LT(bandwidth, 0.85 * eager.cluster.accelerator.memory_bandwidth.value());
}

// Bytes a score that eager attention keeps beside a kernel that keeps none: the softmax its result
// in 32 bits, the product with the values what it reads in 16. Outside of this project OPT-350M (24
// layers of 16 heads, fp16, 1,024 tokens) was trained with 4,867.1 MB by such expressions and
// 1,698.4 MB by fused attention (transformers, pull request 33298); its torch.max over the masked
// scores keeps those, too.
TEST(Eager, AttentionOfExpressionsKeepsSixBytesAScore) {  // [STEP-5]
  Case fused = case_of("opt-350m", "dgx-a100-40gb");
  fused.job.framework = framework_from("fsdp").value();
  fused.job.sequence = 1024;
  fused.job.global_batch = 1;
  fused.job.dropout = 0;  // its attention has none
  fused.layout.dp = 1;
  fused.job.fused = false;
  fused.job.attention = AttentionKernel::flash2;
  Case eager = fused;
  eager.job.attention = AttentionKernel::unfused;
  expect_legal(eager);
  const auto saved = [](const Case& c) { return c.lowered().blocks[0].saved.value(); };
  const double scores = 16 * 1024.0 * 1024.0, sums = 4 * 16 * 1024.0;
  EXPECT_DOUBLE_EQ(saved(eager) - saved(fused) + sums, 6 * scores);
  EXPECT_NEAR((6 + 2) * 24 * scores / (4867.113e6 - 1698.35e6), 1, 0.03);
}

TEST(Eager, APaddingMaskGathersAndScattersTokens) {  // [STEP-15]
  Case c = mpt();
  const Block a = c.lowered().blocks[0];
  c.job.padding_mask = true;
  const Block b = c.lowered().blocks[0];
  const double values = kTokens * kHidden * 2;  // bytes of one of q, k, v
  // q, k, v read and written; the result zeroed, read, written. Backward: its gradient read and
  // written; those of q, k, v zeroed, read, written.
  EXPECT_DOUBLE_EQ(passes(b, Phase::forward, false) - passes(a, Phase::forward, false),
                   (3 * 2 + 3) * values);
  EXPECT_DOUBLE_EQ(passes(b, Phase::backward, false) - passes(a, Phase::backward, false),
                   (2 + 3 * 3) * values);
}

TEST(Eager, TheLossInOneKernelAndItsMetrics) {  // [STEP-7]
  Case c = mpt();
  c.model.final_norm = false;
  const double logits = kTokens * 50368;
  const auto head = [&](Phase phase) {
    return passes(block_of(c.lowered(), BlockKind::head), phase, false) / logits;
  };
  c.job.fused_loss = Choice::on;
  EXPECT_DOUBLE_EQ(head(Phase::forward), 2);   // read
  EXPECT_DOUBLE_EQ(head(Phase::backward), 4);  // read, and the gradient written
  // A metric: logits read, written in fp32, read, their softmax written.
  c.job.loss_metrics = 2;
  EXPECT_DOUBLE_EQ(head(Phase::forward), 2 + 2 * (2 + 4 + 4 + 4));
  EXPECT_DOUBLE_EQ(block_of(c.lowered(), BlockKind::head).working.value(), 4 * logits);
  c.job.fused_loss = Choice::off;  // fp32 copy, softmax and gradient beside the logits
  EXPECT_DOUBLE_EQ(block_of(c.lowered(), BlockKind::head).working.value(), 14 * logits);
}

TEST(Eager, RecomputationThatStopsEarlyLeavesOutTheLastProduct) {  // [STEP-16]
  Case c = mpt();
  c.layout.recompute = Recompute::full;
  const auto products = [&] {
    double flops = 0;
    const Step step = c.lowered();
    for (const Op& op : only<Op>(step.blocks[0].items)) {
      if (op.recomputed && is_product(op)) flops += work(op).value();
    }
    return flops / (2 * kTokens * kHidden * kHidden);
  };
  c.layout.recompute_early_stop = Choice::off;
  EXPECT_DOUBLE_EQ(products(), 3 + 1 + 4 + 4);
  c.layout.recompute_early_stop = Choice::on;
  EXPECT_DOUBLE_EQ(products(), 3 + 1 + 4);
  c.layout.recompute_early_stop = Choice::framework;
  c.job.software = 2023.5;  // PyTorch 2.0
  EXPECT_DOUBLE_EQ(products(), 12);
  c.job.software = 2023.9;  // 2.1
  EXPECT_DOUBLE_EQ(products(), 8);
  c.layout.recompute_every = 2;  // the second layer's input is wanted
  EXPECT_DOUBLE_EQ(products(), 12);
}

TEST(Eager, TheEndsStayGatheredAndTheirGradientsGrow) {  // [STEP-9]
  Case c = mpt();
  c.job.param_dtype = c.job.reduce_dtype = WireFormat::bf16;
  expect_legal(c);
  const Step step = c.lowered();
  const double layer = step.blocks[0].held.dense;
  const double ends = 50368 * kHidden + 2048 * kHidden + kHidden;  // words, positions, last norm
  // Two blocks gathered, one's gradients twice; the ends' weights and gradients.
  EXPECT_NEAR(step.held.memory.buffers.value(), 2 * (2 * layer + 2 * layer + 2 * ends),
              1e-3 * step.held.memory.buffers.value());
}

}  // namespace
}  // namespace headway::testing
