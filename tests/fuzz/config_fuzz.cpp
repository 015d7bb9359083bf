// Model descriptions: a config.json from anywhere becomes a model or problems, and a model's counts
// are finite.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "model/count.hpp"
#include "model/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = headway::parse_json(text, "config.json");
  if (!document) return 0;
  const auto model = headway::model_from_config(*document, "fuzzed");
  if (!model) {
    if (model.problems().empty()) std::abort();
    return 0;
  }
  const double flops = headway::forward_flops(*model, 4096, headway::AttentionFlops::full).value();
  if (headway::parameters(*model).total < 0 || !std::isfinite(flops)) std::abort();
  return 0;
}
