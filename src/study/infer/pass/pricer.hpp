// What the kernels and calls of one pass take. Internal to src/study/infer/pass.
#pragma once

#include <vector>

#include "study/infer/items.hpp"
#include "study/infer/pass/turns.hpp"

namespace headway {

struct PricedPass {
  PassTime time;                   // but for the host's part
  std::vector<LayerParts> layers;  // by kinds
};

/// `items`: filled with what adds up to the time; null: nobody asks.
PricedPass price_pass(const Serving& serving, const ServingConstants& constants,
                      const PassWork& work, std::vector<PassItem>* items);

}  // namespace headway
