#include "cost/serving/serving.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

// Reads each constant by its name.
struct ReadConstant {
  Fields& fields;
  void operator()(const char* name, Seconds& start) { start = fields.quantity<Seconds>(name); }
  void operator()(const char* name, double& share) { share = fields.number(name); }
  void operator()(const char* name, BytesPerSecond& rate) {
    rate = fields.quantity<BytesPerSecond>(name);
  }
};

ServingKernels read_kernels(Fields fields) {
  ServingKernels out;
  for_each_constant(out, ReadConstant{fields});
  out.measured = fields.text("kind") != "estimated";
  for (const char* said : {"source", "date"}) fields.text(said);
  fields.reject_unknown();
  return out;
}

}  // namespace

Flops work(const CachedAttention& shape) {
  return Flops(static_cast<double>(shape.sequences) * static_cast<double>(shape.queries) *
               static_cast<double>(shape.keys) * static_cast<double>(shape.heads) * 2 *
               static_cast<double>(shape.width));
}

Bytes traffic_of(const CachedAttention& shape) {
  return static_cast<double>(shape.sequences) * static_cast<double>(shape.keys) *
         shape.cached_of_token;
}

FlopsPerSecond peak_of_16_bits(const Accelerator& accelerator) {
  return std::max(accelerator.peak_of(Precision::bf16), accelerator.peak_of(Precision::fp16));
}

Result<ServingKernels> serving_kernels_for(const Accelerator& accelerator) {
  static const Result<Document> document = embedded_document("serving/kernels.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  const bool known = root.has(accelerator.architecture);
  const ServingKernels out =
      read_kernels(root.table(known ? accelerator.architecture : "default", /*required=*/true));
  if (!problems.empty()) return problems;
  return out;
}

// [INFER-1] t = start + max(sequences · keys · cached / (bandwidth · memory),
//                           sequences · queries · keys · heads · 2 · width / (peak · rate)).
// Kernels are split along the keys, so that all units share the work of one long sequence.
// Source: data/serving/kernels.toml. Valid for up to some 100 queries of a sequence.
Seconds cached_attention_time(const CachedAttention& shape, const Accelerator& accelerator,
                              const ServingKernels& kernels) {
  const ServingKernels::Attention& constants = shape.latent ? kernels.latent : kernels.decode;
  return constants.start +
         std::max(traffic_of(shape) / (accelerator.memory_bandwidth * constants.memory),
                  work(shape) / (peak_of_16_bits(accelerator) * constants.rate));
}

// [INFER-32] t = start + passes · 2 · (Q, K, V in 16 bits) / bandwidth + flash attention [KERNEL-2]
// with ceiling = rate, in 8 bits rate · eight. Source: data/serving/kernels.toml. Known error:
// kernels of 64 queries and fewer, where engines differ by more than they share.
Seconds prompt_attention_time(const PromptAttention& attention, const Accelerator& accelerator,
                              const KernelParameters& flash, const ServingKernels& kernels) {
  const ServingKernels::Prompt& prompt = kernels.prompt;
  const double ceiling = prompt.rate * (attention.precision >= Precision::fp8 ? prompt.eight : 1);
  const AttentionShape& shape = attention.shape;
  // Latent heads' keys and values are made by products: what is turned alone enters.
  const std::int64_t turned = shape.head_dim - shape.value_dim;
  const double values =
      static_cast<double>(turned > 0 ? 2 * shape.heads * turned
                                     : shape.heads * shape.head_dim +
                                           shape.kv_heads * (shape.head_dim + shape.value_dim));
  const Bytes entering(2 * static_cast<double>(shape.batch * shape.queries) * values);
  return prompt.start + prompt.passes * 2 * entering / accelerator.memory_bandwidth +
         flash_forward_time(shape, ceiling, attention.precision, accelerator, flash);
}

// [INFER-21] t = start + 2 · sequences · state / (bandwidth · memory): read, and written. Known
// error: priced with the constants of attention over a cache, since no such kernel was measured.
Seconds state_attention_time(std::int64_t sequences, Bytes state, const Accelerator& accelerator,
                             const ServingKernels& kernels) {
  return kernels.decode.start + 2 * static_cast<double>(sequences) * state /
                                    (accelerator.memory_bandwidth * kernels.decode.memory);
}

// [INFER-2] In one step each rank reads what all others have, in two the sum of a part each:
//   once  = start1 + (p - 1) · S / (bandwidth · share1)
//   twice = start2 + 2 · (p - 1)/p · S / (bandwidth · share2)
// Source: data/serving/kernels.toml; kernels of TensorRT-LLM, vLLM and SGLang. Valid within one
// domain of NVLink and the like, up to 8 ranks.
Seconds own_all_reduce_time(Bytes bytes, std::int64_t ranks, BytesPerSecond bandwidth,
                            const ServingKernels& kernels, double slowed) {
  if (ranks <= 1) return Seconds(0);
  const double p = static_cast<double>(ranks);
  const Seconds once =
      slowed * kernels.once_start + (p - 1) * bytes / (bandwidth * kernels.once_share);
  const Seconds twice =
      slowed * kernels.twice_start + 2 * (p - 1) / p * bytes / (bandwidth * kernels.twice_share);
  return std::min(once, twice);
}

}  // namespace headway
