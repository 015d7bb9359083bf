// Gathers the ops, calls and bytes of one block while it is lowered. Internal to src/step.
#pragma once

#include "model/linear.hpp"
#include "step/frameworks/habits.hpp"
#include "step/step.hpp"

namespace headway {

/// Launches of one product of a group, over those of an op [FORECAST-9]: a loop in the library,
/// without the framework's part.
constexpr double kGroupedLaunch = 0.1;

/// Whether frozen weights of this role carry adapters.
inline bool has_adapters(const Job& job, Role role) {
  if (job.adapters == Adapters::all) return true;
  return role == Role::query_key_value || role == Role::query_up || role == Role::key_value_up;
}

/// The sizes of one micro-batch on one rank, from which every op, call and byte follows.
struct Slice {
  Slice(const Model& model, const Job& job, const Layout& layout);

  const Model& model;
  const Job& job;
  const Layout& layout;
  const Habits& habit;
  std::int64_t tokens;  // rows of the products: micro-batch · sequence / cp
  double rows;          // the same as a double
  double norm_rows;     // rows of norms and residual: divided by tp where sequence parallel
  double input_rows;    // kept of what enters a layer's column-split products
  double hidden;
  double element;          // bytes of an activation element
  double residual;         // the same of the residual and of what norms read and write
  double dropout;          // probability
  bool sequence_parallel;  // with tp > 1
  bool trains_weights;     // false: frozen (LoRA)
  Precision activation;
};

class BlockBuilder {
 public:
  BlockBuilder(const Slice& slice, BlockKind kind);

  /// Forward and backward products of a weight matrix, `share` of it on this rank along the split,
  /// `copies` at once (grouped experts), with `rows` tokens each. Its input is kept for the weight
  /// gradient unless another consumer keeps it (`keep_input`); `input` is the piece of the layer
  /// that produced it.
  void linear(const Linear& matrix, std::int64_t split, std::int64_t rows, std::int64_t copies = 1,
              bool keep_input = true, Piece input = Piece::other);

  void attention(const AttentionShape& shape);

  /// Memory-bound passes: bytes read and written forward and backward, in `kernels` launches each.
  void pass(double forward_bytes, double backward_bytes, double kernels = 1);

  void call(CollectiveOp op, Group group, Phase phase, double bytes, HiddenBy hidden_by,
            Precision dtype, double count = 1, double choices = 1);

  /// Activations kept for the backward pass, unless the piece that produced them runs again.
  void keep(double bytes, Piece piece = Piece::other);

  /// What follows belongs to a kind of layer; to a piece of the layer; to routed experts.
  void serve(Module module) { module_ = module; }
  void enter(Piece piece) { piece_ = piece; }
  void enter_routed(bool routed) { routed_ = routed; }
  /// Whether selective recomputation computes the piece again.
  bool recomputes(Piece piece) const;
  /// Alive only while the block runs.
  void work(double bytes) { block_.working += Bytes(bytes); }

  void hold(HeldParameters held) { block_.held = held; }

  /// Closes the block: applies the layout's recomputation; `input_bytes` is what full recomputation
  /// keeps.
  Block finish(double input_bytes);

 private:
  void push(Op op);
  void weight_passes(const Linear& matrix, double weights, double gradients_out);

  const Slice& slice_;
  Block block_;
  Piece piece_ = Piece::other;
  Module module_ = Module::other;
  bool routed_ = false;
  double kept_ = 0;
  double dropped_ = 0;
};

/// Packed documents that lie in so many tokens of a sequence: as many of equal length as come
/// nearest to their mean.
inline std::int64_t documents_in(std::int64_t tokens, const Job& job) {
  if (job.document <= 0 || job.document >= tokens) return 1;
  return (2 * tokens + job.document) / (2 * job.document);
}

// The parts of a layer; each adds ops, calls and bytes.
void add_norm(BlockBuilder& builder, const Slice& slice);
void add_residual(BlockBuilder& builder, const Slice& slice);
void add_attention(BlockBuilder& builder, const Slice& slice, const Layer& layer);
void add_linear_attention(BlockBuilder& builder, const Slice& slice, const Layer& layer);
/// A result of so many bytes multiplied by a gate as wide.
void add_gate(BlockBuilder& builder, const Slice& slice, double bytes);
void add_feed_forward(BlockBuilder& builder, const Slice& slice, const Layer& layer);
void add_experts(BlockBuilder& builder, const Slice& slice, const Layer& layer);

/// Tensor parallelism: what enters a column-split matrix must be whole, what leaves a row-split one
/// must be summed, forward and backward.
void add_tensor_parallel_entry(BlockBuilder& builder, const Slice& slice);
void add_tensor_parallel_exit(BlockBuilder& builder, const Slice& slice);

void add_context_parallel(BlockBuilder& builder, const Slice& slice, const Attention& attention);

/// Values of one norm over the hidden width [MODEL-2].
double norm_parameters(const Model& model);

Block lower_layer(const Slice& slice, const Layer& layer, BlockKind kind);
Block lower_embedding(const Slice& slice);
Block lower_head(const Slice& slice);

/// Activations that go to the host after the forward pass and come back before the backward pass,
/// weights (this rank's shards) that come from it for either.
void add_offload(Block& block, const Slice& slice);
/// Once a step: the optimiser's passes and products.
void add_optimizer(StageClass& stage, const Slice& slice, const std::vector<Block>& blocks);

/// Micro-batches whose activations a stage holds at its peak, in units of the stage's layers.
double in_flight(const Layout& layout, std::int64_t stage, std::int64_t micro_batches);

}  // namespace headway
