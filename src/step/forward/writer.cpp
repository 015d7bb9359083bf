#include "step/forward/writer.hpp"

namespace headway {
namespace {

/// Launches of one product of a group, over those of an op [FORECAST-9]: a loop in the library,
/// without the framework's part.
constexpr double kGroupedLaunch = 0.1;

/// Of a layer with experts, forward and backward: room at once for what is made a million times.
constexpr std::size_t kMostItems = 192;

// Matrices that decide who does what: in 16 bits whatever the recipe.
bool in_16_bits(Role role) {
  return role == Role::router || role == Role::shared_gate || role == Role::index_weight;
}

}  // namespace

Writer::Writer(const Share& share, BlockKind kind) : share_(share) {
  program_.kind = kind;
  program_.items.reserve(kMostItems);
  program_.kept.reserve(32);
  program_.products.reserve(kMostLinears + 1);
  program_.conjugates.reserve(8);
}

void Writer::push(Op op) {
  op.routed = routed_;
  op.times *= times_;
  op.kernels *= times_;
  program_.items.push_back({.what = op, .pieces = pieces_});
}

std::int32_t Writer::cross(Crossing crossing) {
  crossing.module = module_;
  crossing.count *= times_;
  program_.items.push_back({.what = crossing, .pieces = pieces_});
  return static_cast<std::int32_t>(program_.items.size()) - 1;
}

// [STEP-28] Products are counted from 1 in their order; of joint ones each. Products of a group are
// other operators, and the router's is left out by its name: they run again, uncounted.
std::int64_t Writer::second_columns(const Linear& matrix, std::int64_t split,
                                    const Columns& apart) {
  const std::int64_t part = matrix.split == Split::column ? split : 1;
  if (is_expert(matrix.role) || matrix.role == Role::router) return matrix.out / part;
  std::int64_t second = 0;
  for (const std::int64_t columns : apart.size > 0 ? apart : Columns{{matrix.out}, 1}) {
    if (++counted_ % 2 == 0) second += columns;
  }
  return second / part;
}

void Writer::linear(const Linear& matrix, std::int64_t split, std::int64_t rows,
                    std::int64_t copies, const Input& input) {
  const std::int64_t out = matrix.split == Split::column ? matrix.out / split : matrix.out;
  const std::int64_t in = matrix.split == Split::row ? matrix.in / split : matrix.in;
  const bool quantised = is_layer(program_.kind) && !in_16_bits(matrix.role);
  const double inputs = static_cast<double>(rows * copies) * static_cast<double>(in);
  const double outputs = static_cast<double>(rows * copies) * static_cast<double>(out);
  const Recipe& recipe = *share_.job.recipe;

  program_.products.push_back({.item = static_cast<std::uint32_t>(program_.items.size()),
                               .role = matrix.role,
                               .bias = matrix.bias,
                               .quantised = quantised,
                               .keeps_input = input.kept,
                               .input = input.piece,
                               .entry = input.entry,
                               .second = second_columns(matrix, split, input.apart)});
  // The library issues the products of a group one by one.
  push({.shape = Matmul{rows, out, in, copies},
        .precision = quantised ? recipe.matmul : share_.activation,
        .kernels = copies > 1 ? 1 + kGroupedLaunch * static_cast<double>(copies) : 1});
  if (share_.trains_weights && autocast(share_.job) &&
      !share_.habit.kernels.fused_weight_gradient) {
    // A 16-bit copy of the weight is made, and kept for the backward pass.
    const double weights = static_cast<double>(copies) * static_cast<double>(in * out);
    push({.shape = Pass{weights * (Bytes(4) + share_.element), true}});
    keep(weights * share_.element);
  }
  if (!share_.trains_weights && has_adapters(share_.job, matrix.role)) {
    // Adapters x·A·B beside the matrix: thin products, bound by reading and writing x and y.
    const double thin =
        static_cast<double>(rows * copies) * static_cast<double>(share_.job.lora_rank);
    pass((inputs + 2 * outputs + 2 * thin) * share_.element,
         (2 * inputs + 2 * outputs + 4 * thin) * share_.element, 3);
  }
  const bool fused_casts = routed_ && share_.job.fused_experts;
  if (quantised && !fused_casts && recipe.cast_passes > 0) {
    pass(inputs * Bytes(recipe.cast_passes), outputs * Bytes(recipe.cast_passes));
    std::get<Pass>(std::get<Op>(program_.items.back().what).shape).cast = true;
  }
}

void Writer::attention(const AttentionShape& shape) {
  const bool unfused = share_.job.attention == AttentionKernel::unfused;
  const std::uint8_t around = pieces_;
  pieces_ |= bit(Piece::core);
  // Unfused: scores, scale-mask-softmax, dropout, values; eager: scale, mask, cast, softmax, cast.
  const double softmax = shape.eager ? 5 : 1;
  push({.shape = shape,
        .precision = share_.job.attention_8_bit ? share_.job.recipe->matmul : share_.activation,
        .kernels = unfused ? 2 + softmax + (shape.dropout > 0 ? 1 : 0) : 1.0});
  if (shape.ring > 1) merge_pieces(shape);
  pieces_ = around;
}

// [STEP-3] What a piece of a ring finds is added to what the pieces before it found: the sum is
// read and written, the piece read. Forward the results, backward the gradients of queries, keys
// and values. The ring goes on with its slowest, the rank of the last queries, which adds all rows.
// Source: NVIDIA/TransformerEngine, pytorch/attention/dot_product_attention/context_parallel.py
// (flash_attn_fwd_out_correction, and the sums of dq and dkv).
void Writer::merge_pieces(const AttentionShape& shape) {
  const double merges = static_cast<double>(shape.ring - 1);
  const double tokens = static_cast<double>(shape.batch * shape.queries);
  const double results = static_cast<double>(shape.heads * shape.value_dim);
  const double gradients = static_cast<double>(shape.heads * shape.head_dim +
                                               shape.kv_heads * (shape.head_dim + shape.value_dim));
  const Bytes moved = merges * tokens * 3.0 * share_.element;
  pass(results * moved, gradients * moved, merges);
}

void Writer::pass(Bytes forward, Bytes backward, double kernels) {
  if (frozen_) backward = Bytes(0);
  if (forward <= Bytes(0) && backward <= Bytes(0)) return;
  push({.shape = Pass{forward, !share_.job.fused, backward}, .kernels = kernels});
}

void Writer::keep(Bytes kept, Piece piece) {
  if (kept <= Bytes(0) || frozen_) return;
  const auto items = static_cast<std::uint32_t>(program_.items.size());
  program_.kept.push_back(
      {times_ * kept, static_cast<std::uint8_t>(pieces_ | bit(piece)), items > 0 ? items - 1 : 0});
}

void Writer::module_product(const ModuleProduct& product) {
  const Recipe& recipe = *share_.job.recipe;
  const bool narrow = recipe.matmul >= Precision::fp8;
  const bool quantised = product.quantised || !narrow;
  if (!frozen_) {
    program_.products.push_back({.item = static_cast<std::uint32_t>(program_.items.size()),
                                 .role = Role::of_network,
                                 .quantised = quantised,
                                 .enters = product.enters,
                                 .steps = product.steps});
  }
  push({.shape = product.shape,
        .precision = quantised ? recipe.matmul : share_.activation,
        .kernels = product.steps,
        .times = product.steps});
  if (!narrow || !quantised) return;
  const double rows = static_cast<double>(product.shape.m);
  pass(rows * static_cast<double>(product.shape.k) * Bytes(recipe.cast_passes),
       rows * static_cast<double>(product.shape.n) * Bytes(recipe.cast_passes));
}

Program Writer::finish(Bytes input) {
  program_.input = input;
  program_.forward = program_.items.size();
  return std::move(program_);
}

}  // namespace headway
