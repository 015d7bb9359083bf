// What the prices of all that a pass does hang on. Internal to src/study/infer/pass.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

/// Of what outlives it.
struct PassContext {
  const Serving& serving;
  const ServingConstants& constants;
  const PassWork& work;
  std::int64_t cp = 1;       // ranks that share each sequence: of prompts alone
  AttentionKernel kernel{};  // of the job that the pass is lowered from
  Untuned untuned{};  // [INFER-12] of passes that decode; nothing where kernels are as measured
};

inline PassContext context_of(const Serving& serving, const ServingConstants& constants,
                              const PassWork& work) {
  PassContext out{serving, constants, work, work.is_prompt() ? serving.cp : 1};
  const auto& untuned = serving.engine.untuned;
  const auto known = untuned.find(serving.cluster.accelerator.architecture);
  if ((work.tokens == 1 || work.checks) && known != untuned.end()) out.untuned = known->second;
  return out;
}

}  // namespace headway
