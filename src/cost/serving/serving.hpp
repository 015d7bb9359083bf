// Seconds of the kernels that serving has beside those of training: attention that reads a cache,
// the engines' own all-reduce, and (exchange.hpp) the exchange of experts' tokens. Formulas:
// docs/models/infer.md.
#pragma once

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {

/// Attention of few tokens over what is cached.
struct CachedAttention {
  std::int64_t sequences = 1;
  std::int64_t queries = 1;  // of each sequence
  std::int64_t keys = 0;     // that they attend to, those of the cache among them
  std::int64_t heads = 0;
  std::int64_t width = 0;   // of a query and a result together: FLOPs of a score are twice that
  Bytes cached_of_token{};  // read for each key, all heads of the rank
  bool latent = false;      // one key for all heads, whose values are part of it
};

/// What it takes at least: of the products of scores and values, of the cache that is read.
Flops work(const CachedAttention& shape);
Bytes traffic_of(const CachedAttention& shape);

/// Attention of prompts, as engines call it: positions turned, keys and values put into the cache,
/// then flash attention.
struct PromptAttention {
  AttentionShape shape;                   // fewer queries than keys: some are in the cache
  Precision precision = Precision::bf16;  // that its products are in
};

/// The faster of its two formats of 16 bits.
FlopsPerSecond peak_of_16_bits(const Accelerator& accelerator);

/// Constants of one architecture; shares are of the data sheet, 0 ... 1.
struct ServingKernels {
  struct Attention {
    Seconds start;
    double memory = 1;  // of the memory bandwidth
    double rate = 1;    // of the 16-bit peak
  };
  Attention decode, latent;
  struct Prompt {
    Seconds start;
    double passes = 1;  // over queries, keys and values, each read and written, at the bandwidth
    double rate = 1;    // ceiling of [KERNEL-2]
    double eight = 1;   // of that in 8 bits
  };
  Prompt prompt;
  struct Exchange {
    Seconds start;
    BytesPerSecond unit;  // that one compute unit copies
    double share = 1;     // of the bandwidth of an accelerator to its peers
    Seconds quick_start;  // of the kernels of few tokens
    double quick_share = 1;
  };
  Exchange dispatch, combine;
  double exchange_far = 1;                 // of the bandwidth of an accelerator to other nodes
  Seconds once_start, twice_start;         // of an all-reduce in one step, and in two
  double once_share = 1, twice_share = 1;  // of the bandwidth of an accelerator to its peers
  // Of the rate of a product, that of experts in 16 bits and in 8 bits by blocks; of these over the
  // bandwidth's time, passes by kernels that sort their tokens.
  double experts_wide = 1, experts_blocks = 1, experts_passes = 1;
  bool measured = true;  // on the accelerator's architecture; else on others
};

/// visit(name, constant) for each, in the order and by the names of data/serving/kernels.toml.
template <class Kernels, class Visit>
void for_each_constant(Kernels& kernels, Visit&& visit) {
  visit("decode_start", kernels.decode.start);
  visit("decode_memory", kernels.decode.memory);
  visit("decode_rate", kernels.decode.rate);
  visit("latent_start", kernels.latent.start);
  visit("latent_memory", kernels.latent.memory);
  visit("latent_rate", kernels.latent.rate);
  visit("prompt_start", kernels.prompt.start);
  visit("prompt_passes", kernels.prompt.passes);
  visit("prompt_rate", kernels.prompt.rate);
  visit("prompt_eight", kernels.prompt.eight);
  visit("dispatch_start", kernels.dispatch.start);
  visit("dispatch_unit", kernels.dispatch.unit);
  visit("dispatch_share", kernels.dispatch.share);
  visit("combine_start", kernels.combine.start);
  visit("combine_unit", kernels.combine.unit);
  visit("combine_share", kernels.combine.share);
  visit("quick_dispatch_start", kernels.dispatch.quick_start);
  visit("quick_dispatch_share", kernels.dispatch.quick_share);
  visit("quick_combine_start", kernels.combine.quick_start);
  visit("quick_combine_share", kernels.combine.quick_share);
  visit("quick_far", kernels.exchange_far);
  visit("once_start", kernels.once_start);
  visit("once_share", kernels.once_share);
  visit("twice_start", kernels.twice_start);
  visit("twice_share", kernels.twice_share);
  visit("experts_wide", kernels.experts_wide);
  visit("experts_blocks", kernels.experts_blocks);
  visit("experts_passes", kernels.experts_passes);
}

/// From data/serving/kernels.toml, by the architecture; `default` where it has no entry.
Result<ServingKernels> serving_kernels_for(const Accelerator& accelerator);

/// [INFER-1] The longer of reading the cache and of the products, behind a start.
Seconds cached_attention_time(const CachedAttention& shape, const Accelerator& accelerator,
                              const ServingKernels& kernels);

/// [INFER-32] A start, passes over what enters, and flash attention [KERNEL-2] at a rate of its
/// own; `flash`: its other constants.
Seconds prompt_attention_time(const PromptAttention& attention, const Accelerator& accelerator,
                              const KernelParameters& flash, const ServingKernels& kernels);

/// [INFER-21] One token of each of `sequences` by attention that keeps a state of `state` bytes.
Seconds state_attention_time(std::int64_t sequences, Bytes state, const Accelerator& accelerator,
                             const ServingKernels& kernels);

/// [INFER-2] Of so many bytes on each of `ranks` that reach each other's memory at `bandwidth`
/// each: the shorter of one step and of two. `slowed`: times what either begins with (Level).
Seconds own_all_reduce_time(Bytes bytes, std::int64_t ranks, BytesPerSecond bandwidth,
                            const ServingKernels& kernels, double slowed = 1);

}  // namespace headway
