// Of how many accelerators prefill and decode apart would fit, where they do not.
#include <map>
#include <utility>

#include "base/divisors.hpp"
#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/splits.hpp"

namespace headway {
namespace {

// What some copy of a size holds: a prompt, and a whole sequence, which is more.
struct HeldByCopy {
  bool prompt = false, sequence = false;
};

HeldByCopy held_by(Serving copy, std::int64_t size, const Load& asked, const SearchSpace& space) {
  HeldByCopy out;
  const std::vector<std::int64_t> steps = step_sizes(copy, space, asked);
  for (const ServingSplit& split : legal_splits(copy, size)) {
    static_cast<ServingSplit&>(copy) = split;
    for (const std::int64_t tokens : steps) {
      copy.engine.policy.most_tokens = tokens;
      const ServingMemory memory = memory_of(copy, asked);
      out.prompt = out.prompt || holds_prompt(memory, asked);
      out.sequence = out.sequence || holds_sequence(memory, asked);
      if (out.sequence) return out;
    }
  }
  return out;
}

// Whether some copies of `prefill` accelerators and some of `decode` make so many together.
bool divides(std::int64_t prefill, std::int64_t decode, std::int64_t accelerators) {
  for (std::int64_t rest = accelerators - prefill; rest > 0; rest -= prefill) {
    if (rest % decode == 0) return true;
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> enough_accelerators_apart(const Serving& base, const Load& asked,
                                                      const SearchSpace& space,
                                                      std::int64_t accelerators) {
  const std::vector<ServingFormats> formats = space.formats_of_all(base);
  std::map<std::pair<std::size_t, std::int64_t>, HeldByCopy> known;  // by format and size
  const auto held = [&](std::size_t format, std::int64_t size) {
    const auto [at, is_new] = known.try_emplace({format, size});
    if (!is_new) return at->second;
    Serving copy = base;
    set_formats(copy, formats[format]);
    return at->second = held_by(std::move(copy), size, asked, space);
  };
  const auto fits = [&](std::size_t format, std::int64_t all) {
    const std::vector<std::int64_t> sizes = divisors(all);
    for (const std::int64_t prefill : sizes) {
      if (prefill == all || !held(format, prefill).prompt) continue;
      for (const std::int64_t decode : sizes) {
        if (divides(prefill, decode, all) && held(format, decode).sequence) return true;
      }
    }
    return false;
  };
  const std::int64_t most = std::min(kMostEnough, base.cluster.accelerators);
  for (std::int64_t more = 2 * accelerators; more <= most; more *= 2) {
    for (std::size_t format = 0; format < formats.size(); ++format) {
      if (fits(format, more)) return more;
    }
  }
  return std::nullopt;
}

}  // namespace headway
