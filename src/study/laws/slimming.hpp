// Training and inference on less: fewer samples, fewer pixels or tokens of each, narrower and
// shallower networks.
#pragma once

#include <string>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// What a network does of one sample, forward, and where its time and energy go.
struct SampleWork {
  Flops linear;       // products of weights: grow with tokens, and with width twice
  Flops attention;    // of scores: grow with tokens twice, and with width
  Bytes weights;      // read once a batch
  Bytes activations;  // written and read, of one sample
};

/// Rates and energies of an accelerator.
struct SlimMachine {
  FlopsPerSecond rate;
  BytesPerSecond memory;
  double joules_a_flop = 0, joules_a_byte = 0;  // dynamic; DRAM
  Watts idle;
};

/// The share that is kept of each.
struct Slimming {
  std::string name;
  double samples = 1;  // of all that are trained on
  double tokens = 1;   // or pixels, of a sample
  double width = 1, depth = 1;
  // A curriculum of lengths: begins with this share of the tokens and grows evenly to all of them
  // over this share of training.
  double first_tokens = 1, growing = 0;
};

struct SlimCost {
  Flops flops;
  Bytes bytes;
  Seconds time;
  Joules energy;
};
/// Of a sample in training (`training`: forward and backward, three times the forward) or in
/// inference, where dropped samples and curricula change nothing [LAW-18] [LAW-19].
SlimCost slim_cost(const SampleWork& work, const SlimMachine& machine, const Slimming& slimming,
                   bool training, double batch);

/// All of them at once: every share is the product.
Slimming together(const std::vector<Slimming>& each);

}  // namespace headway
