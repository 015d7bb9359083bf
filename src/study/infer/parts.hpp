// What passes and memory both ask of a serving. Internal to src/study/infer.
#pragma once

#include <vector>

#include "step/forward/forward.hpp"
#include "study/infer/serving.hpp"

namespace headway {

/// One sequence of `tokens` in the words of training.
Job serving_job(const Serving& serving, std::int64_t tokens);

/// How many layers there are of each kind.
std::vector<double> layers_of_kinds(const Model& model);

/// What one token leaves in the cache of a layer, in values, on one rank [INFER-4].
double cached_values(const Attention& attention, std::int64_t tp);
/// The same in bytes, with the keys of an indexer.
Bytes cached_bytes(const Serving& serving, const Attention& attention);
/// Whether an indexer chooses what its attention reads.
bool chooses_keys(const Model& model);
/// What a sequence leaves in a layer of linear attention, on one rank [INFER-21].
Bytes state_of(const Attention& attention, std::int64_t tp);

/// Tokens spread over experts as serving does, before tensors are split; `quantised`: bytes that
/// move to quantise an element [INFER-36].
void spread_experts(Program& program, const Share& share, const Experts& experts,
                    const Routing& routing, double quantised);
/// What routed tokens are multiplied in.
struct RoutedFormat {
  Precision precision{};
  Scaling scaling{};
  bool sorted = false;  // ExpertProducts::sorted
};
RoutedFormat routed_format(const Serving& serving);
/// The down projections of latent attention made one product, where there are two.
void join_projections(Program& program);

/// Dense products in which an op of a pass multiplies, and which constants hold for them; of a
/// layer's weights it may be that of the format in which they are stored.
struct Arithmetic {
  FlopsPerSecond peak;
  ProductFormat format;
};
Arithmetic arithmetic_of(const Serving& serving, const ServingConstants& constants, const Op& op,
                         bool of_layer);

/// Whether a layer's weights, of its routed experts or others, lie in the format.
bool is_stored(const WeightFormat& format, const Model& model, bool routed);
/// Bytes of an element of a layer's weights, with their scales.
double weight_bytes(const Serving& serving, bool routed);

}  // namespace headway
