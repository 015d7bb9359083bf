#include "study/limits/sensitivities.hpp"

#include <vector>

namespace headway {

std::optional<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                        const Progress& progress) {
  const std::vector<limits::Variant> variants = limits::variants_of(setting);
  std::vector<limits::SmoothLimits> found(variants.size());
  const bool done = for_each_index(
      variants.size(), threads,
      [&](std::size_t i, std::size_t) { found[i] = limits::smooth_limits(variants[i].setting); },
      progress, 1);
  if (!done) return std::nullopt;
  return limits::sensitivities(setting, variants, found);
}

}  // namespace headway
