// Seconds of attention over chosen keys: the scores by which an indexer chooses them, and latent
// attention over those. Formulas: docs/models/infer.md [INFER-26].
#pragma once

#include "cost/kernels/kernels.hpp"
#include "cost/serving/serving.hpp"
#include "model/model.hpp"

namespace headway {

/// Constants of one architecture; rates are shares of the 16-bit peak.
struct SparseKernels {
  double prompt_rate = 1, decode_rate = 1;
  std::int64_t heads = 1;  // those of a rank are padded to a multiple of so many
  bool measured = true;
};

/// From data/serving/sparse.toml, by the architecture; `default` where it has no entry.
Result<SparseKernels> sparse_kernels_for(const Accelerator& accelerator);

/// Queries of `sequences`, each of them behind `before` others.
struct SparseWork {
  std::int64_t sequences = 1;
  std::int64_t queries = 1;  // of each
  std::int64_t before = 0;
  bool prompt = false;  // else decoded, or guesses that are checked

  /// Pairs of a query and a key that it may see, itself among them; and of one that it keeps.
  double scored() const;
  double kept(std::int64_t most) const;
};

/// What a token leaves in an indexer's cache: a key in 8 bits and its scale in 32.
Bytes index_bytes_of_token(const KeyIndexer& indexer);

/// [INFER-26] Scores of all keys, and the choice of the highest.
Flops work(const SparseWork& shape, const KeyIndexer& indexer);
Bytes traffic_of(const SparseWork& shape, const KeyIndexer& indexer);
Seconds index_time(const SparseWork& shape, const KeyIndexer& indexer,
                   const Accelerator& accelerator, const KernelParameters& kernels,
                   const ServingKernels& serving, const SparseKernels& sparse);

/// [INFER-26] Latent attention of `heads` of a rank over the keys that are kept, each of
/// `key_bytes`; `width` of a query and a result together.
struct ChosenKeys {
  std::int64_t heads = 0, width = 0, keep = 0;
  Bytes key_bytes;
};
Flops work(const SparseWork& shape, const ChosenKeys& chosen);
Bytes traffic_of(const SparseWork& shape, const ChosenKeys& chosen);
Seconds chosen_time(const SparseWork& shape, const ChosenKeys& chosen,
                    const Accelerator& accelerator, const ServingKernels& serving,
                    const SparseKernels& sparse);

}  // namespace headway
