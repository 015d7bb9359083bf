#include "study/infer/intervals/peaks.hpp"

#include <algorithm>

#include "study/infer/items.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

// What decoding must read of the cache, once: what kernels read again for other heads or guesses
// may lie in the chip's, as tokens of this pass do, and scores need not leave it.
Bytes least_read(const Serving& serving, const Attention& attention, const PassWork& pass) {
  const auto sequences = static_cast<double>(pass.sequences);
  // Read and written.
  if (attention.linear) return 2 * sequences * state_of(attention, serving.tp);
  double keys = static_cast<double>(pass.cached);
  if (attention.window > 0) keys = std::min(keys, static_cast<double>(attention.window - 1));
  Bytes scored(0);
  if (attention.indexer) {
    scored = keys * index_bytes_of_token(*attention.indexer);
    keys = std::min(keys, static_cast<double>(attention.indexer->keep - 1));
  }
  const Bytes each(cached_values(attention, serving.tp) * serving.cache->bytes);
  return sequences / static_cast<double>(serving.cp) * (scored + keys * each);
}

// Of a prompt the scores of an indexer are of 8 bits where there are any, attention itself of 16.
Seconds least_of_prompt(const Serving& serving, const Attention& attention, const PassItem& item,
                        const PassWork& pass) {
  const Accelerator& accelerator = serving.cluster.accelerator;
  const FlopsPerSecond wide = accelerator.peak_of(serving.weights->activation);
  const bool chosen = attention.indexer && pass.cached + pass.tokens > attention.indexer->keep;
  if (!chosen) return item.flops / wide;
  const Flops scores =
      work(SparseWork{pass.sequences, pass.tokens, pass.cached, true}, *attention.indexer);
  return scores / std::max(wide, accelerator.peak_of(Precision::fp8)) +
         (item.flops - scores) / wide;
}

Seconds least_of(const Serving& serving, const ServingConstants& constants, const PassItem& item,
                 const PassWork& pass) {
  const BytesPerSecond bandwidth = serving.cluster.accelerator.memory_bandwidth;
  const auto& op = std::get<Op>(item.what);
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    const bool of_layer = item.block == BlockKind::layer;
    const double element =
        of_layer ? weight_bytes(serving, op.routed) : bytes_per_element(op.precision);
    const double weights = static_cast<double>(product->batch * product->n * product->k);
    return std::max(item.flops / arithmetic_of(serving, constants, op, of_layer).peak,
                    Bytes(element * weights) / bandwidth);
  }
  if (item.part != ServingPart::attention) return Seconds(0);
  const Attention& attention = *serving.model.kinds[item.kind].attention;
  return pass.is_prompt() ? least_of_prompt(serving, attention, item, pass)
                          : least_read(serving, attention, pass) / bandwidth;
}

}  // namespace

Seconds least_time(const Serving& serving, const ServingConstants& constants,
                   const PassWork& pass) {
  std::vector<PassItem> items;
  time_of(serving, constants, pass, items);
  Seconds out(0);
  for (const PassItem& item : items) {
    if (!std::holds_alternative<Op>(item.what)) continue;
    out += item.count * std::min(item.each, least_of(serving, constants, item, pass));
  }
  return out;
}

}  // namespace headway
