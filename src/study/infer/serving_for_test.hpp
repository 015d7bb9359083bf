// Servings for tests.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/serving.hpp"

namespace headway::testing {

/// By the first engine.
inline Serving serving_of(const std::string& model, const std::string& cluster, std::int64_t tp = 1,
                          const std::string& weights = "bf16") {
  Serving out;
  out.model = *load_model(model);
  out.cluster = *load_cluster(cluster);
  out.engine = engines()->front();
  out.tp = tp;
  set_weights(out, weights);
  return out;
}

inline ServingConstants constants_of(const Serving& serving) {
  return *serving_constants(serving.cluster);
}

inline Engine engine_named(std::string_view name) {
  return *std::find_if(engines()->begin(), engines()->end(),
                       [&](const Engine& each) { return each.name == name; });
}

}  // namespace headway::testing
