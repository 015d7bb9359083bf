// What keeps a way of serving from being faster. Internal to src/study/infer/search.
#pragma once

#include "study/bounds/bounds.hpp"
#include "study/infer/apart.hpp"

namespace headway {

/// [DESIGN-1] Shares of the time that a request costs: its passes of prompts and its passes that
/// decode, guesses among them, each as long as it is answerable for.
BoundShares bound_shares(const Serving& serving, const ServingConstants& constants,
                         const Load& load, const Served& served);

/// Of the part that answers fewest; where that is moving the cache, the network.
BoundShares bound_shares(const ServingApart& apart, const ServingConstants& constants,
                         const Load& load, const ServedApart& served);

}  // namespace headway
