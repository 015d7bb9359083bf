// The limits as formulas: where latency alone fills the duration, and where the network no longer
// feeds the arithmetic of a node. Formulas: docs/models/limits.md.
#pragma once

#include "limits/machine/setting.hpp"

namespace headway::limits {

struct ClosedForms {
  double alpha = 0;      // how much faster than the layers the batch grows, as exponents of compute
  Flops linear_scaling;  // the largest run at full utilisation; infinite on an unlimited network
  Flops latency;         // the largest run at all
};

/// With the study's constants (a batch of 4e6 tokens and 100 layers at 3e23 FLOP) and the machine
/// and the duration of the setting. [LIMIT-18] [LIMIT-19]
ClosedForms closed_forms(const Setting& setting, double alpha);

/// alpha as the setting's laws of batch, layers and experts imply it. [LIMIT-18]
double implied_alpha(const Setting& setting);

/// Of one node in [LIMIT-19]: how many tokens and how wide a shard keep it busy.
struct NodeNeeds {
  double tokens = 0;
  double shard = 0;  // width of a square shard
};
NodeNeeds node_needs(const Setting& setting);

}  // namespace headway::limits
