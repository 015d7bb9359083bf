// The smallest changes of flags that make something fit. Internal to src/study/infer/search.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/infer/search/change.hpp"

namespace headway {

/// A flag with what its other values make of what is asked, from little to much.
template <class Asked>
struct ChangedFlag {
  std::string name;
  std::function<std::string(const Asked&)> value;  // as it is given
  std::vector<std::function<void(Asked&)>> changes;
};

/// Each flag alone that makes it fit, changed as little as does; where none does, of each pair the
/// first that fits, one of them changed as little as can be. `tried`: a change without its flags;
/// nothing of what is not legal or does not fit. What makes most comes first.
template <class Asked, class Tried>
std::vector<ServingChange> smallest_of(const Asked& asked,
                                       const std::vector<ChangedFlag<Asked>>& flags,
                                       const Tried& tried) {
  struct Step {
    const ChangedFlag<Asked>& flag;
    const std::function<void(Asked&)>& change;
  };
  std::vector<ServingChange> out;
  const auto keep = [&](std::initializer_list<Step> steps) {
    Asked changed = asked;
    for (const Step& step : steps) step.change(changed);
    std::optional<ServingChange> change = tried(changed);
    if (!change) return false;
    for (const Step& step : steps) {
      // Two degrees of a pool are one flag.
      const std::pair given(step.flag.name, step.flag.value(changed));
      const auto told = std::find(change->flags.begin(), change->flags.end(), given);
      if (told == change->flags.end()) change->flags.push_back(given);
    }
    out.push_back(std::move(*change));
    return true;
  };
  const auto first_of = [&](const ChangedFlag<Asked>& flag, const Step* other) {
    return std::any_of(flag.changes.begin(), flag.changes.end(), [&](const auto& change) {
      return other == nullptr ? keep({{flag, change}}) : keep({*other, {flag, change}});
    });
  };
  for (const ChangedFlag<Asked>& flag : flags) first_of(flag, nullptr);
  for (std::size_t i = 0; out.empty() && i < flags.size(); ++i) {
    for (std::size_t j = i + 1; j < flags.size(); ++j) {
      for (const auto& change : flags[i].changes) {
        const Step step{flags[i], change};
        if (first_of(flags[j], &step)) break;
      }
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const ServingChange& a, const ServingChange& b) {
    return a.output_per_second > b.output_per_second;
  });
  return out;
}

/// Higher degrees that are legal of a serving by itself, on as many accelerators as that takes.
std::vector<std::int64_t> higher_degrees(const Serving& serving,
                                         std::int64_t ServingSplit::*degree);
/// Formats of fewer bytes that are legal and the engine has, the widest first: of weights, of the
/// cache.
std::vector<std::string> smaller_weights(const Serving& serving);
std::vector<const CacheFormat*> smaller_caches(const Serving& serving);

}  // namespace headway
