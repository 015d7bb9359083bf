#include "step/program/op.hpp"

namespace headway {
namespace {

double operations(const Matmul& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

// One of the products of attention, Q·Kᵀ or softmax·V, for each head.
double operations(const AttentionShape& a, Phase phase, AttentionFlops convention) {
  // A rank of a context-parallel ring holds early and late queries, so that its mean number of keys
  // is that of the whole sequence.
  const double keys = mean_keys(a.keys, a.window, a.causal ? convention : AttentionFlops::full);
  const double scores = static_cast<double>(a.batch) * static_cast<double>(a.heads) *
                        static_cast<double>(a.queries) * keys;
  const double dim = static_cast<double>(a.head_dim);
  const double value = static_cast<double>(a.value_dim);
  // Forward: scores, values. Backward: scores again, dV and dP over the value width, dQ and dK.
  return phase == Phase::backward ? scores * 2 * (3 * dim + 2 * value) : scores * 2 * (dim + value);
}

}  // namespace

Flops work(const Op& op, AttentionFlops convention) {
  if (const auto* product = std::get_if<Matmul>(&op.shape))
    return Flops(op.times * operations(*product));
  if (const auto* attention = std::get_if<AttentionShape>(&op.shape)) {
    return Flops(op.times * operations(*attention, op.phase, convention));
  }
  return Flops(0);
}

}  // namespace headway
