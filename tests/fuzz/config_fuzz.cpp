// Model descriptions: a config.json from anywhere becomes a model or problems, and a model's counts
// are finite.
#include <cmath>
#include <cstdlib>

#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "targets.hpp"

void headway::fuzz::config(std::string_view text) {
  const auto document = headway::parse_json(text, "config.json");
  if (!document) return;
  const auto model = headway::model_from_config(*document, "fuzzed");
  if (!model) {
    if (model.problems().empty()) std::abort();
    return;
  }
  const double flops = headway::forward_flops(*model, 4096, headway::AttentionFlops::full).value();
  if (headway::parameters(*model).total < 0 || !std::isfinite(flops)) std::abort();
}
