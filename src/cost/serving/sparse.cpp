#include "cost/serving/sparse.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

SparseKernels read_sparse(Fields fields) {
  SparseKernels out;
  out.prompt_rate = fields.number("prompt_rate");
  out.decode_rate = fields.number("decode_rate");
  out.heads = fields.natural("heads");
  out.measured = fields.text("kind") != "estimated";
  for (const char* said : {"source", "date"}) fields.text(said);
  fields.reject_unknown();
  return out;
}

// The sum over the first `queries` of a sequence of the keys that each keeps: 1, 2, ... most, most.
double kept_from_start(double queries, double most) {
  const double rising = std::min(queries, most);
  return rising * (rising + 1) / 2 + (queries - rising) * most;
}

}  // namespace

double SparseWork::kept(std::int64_t most) const {
  const auto first = static_cast<double>(before), last = static_cast<double>(before + queries);
  const auto limit = static_cast<double>(most);
  return static_cast<double>(sequences) *
         (kept_from_start(last, limit) - kept_from_start(first, limit));
}

double SparseWork::scored() const {
  return kept(before + queries);
}

Result<SparseKernels> sparse_kernels_for(const Accelerator& accelerator) {
  static const Result<Document> document = embedded_document("serving/sparse.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields root(*document, problems);
  const bool known = root.has(accelerator.architecture);
  const SparseKernels out =
      read_sparse(root.table(known ? accelerator.architecture : "default", /*required=*/true));
  if (!problems.empty()) return problems;
  return out;
}

Bytes index_bytes_of_token(const KeyIndexer& indexer) {
  return Bytes(static_cast<double>(indexer.head_dim) + 4);
}

Flops work(const SparseWork& shape, const KeyIndexer& indexer) {
  return Flops(2 * static_cast<double>(indexer.heads * indexer.head_dim) * shape.scored());
}

// Keys once a sequence; scores of 32 bits are written, and read by who chooses.
Bytes traffic_of(const SparseWork& shape, const KeyIndexer& indexer) {
  return static_cast<double>(shape.sequences * (shape.before + shape.queries)) *
             index_bytes_of_token(indexer) +
         Bytes(8 * shape.scored());
}

// [INFER-26] Two kernels: t = 2·start + max(n·c·(w + 4)/(bandwidth·memory),
//   2·heads·w·pairs/(8-bit peak·rate)) + 8·pairs/(bandwidth·memory). Accelerators without 8 bits
// compute in 16. Source: DeepSeek-V3.2 (arXiv 2512.02556), DeepGEMM's fp8_mqa_logits. Known error:
// the rate is that of another kernel (data/serving/sparse.toml).
Seconds index_time(const SparseWork& shape, const KeyIndexer& indexer,
                   const Accelerator& accelerator, const KernelParameters& kernels,
                   const ServingKernels& serving, const SparseKernels& sparse) {
  const BytesPerSecond bandwidth = accelerator.memory_bandwidth * serving.latent.memory;
  const FlopsPerSecond peak =
      std::max(accelerator.peak_of(Precision::fp8), peak_of_16_bits(accelerator));
  const Bytes scores(8 * shape.scored());
  const Bytes keys = traffic_of(shape, indexer) - scores;
  return 2 * kernels.shortest_kernel +
         std::max(keys / bandwidth, work(shape, indexer) / (peak * sparse.prompt_rate)) +
         scores / bandwidth;
}

Flops work(const SparseWork& shape, const ChosenKeys& chosen) {
  return Flops(2 * static_cast<double>(chosen.heads * chosen.width) * shape.kept(chosen.keep));
}

// Each query reads keys of its own.
Bytes traffic_of(const SparseWork& shape, const ChosenKeys& chosen) {
  return shape.kept(chosen.keep) * chosen.key_bytes;
}

// [INFER-26] t = start + max(pairs·K/(bandwidth·memory), 2·heads·width·pairs/(16-bit peak·rate)),
// heads padded to what kernels take at a time. Keys that queries of a prompt choose lie in the
// cache of the chip: its side of memory is of decoded tokens alone.
Seconds chosen_time(const SparseWork& shape, const ChosenKeys& chosen,
                    const Accelerator& accelerator, const ServingKernels& serving,
                    const SparseKernels& sparse) {
  ChosenKeys padded = chosen;
  padded.heads = (chosen.heads + sparse.heads - 1) / sparse.heads * sparse.heads;
  const double rate = shape.prompt ? sparse.prompt_rate : sparse.decode_rate;
  const Seconds products = work(shape, padded) / (peak_of_16_bits(accelerator) * rate);
  const BytesPerSecond bandwidth = accelerator.memory_bandwidth * serving.latent.memory;
  const Bytes read = shape.prompt ? Bytes(0) : traffic_of(shape, chosen);
  return serving.latent.start + std::max(read / bandwidth, products);
}

}  // namespace headway
