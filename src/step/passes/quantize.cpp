// ZeRO++ (arXiv 2306.10209): kernels between what is computed with and what is sent.
#include "step/passes/quantize.hpp"

namespace headway {
namespace {

void push(Block& block, Phase phase, Bytes moved, double kernels) {
  block.items.push_back({.what = Op{.shape = Pass{moved}, .phase = phase, .kernels = kernels}});
}

}  // namespace

// [STEP-27] Bytes moved a parameter, w in a gathered weight and g in a gradient: a gathered weight
// is read in 8 bit and written, forward and backward; a gradient is read and written in 4 bit, and
// what the ranks of the node sent of it is read to be summed. Known error: left out is what is done
// with a part of the weights or gradients only (a rank's own, its node's): below 1.5 B over the
// ranks of a node.
void quantize(Block& block, const Share& share, double matrices) {
  if (!share.around.shards_weights) return;
  const Job& job = share.job;
  const double held = block.held.dense;
  if (job.quantized_weights) {
    const Bytes weight = kQuantizedWeight + gathered_bytes(job);
    push(block, Phase::forward, held * weight, matrices);
    push(block, Phase::backward, held * weight, matrices);
  }
  if (job.quantized_gradients) {
    const Bytes gradient = share.element + 2 * kQuantizedGradient;
    push(block, Phase::backward, held * block.held.trained * gradient, 3 * matrices);
  }
}

}  // namespace headway
