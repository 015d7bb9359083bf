// Runs whose steps are timed: those of public figures. Tests and benchmarks only.
#pragma once

#include "run/run.hpp"

namespace headway::testing {

inline RunRequest llama_8b_on_64() {
  return {{"model", "llama-3-8b"},
          {"cluster", "dgx-h100"},
          {"gpus", "64"},
          {"seq", "8192"},
          {"global-batch", "128"},
          {"tp", "2"},
          {"pp", "2"}};
}
inline RunRequest megatron_1t_on_3072() {
  return {{"model", "megatron-1t"},
          {"cluster", "dgx-a100-80gb"},
          {"gpus", "3072"},
          {"seq", "2048"},
          {"global-batch", "3072"},
          {"tp", "8"},
          {"pp", "64"},
          {"recompute", "full"}};
}

}  // namespace headway::testing
