#include "study/infer/intervals/peaks.hpp"

#include <algorithm>

#include "study/infer/items.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

FlopsPerSecond peak_of(const Serving& serving, const ServingConstants& constants,
                       Precision precision) {
  const bool integer = serving.stored != nullptr && serving.stored->integer;
  return integer && precision >= Precision::fp8 ? constants.formats.integer_rate
                                                : serving.cluster.accelerator.peak_of(precision);
}

Seconds least_of(const Serving& serving, const ServingConstants& constants, const PassItem& item,
                 bool of_prompt) {
  const BytesPerSecond bandwidth = serving.cluster.accelerator.memory_bandwidth;
  const auto& op = std::get<Op>(item.what);
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    const bool of_layer = item.block == BlockKind::layer;
    const double element =
        of_layer ? weight_bytes(serving, op.routed) : bytes_per_element(op.precision);
    const double weights = static_cast<double>(product->batch * product->n * product->k);
    return std::max(item.flops / peak_of(serving, constants, op.precision),
                    Bytes(element * weights) / bandwidth);
  }
  if (item.part != ServingPart::attention) return Seconds(0);
  if (!of_prompt) return item.bytes / bandwidth;
  return item.flops / serving.cluster.accelerator.peak_of(serving.weights->activation);
}

}  // namespace

Seconds least_time(const Serving& serving, const ServingConstants& constants,
                   const PassWork& work) {
  std::vector<PassItem> items;
  time_of(serving, constants, work, items);
  const bool of_prompt = work.tokens > 1 && !work.checks;
  Seconds out(0);
  for (const PassItem& item : items) {
    if (!std::holds_alternative<Op>(item.what)) continue;
    out += item.count * std::min(item.each, least_of(serving, constants, item, of_prompt));
  }
  return out;
}

}  // namespace headway
