#include "study/laws/slimming.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// With `tokens` of a sample's tokens.
SlimCost with_tokens(const SampleWork& work, const SlimMachine& machine, const Slimming& slimming,
                     double tokens, bool training, double batch) {
  const double w = slimming.width, d = slimming.depth;
  const double passes = training ? 3 : 1;
  SlimCost out;
  out.flops = passes * d * (tokens * w * w * work.linear + tokens * tokens * w * work.attention);
  out.bytes = passes * d * (w * w / batch * work.weights + tokens * w * work.activations);
  out.time = std::max(out.flops / machine.rate, out.bytes / machine.memory);
  out.energy = Joules(machine.joules_a_flop * out.flops.value() +
                      machine.joules_a_byte * out.bytes.value()) +
               machine.idle * out.time;
  return out;
}

SlimCost mean_over_curriculum(const SampleWork& work, const SlimMachine& machine,
                              const Slimming& slimming, double batch) {
  constexpr int kParts = 64;
  SlimCost out;
  const auto add = [&](const SlimCost& part, double share) {
    out.flops += share * part.flops;
    out.bytes += share * part.bytes;
    out.time += share * part.time;
    out.energy += share * part.energy;
  };
  for (int i = 0; i < kParts && slimming.growing > 0; ++i) {
    const double grown = (i + 0.5) / kParts;
    const double share = slimming.first_tokens + grown * (1 - slimming.first_tokens);
    add(with_tokens(work, machine, slimming, slimming.tokens * share, true, batch),
        slimming.growing / kParts);
  }
  add(with_tokens(work, machine, slimming, slimming.tokens, true, batch), 1 - slimming.growing);
  return out;
}

}  // namespace

// [LAW-18] Tokens (or pixels) kept p, width w, depth d, samples s, of training three passes:
//   FLOP  = s·d·(p w²·linear + p² w·attention)
//   bytes = s·d·(w²/batch·weights + p w·activations)
//   time  = max(FLOP / rate, bytes / bandwidth)
// [LAW-19] energy = e_FLOP·FLOP + e_byte·bytes + idle·time (the form of DANCE, arXiv 2107.07706).
// A curriculum is the mean over its lengths. What accuracy is left is not known from any of it.
SlimCost slim_cost(const SampleWork& work, const SlimMachine& machine, const Slimming& slimming,
                   bool training, double batch) {
  if (!training) return with_tokens(work, machine, slimming, slimming.tokens, false, batch);
  SlimCost out = mean_over_curriculum(work, machine, slimming, batch);
  out.flops *= slimming.samples;
  out.bytes *= slimming.samples;
  out.time *= slimming.samples;
  out.energy *= slimming.samples;
  return out;
}

Slimming together(const std::vector<Slimming>& each) {
  Slimming out{.name = "together"};
  for (const Slimming& one : each) {
    out.samples *= one.samples;
    out.tokens *= one.tokens;
    out.width *= one.width;
    out.depth *= one.depth;
    out.first_tokens *= one.first_tokens;
    out.growing = std::max(out.growing, one.growing);
  }
  return out;
}

}  // namespace headway
