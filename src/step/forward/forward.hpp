// The forward pass of one micro-batch on a rank's share of each tensor, with crossings where
// tensors pass between ranks: what training, prefill and decoding begin with.
#pragma once

#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

/// BlockKind::prediction: a layer behind three norms and a projection of twice the hidden width.
Program forward_layer(const Share& share, const Layer& layer, BlockKind kind = BlockKind::layer);
Program forward_embedding(const Share& share);
/// A layer of modules [STEP-29], its classes and tables split as the layout has them [STEP-31].
Program forward_modules(const Share& share, const Layer& layer);
Program forward_head(const Share& share);
/// [STEP-26] The parts of both that each stage has where the vocabulary is split over stages:
/// embedding and head are then without them. Prediction modules run the head once more.
Program forward_vocabulary(const Share& share);

/// Values of one norm over the hidden width [MODEL-2].
double norm_parameters(const Model& model);

/// The whole number nearest to the quotient, halves upwards.
constexpr std::int64_t nearest_quotient(std::int64_t of, std::int64_t by) {
  return (2 * of + by) / (2 * by);
}

/// Packed documents that lie in so many tokens of a sequence: as many of equal length as come
/// nearest to their mean.
inline std::int64_t documents_in(std::int64_t tokens, const Job& job) {
  if (job.document <= 0 || job.document >= tokens) return 1;
  return nearest_quotient(tokens, job.document);
}

}  // namespace headway
