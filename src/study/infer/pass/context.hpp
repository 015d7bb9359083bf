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
  Untuned untuned{};         // [INFER-12] of this pass; nothing where kernels are as measured
};

inline PassContext context_of(const Serving& serving, const ServingConstants& constants,
                              const PassWork& work) {
  PassContext out{serving, constants, work, work.is_prompt() ? serving.cp : 1};
  const auto& untuned = serving.engine.untuned;
  const auto known = untuned.find(serving.cluster.accelerator.architecture);
  if (known == untuned.end()) return out;
  const Untuned& all = known->second;
  if (work.is_prompt()) {
    out.untuned.blocks = serving.own_exchange && all.exchanged > 0 ? all.exchanged : all.blocks;
    out.untuned.weights = all.weights;
  } else {
    out.untuned = {all.products, all.attention, all.weights};
  }
  return out;
}

}  // namespace headway
