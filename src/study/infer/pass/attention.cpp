#include "study/infer/pass/attention.hpp"

#include <algorithm>

#include "cost/kernels/traffic.hpp"
#include "step/passes/passes.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

// Engines attend in 16 bits, whatever the weights, unless the cache is kept in 8 bits; latent
// attention always, whose keys and values are made anew.
Precision precision_of_prompts(const PassContext& of, const Attention& attention) {
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  const bool eight = of.serving.cache->name == "fp8" && !attention.latent &&
                     accelerator.peak_of(Precision::fp8) > peak_of_16_bits(accelerator);
  if (eight) return Precision::fp8;
  const bool brain = accelerator.peak_of(Precision::bf16) >= accelerator.peak_of(Precision::fp16);
  return brain ? Precision::bf16 : Precision::fp16;
}

// A prompt that keeps all of its keys needs no scores: engines pass it as if there were no
// indexer. Passes that a graph replays are of any length.
bool reads_all(const PassContext& of, const Attention& attention) {
  return of.work.is_prompt() && of.work.cached + of.work.tokens <= attention.indexer->keep;
}

// [INFER-26] The scores of all keys, and attention over those that are kept.
Seconds chosen_keys_time(const PassContext& of, const AttentionShape& core,
                         const Attention& attention, PassItem& item) {
  const LatentProjection& latent = *attention.latent;
  const KeyIndexer& indexer = *attention.indexer;
  const SparseWork shape{of.work.sequences, of.work.tokens, of.work.cached, of.work.is_prompt()};
  const ChosenKeys chosen{core.heads, 2 * latent.key_value_rank + latent.rope_dim, indexer.keep,
                          Bytes(cached_values(attention, 1) * of.serving.cache->bytes)};
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  item.flops = work(shape, indexer) + work(shape, chosen);
  item.bytes = traffic_of(shape, indexer) + traffic_of(shape, chosen);
  return index_time(shape, indexer, accelerator, of.constants.alone.kernels, of.constants.kernels,
                    of.constants.sparse) +
         chosen_time(shape, chosen, accelerator, of.constants.kernels, of.constants.sparse);
}

// Of a prompt as training has it, chunk by chunk; of a token the state alone.
Seconds linear_attention_time(const PassContext& of, const AttentionShape& core,
                              const Attention& attention, PassItem& item) {
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  if (of.work.tokens == 1) {
    // The state is read and written.
    item.bytes = 2 * static_cast<double>(of.work.sequences) * state_of(attention, of.serving.tp);
    return state_attention_time(of.work.sequences, state_of(attention, of.serving.tp), accelerator,
                                of.constants.kernels);
  }
  return attention_forward_time(core, of.kernel, of.serving.weights->activation, accelerator,
                                of.constants.alone.kernels);
}

// Of every prompt, or its part of a prompt, all tokens.
Seconds prompt_time(const PassContext& of, AttentionShape core, const Attention& attention,
                    PassItem& item) {
  // [INFER-25] Every rank has an early and a late piece, which see as much as all in the mean.
  if (of.cp > 1) core.keys = of.work.cached + (of.work.tokens + core.queries) / 2;
  core.ring = 1;
  Op op = std::get<Op>(item.what);
  op.shape = core;
  item.flops = work(op);
  item.bytes = traffic_of(op, of.kernel);
  return prompt_attention_time({core, precision_of_prompts(of, attention)},
                               of.serving.cluster.accelerator, of.constants.alone.kernels,
                               of.constants.kernels);
}

// A token, or few, over what is cached.
Seconds decoded_time(const PassContext& of, const AttentionShape& core, const Attention& attention,
                     PassItem& item) {
  CachedAttention shape;
  shape.sequences = of.work.sequences;
  shape.queries = of.work.tokens;
  shape.keys = (core.keys + of.serving.cp - 1) / of.serving.cp;
  shape.heads = core.heads;
  shape.latent = attention.latent.has_value();
  // Latent: queries come to the keys' width, and results leave it, by products that stand in the
  // program as those of keys and values.
  shape.width = shape.latent ? 2 * attention.latent->key_value_rank + attention.latent->rope_dim
                             : core.head_dim + core.value_dim;
  shape.cached_of_token = Bytes(cached_values(attention, of.serving.tp) * of.serving.cache->bytes);
  item.flops = work(shape);
  const bool tuned = !(of.untuned.attention > 0) || shape.latent;
  ServingKernels kernels = of.constants.kernels;
  if (!tuned) {
    shape.cached_of_token = shape.cached_of_token * static_cast<double>(core.heads) /
                            static_cast<double>(core.kv_heads);
    kernels.decode.memory = of.untuned.attention;
  }
  const Accelerator& accelerator = of.serving.cluster.accelerator;
  item.bytes = traffic_of(shape);
  const Seconds time = cached_attention_time(shape, accelerator, kernels);
  const GroupedAttention& grouped = of.serving.engine.grouped;
  if (grouped.has(attention)) return time;
  const double read = static_cast<double>(core.heads) / static_cast<double>(core.kv_heads);
  return std::max(time, kernels.decode.start +
                            read * item.bytes / (accelerator.memory_bandwidth * grouped.others));
}

}  // namespace

Seconds attention_time(const PassContext& of, AttentionShape core, const Attention& attention,
                       PassItem& item) {
  if (attention.linear) return linear_attention_time(of, core, attention, item);
  core.keys = of.work.cached + of.work.tokens;
  if (attention.indexer && !reads_all(of, attention))
    return chosen_keys_time(of, core, attention, item);
  if (attention.window > 0) core.keys = std::min(core.keys, attention.window + of.work.tokens - 1);
  return of.work.is_prompt() ? prompt_time(of, core, attention, item)
                             : decoded_time(of, core, attention, item);
}

}  // namespace headway
