// The ends of the network: embedding, and head with its loss.
#include <algorithm>

#include "model/count.hpp"
#include "step/block_builder.hpp"

namespace headway {
namespace {

// Rows of the vocabulary on one rank; some frameworks pad it so that it splits evenly.
double local_vocabulary(const Slice& slice) {
  const std::int64_t tp = slice.layout.tp;
  const std::int64_t unit = (slice.habit.kernels.pads_vocabulary ? 128 : 1) * tp;
  return static_cast<double>((slice.model.vocabulary + unit - 1) / unit * unit / tp);
}

double embedding_width(const Slice& slice) {
  return slice.model.embedding_width > 0 ? static_cast<double>(slice.model.embedding_width)
                                         : slice.hidden;
}

// A narrower embedding is projected to the hidden width and back (OPT-350M), on every rank whole.
void add_projection(BlockBuilder& builder, const Slice& slice, std::int64_t in, std::int64_t out) {
  if (in == out) return;
  builder.linear({Role::feed_forward_up, Split::replicated, in, out, false}, 1, slice.tokens);
}

double projection_parameters(const Slice& slice) {
  const double width = embedding_width(slice);
  return width != slice.hidden ? width * slice.hidden : 0.0;
}

}  // namespace

double norm_parameters(const Model& model) {
  return static_cast<double>(norm_values(model, model.hidden));
}

Block lower_embedding(const Slice& slice) {
  BlockBuilder builder(slice, BlockKind::embedding);
  builder.serve(Module::embedding);
  const double width = embedding_width(slice);
  const double bytes = slice.rows * width * slice.element;
  // Rows gathered and written; backward: gradients read, and added to rows of the table.
  builder.pass(2 * bytes, slice.trains_weights ? 3 * bytes : 0, 2);
  if (slice.dropout > 0) {
    builder.pass(slice.norm_rows * slice.hidden * (2 * slice.element + 1),
                 slice.norm_rows * slice.hidden * (2 * slice.element + 1));
    builder.keep(slice.norm_rows * slice.hidden);
  }
  if (slice.model.embedding_norm) add_norm(builder, slice);
  add_projection(builder, slice, static_cast<std::int64_t>(width), slice.model.hidden);
  // Each rank holds a part of the vocabulary: rows found elsewhere are zero, and the parts are
  // summed.
  add_tensor_parallel_exit(builder, slice);
  builder.keep(slice.rows * 8);  // token ids
  builder.hold({.dense = local_vocabulary(slice) * width +
                         static_cast<double>(slice.model.learned_positions) * slice.hidden +
                         projection_parameters(slice) +
                         (slice.model.embedding_norm ? norm_parameters(slice.model) : 0.0),
                .trained = slice.trains_weights ? 1.0 : 0.0});
  return builder.finish(0);
}

// A classifier's head is small and whole on every rank; without one, the last norm alone.
static Block lower_labels(const Slice& slice, std::int64_t labels) {
  BlockBuilder builder(slice, BlockKind::head);
  if (slice.model.final_norm) add_norm(builder, slice);
  const auto width = static_cast<std::int64_t>(embedding_width(slice));
  add_projection(builder, slice, slice.model.hidden, width);
  const auto columns = static_cast<double>(labels);
  if (labels > 0) {
    builder.linear({Role::router, Split::replicated, width, labels, slice.model.head_bias}, 1,
                   slice.tokens);
    builder.pass(slice.rows * columns * 8, slice.rows * columns * 8, 4);
  }
  builder.hold({.dense = columns * (embedding_width(slice) + (slice.model.head_bias ? 1 : 0)) +
                         projection_parameters(slice) +
                         (slice.model.final_norm ? norm_parameters(slice.model) : 0.0),
                .trained = slice.trains_weights ? 1.0 : 0.0});
  return builder.finish(0);
}

Block lower_head(const Slice& slice) {
  if (slice.model.labels) return lower_labels(slice, *slice.model.labels);
  BlockBuilder builder(slice, BlockKind::head);
  builder.serve(Module::head);
  const std::int64_t tp = slice.layout.tp;
  const double vocabulary = local_vocabulary(slice);
  if (slice.model.final_norm) add_norm(builder, slice);
  add_tensor_parallel_entry(builder, slice);
  const auto width = static_cast<std::int64_t>(embedding_width(slice));
  add_projection(builder, slice, slice.model.hidden, width);
  const Linear head{Role::feed_forward_up, Split::column, width,
                    static_cast<std::int64_t>(vocabulary) * tp, slice.model.head_bias};
  builder.linear(head, tp, slice.tokens);

  const double logits = slice.rows * vocabulary;
  // A metric reads the logits, writes them in fp32, reads those, writes their softmax.
  const double metrics = static_cast<double>(slice.job.loss_metrics) * (slice.element + 4 + 4 + 4);
  // In one kernel: the logits are read forward; read, and their gradient written, backward.
  const bool fused = chosen(slice.job.fused_loss, /*habit=*/false);
  const double forward = fused ? slice.element : slice.habit.kernels.loss_forward;
  const double backward = fused ? 2 * slice.element : slice.habit.kernels.loss_backward;
  builder.pass(logits * (forward + metrics), logits * backward, 4);
  // Logits, their fp32 copy, and softmax or gradient [STEP-7]; alive in one micro-batch only, since
  // its backward pass follows at once.
  builder.work(logits * (fused ? 2 * slice.element : slice.habit.memory.loss));
  if (tp > 1) {  // maximum, sum and target logit of each token over the parts of the vocabulary
    builder.call(CollectiveOp::all_reduce, Group::tp, Phase::forward, slice.rows * 4,
                 HiddenBy::nothing, Precision::fp32, 3);
  }
  // With tied embeddings a rank that also holds the embedding holds its weights once.
  const bool own_weights = !slice.model.tied_embeddings || slice.layout.pp > 1;
  builder.hold({.dense = (own_weights ? vocabulary * embedding_width(slice) : 0.0) +
                         (slice.model.head_bias ? vocabulary : 0.0) + projection_parameters(slice) +
                         (slice.model.final_norm ? norm_parameters(slice.model) : 0.0),
                .trained = slice.trains_weights ? 1.0 : 0.0});
  return builder.finish(0);
}

}  // namespace headway
