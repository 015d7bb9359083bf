#include "study/traffic/modules.hpp"

namespace headway {
namespace {

double& of(ByModule& shares, Module module) {
  return shares[static_cast<std::size_t>(module)];
}

// Gradients, and weights that were updated: of what is trained alone.
bool carries_what_is_trained(const Call& call) {
  return call.op != CollectiveOp::all_gather || call.phase == Phase::optimizer;
}

// What is dense in a block, times `by`.
void add_block(ByModule& shares, const Block& block, bool trained, double by) {
  const HeldParameters& held = block.held;
  const double weights = by * held.dense * (trained ? held.trained : 1.0);
  if (block.kind == BlockKind::embedding) {
    of(shares, Module::embedding) += weights;
  } else if (block.kind == BlockKind::head) {
    of(shares, Module::head) += weights;
  } else if (block.kind == BlockKind::vocabulary) {
    of(shares, Module::embedding) += weights * held.embedding;
    of(shares, Module::head) += weights * (1 - held.embedding);
  } else {
    const double attention = trained ? held.attention_trained : held.attention;
    of(shares, Module::attention) += weights * attention;
    of(shares, held.experts > 0 ? Module::experts : Module::feed_forward) +=
        weights * (1 - attention);
  }
}

}  // namespace

// [COMM-10] Activations serve the kind of layer that sends them. Weights and gradients that travel
// in one message (a layer, a bucket) serve each kind by its share of the parameters, dense
// ones that the message's layer or stage holds; the norm before each half of a layer belongs to it,
// router and shared experts to the experts. Known error: a bucket may hold more of one kind than
// the mean; the sum over the buckets of a stage is exact.
ByModule module_shares(const PricedCall& priced, const StageClass& stage, const Step& step) {
  const Module module = priced.call.module;
  const bool trained = carries_what_is_trained(priced.call);
  ByModule out{};
  if (module <= Module::other) {
    of(out, module) = 1;
    return out;
  }
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    const Block& block = step.blocks[i];
    const bool end = block.kind == BlockKind::embedding || block.kind == BlockKind::head;
    double by = 0;
    if (module == Module::layer) by = priced.block == static_cast<int>(i) ? 1 : 0;
    if (module == Module::ends) by = end ? 1 : 0;
    if (module == Module::stage) by = static_cast<double>(stage.counts[i]);
    add_block(out, block, trained, by);
  }
  double all = 0;
  for (const double share : out) all += share;
  if (!(all > 0)) {
    of(out, Module::other) = 1;
    return out;
  }
  for (double& share : out) share /= all;
  return out;
}

}  // namespace headway
