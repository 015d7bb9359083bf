// Modules of networks that are no stacks of transformer layers, with the shapes that one sample
// gives them: convolutions, norms, recurrent cells, embedding bags. A model's layers may hold such
// modules in place of attention and feed-forward (docs/workloads.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// y[leaving, out] = windows of x[entering, in], `taps` positions each, times a weight; in `groups`
/// of channels that do not see each other. Transposed: the same with positions exchanged.
struct Convolution {
  std::int64_t in, out;
  std::int64_t taps;
  std::int64_t entering, leaving;  // positions of one sample
  std::int64_t groups = 1;
  bool bias = false;
  bool transposed = false;

  friend bool operator==(const Convolution&, const Convolution&) = default;
};

/// y[rows, out] = x[rows, in] times a weight, `rows` in a sample.
struct Projection {
  std::int64_t in, out;
  std::int64_t rows = 1;
  bool bias = true;

  friend bool operator==(const Projection&, const Projection&) = default;
};

/// A projection of which there are several, `experts`, and each row goes through `active` of them.
struct ExpertProjection {
  std::int64_t in, out;
  std::int64_t rows = 1;
  std::int64_t experts = 1, active = 1;
  bool bias = true;

  friend bool operator==(const ExpertProjection&, const ExpertProjection&) = default;
};

/// Over what a norm takes its mean. frozen: a scale and an offset that are not trained; scale: of a
/// layer, without an offset (RMS, layer norms without bias); plain: of a layer, without both.
enum class NormOver : std::uint8_t { batch, group, layer, frozen, scale, plain };

struct Normalisation {
  NormOver over = NormOver::batch;
  std::int64_t channels;
  std::int64_t positions;

  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

/// A pass over tensors, in elements of one sample that its kernels read and write; `fused`: what is
/// left of that where the kernels before it do the rest.
struct Elementwise {
  double forward, backward;
  double fused_forward, fused_backward;
  double kept = 0;     // elements, for the backward pass
  double kernels = 1;  // launches each way

  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

/// softmax(Q·Kᵀ)·V of one sample.
struct AttentionCore {
  std::int64_t heads, head_dim;
  std::int64_t queries, keys;

  friend bool operator==(const AttentionCore&, const AttentionCore&) = default;
};

/// Steps that wait for each other, each with a product of the hidden state by `gates` matrices;
/// products of what enters, for all steps at once, stand before it as a Projection.
struct Recurrence {
  std::int64_t hidden;
  std::int64_t gates;  // 4: LSTM; 3: GRU; 1: plain
  std::int64_t steps;
  std::int64_t directions = 1;

  friend bool operator==(const Recurrence&, const Recurrence&) = default;
};

/// One table of embeddings: `pooling` of its rows are read and added for each sample.
struct EmbeddingTable {
  std::int64_t rows;
  double pooling = 1;

  friend bool operator==(const EmbeddingTable&, const EmbeddingTable&) = default;
};
struct EmbeddingBags {
  std::vector<EmbeddingTable> tables;
  std::int64_t width;
  std::int64_t value_bytes = 4;  // of one value where it lies

  std::int64_t rows() const;
  double look_ups() const;  // of one sample
  friend bool operator==(const EmbeddingBags&, const EmbeddingBags&) = default;
};

/// A row of a table for each of `positions` of a sample: words. Its gradient is as large as the
/// table, as of other weights.
struct Lookup {
  std::int64_t rows, width;
  std::int64_t positions = 1;

  friend bool operator==(const Lookup&, const Lookup&) = default;
};

/// Values that are trained and no matrix: tables of positions, class tokens, offsets of scores.
struct Values {
  std::int64_t count;

  friend bool operator==(const Values&, const Values&) = default;
};

/// The dot products of all pairs of `features` vectors.
struct DotInteraction {
  std::int64_t features, width;

  friend bool operator==(const DotInteraction&, const DotInteraction&) = default;
};

/// What a sample needs of a graph whose nodes have features, which are read and not trained: of its
/// sampled neighbourhood `rows` nodes, found by `draws` edges.
struct NodeFeatures {
  double nodes, edges;  // of the graph
  double rows, draws;   // of one sample
  std::int64_t width;
  std::int64_t value_bytes = 2;  // of one value where it lies
  double kernels = 1;            // launches that draw

  friend bool operator==(const NodeFeatures&, const NodeFeatures&) = default;
};

using ModuleShape =
    std::variant<Convolution, Projection, Normalisation, Elementwise, AttentionCore, Recurrence,
                 EmbeddingBags, DotInteraction, Lookup, Values, ExpertProjection, NodeFeatures>;

/// The classes of layers that may each be split over ranks in a way of their own. bottom, top: the
/// projections before and behind the tables of embeddings; of a network without tables all are top.
enum class ModuleClass : std::uint8_t {
  other,
  convolution,
  attention,
  feed_forward,
  bottom,
  top,
  interaction,
  tables,
  experts
};
constexpr std::array<std::string_view, 9> kModuleClassNames = {
    "other", "convolution", "attention", "feed-forward", "bottom",
    "top",   "interaction", "tables",    "experts"};

/// Which of two projections one is that ranks may split together, the first by columns, the
/// last by rows: queries, keys and values with what joins their result, two behind each other.
enum class Half : std::uint8_t { alone, first, last };

struct NetworkModule {
  ModuleShape shape;
  std::int64_t repeat = 1;      // as many of the same, one after the other
  bool shares_weights = false;  // with a module before it
  bool frozen = false;          // not trained, as all of its block, and of those before it
  bool reads_sample = false;    // what it reads is the sample's own, which needs no gradient
  ModuleClass of = ModuleClass::other;
  Half half = Half::alone;

  friend bool operator==(const NetworkModule&, const NetworkModule&) = default;
};

/// Values of one module, without its tables of embeddings; those of its tables [MODEL-8].
double module_weights(const NetworkModule& module);
double table_values(const NetworkModule& module);
/// Of one sample forward: two for each multiplication with an addition; of embeddings, norms and
/// passes none [MODEL-8].
Flops module_forward_flops(const NetworkModule& module);

}  // namespace headway
