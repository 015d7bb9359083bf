// A serving as whoever may choose would run it: what benchmarks report whose runs are tuned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// A way of serving, and the load that it is asked for.
struct Tuned {
  Serving serving;
  Load load;
};

/// [INFER-38] The split of all `accelerators` that makes most tokens a second in closed form, in
/// the formats of `base`, with `steps` of as many tokens. `share` 0: of as many clients as memory
/// holds; else of random requests of which such a share keeps to the load's limits, at the highest
/// rate, placed in time. Nothing where none serves them.
std::optional<Tuned> tuned(const Serving& base, const ServingConstants& constants,
                           const Load& asked, std::int64_t accelerators,
                           const std::vector<std::int64_t>& steps, double share);

}  // namespace headway
