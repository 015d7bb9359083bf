// What training and inference on less bring a run: each kind of slimming alone, and all together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "run/run.hpp"
#include "study/laws/slimming.hpp"

namespace headway {

/// Shares that are kept; unset: all.
struct SlimGiven {
  RunRequest fields;  // of a run
  std::optional<double> samples, tokens, width, depth, first_tokens, growing;
  std::optional<double> pj_a_bit;  // of DRAM
};

struct SlimRow {
  Slimming slimming;
  SlimCost training, inference;
};
struct SlimAnswer {
  RequestedRun run;
  SampleWork work;  // of one sample, forward
  SlimMachine machine;
  std::vector<SlimRow> rows;  // the whole network first, each alone, all together last
};
/// By the run's own kernels: FLOPs and bytes of its forward pass, the rate that its products
/// sustain. Everything that is wrong with the question at once.
Result<SlimAnswer> answer_slimming(const SlimGiven& given);

}  // namespace headway
