#include "study/infer/prompt_passes.hpp"

#include <algorithm>

namespace headway {

PromptPasses prompt_passes(const Policy& policy, const Load& load, std::int64_t at_once) {
  if (load.input > policy.most_tokens && !policy.whole_prompts) {
    const std::int64_t pieces = (load.input + policy.most_tokens - 1) / policy.most_tokens;
    const std::int64_t tokens = (load.input + pieces - 1) / pieces;
    const auto piece = [&](std::int64_t before) {
      return PassWork{.sequences = 1, .tokens = tokens, .cached = before, .replayed = tokens == 1};
    };
    return {piece((load.input - tokens) / 2), piece(load.input - tokens),
            static_cast<double>(pieces)};
  }
  const std::int64_t prompts =
      std::clamp<std::int64_t>(policy.most_tokens / load.input, 1, at_once);
  const PassWork all = {.sequences = prompts, .tokens = load.input, .replayed = false};
  return {all, all, 1 / static_cast<double>(prompts)};
}

Seconds time_of_prompts(const Serving& serving, const ServingConstants& constants,
                        const PromptPasses& passes, double prompts, Seconds each) {
  const double all = std::max(1.0, prompts * passes.of_one);
  const double stages = static_cast<double>(serving.pp);
  const Seconds last =
      passes.of_one > 1 && serving.pp > 1 ? time_of(serving, constants, passes.last).total() : each;
  return (all * each + (stages - 1) * last) / stages;
}

}  // namespace headway
