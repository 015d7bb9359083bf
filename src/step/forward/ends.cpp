// The ends of the network: embedding, and head with its loss.
#include <algorithm>

#include "model/count.hpp"
#include "step/forward/forward.hpp"
#include "step/forward/parts.hpp"

namespace headway {
namespace {

// Ranks over which the vocabulary is split.
std::int64_t vocabulary_ranks(const Share& share) {
  return share.split.tp * share.around.vocabulary_parts;
}

// Rows of the vocabulary on one rank; some frameworks pad it so that it splits evenly.
double local_vocabulary(const Share& share) {
  const std::int64_t ranks = vocabulary_ranks(share);
  const std::int64_t unit = (share.habit.kernels.pads_vocabulary ? 128 : 1) * ranks;
  return static_cast<double>((share.model.vocabulary + unit - 1) / unit * unit / ranks);
}

double embedding_width(const Share& share) {
  return share.model.embedding_width > 0 ? static_cast<double>(share.model.embedding_width)
                                         : share.hidden;
}

// A narrower embedding is projected to the hidden width and back (OPT-350M), on every rank whole.
void add_projection(Writer& writer, const Share& share, std::int64_t in, std::int64_t out) {
  if (in == out) return;
  writer.linear({Role::feed_forward_up, Split::replicated, in, out, false}, 1, share.tokens);
}

double projection_parameters(const Share& share) {
  const double width = embedding_width(share);
  return width != share.hidden ? width * share.hidden : 0.0;
}

}  // namespace

double norm_parameters(const Model& model) {
  return static_cast<double>(norm_values(model, model.hidden));
}

// Rows gathered and written; backward: gradients read, and added to rows of the table. Each rank
// holds a part of the vocabulary: rows found elsewhere are zero, and the parts are summed.
static void add_look_up(Writer& writer, const Share& share) {
  const Bytes bytes = share.rows * embedding_width(share) * share.element;
  writer.pass(2 * bytes, share.trains_weights ? 3 * bytes : Bytes(0), 2);
}

Program forward_embedding(const Share& share) {
  Writer writer(share, BlockKind::embedding);
  writer.serve(Module::embedding);
  const bool has_table = !share.around.splits_vocabulary();
  const double width = embedding_width(share);
  if (has_table) add_look_up(writer, share);
  if (share.dropout > 0) {
    writer.pass(share.norm_rows * share.hidden * (2 * share.element + Bytes(1)),
                share.norm_rows * share.hidden * (2 * share.element + Bytes(1)));
    writer.keep(share.norm_rows * share.hidden * Bytes(1));
  }
  if (share.model.embedding_norm) add_norm(writer, share);
  add_projection(writer, share, static_cast<std::int64_t>(width), share.model.hidden);
  if (has_table) {
    writer.cross(Seam::exit, whole(share));
    writer.keep(share.rows * Bytes(8));  // token ids
  }
  writer.hold({.dense = (has_table ? local_vocabulary(share) * width : 0.0) +
                        static_cast<double>(share.model.learned_positions) * share.hidden +
                        projection_parameters(share) +
                        (share.model.embedding_norm ? norm_parameters(share.model) : 0.0),
               .trained = share.trains_weights ? 1.0 : 0.0});
  return writer.finish(Bytes(0));
}

// A classifier's head is small and whole on every rank; without one, the last norm alone.
static Program forward_labels(const Share& share, std::int64_t labels) {
  Writer writer(share, BlockKind::head);
  if (share.model.final_norm) add_norm(writer, share);
  const auto width = static_cast<std::int64_t>(embedding_width(share));
  add_projection(writer, share, share.model.hidden, width);
  const auto columns = static_cast<double>(labels);
  if (labels > 0) {
    writer.linear({Role::router, Split::replicated, width, labels, share.model.head_bias}, 1,
                  share.tokens);
    writer.pass(share.rows * columns * Bytes(8), share.rows * columns * Bytes(8), 4);
  }
  writer.hold({.dense = columns * (embedding_width(share) + (share.model.head_bias ? 1 : 0)) +
                        projection_parameters(share) +
                        (share.model.final_norm ? norm_parameters(share.model) : 0.0),
               .trained = share.trains_weights ? 1.0 : 0.0});
  return writer.finish(Bytes(0));
}

// The norm before the head.
static double final_norm_parameters(const Share& share) {
  return share.model.final_norm ? norm_parameters(share.model) : 0.0;
}

// Logits of a rank's part of the vocabulary, and the loss. What is live of them is returned.
static Bytes add_logits(Writer& writer, const Share& share) {
  const std::int64_t ranks = vocabulary_ranks(share);
  const double vocabulary = local_vocabulary(share);
  const std::int32_t entry = writer.cross(Seam::entry, whole(share));
  const auto width = static_cast<std::int64_t>(embedding_width(share));
  add_projection(writer, share, share.model.hidden, width);
  const Linear head{Role::feed_forward_up, Split::column, width,
                    static_cast<std::int64_t>(vocabulary) * ranks, share.model.head_bias};
  writer.linear(head, ranks, share.tokens, {.entry = entry});

  const double logits = share.rows * vocabulary;
  // A metric reads the logits, writes them in fp32, reads those, writes their softmax.
  const Bytes metrics = static_cast<double>(share.job.loss_metrics) * (share.element + Bytes(12));
  // In one kernel: the logits are read forward; read, and their gradient written, backward.
  const bool fused = chosen(share.job.fused_loss, /*habit=*/false);
  const Bytes forward = fused ? share.element : Bytes(share.habit.kernels.loss_forward);
  const Bytes backward = fused ? 2 * share.element : Bytes(share.habit.kernels.loss_backward);
  writer.pass(logits * (forward + metrics), logits * backward, 4);
  writer.cross(Seam::vocabulary, share.rows * Bytes(4));
  // Logits, their fp32 copy, and softmax or gradient [STEP-7]; alive in one micro-batch only, since
  // its backward pass follows at once.
  return logits * (fused ? 2 * share.element : Bytes(share.habit.memory.loss));
}

Program forward_head(const Share& share) {
  if (share.model.labels) return forward_labels(share, *share.model.labels);
  Writer writer(share, BlockKind::head);
  writer.serve(Module::head);
  if (share.model.final_norm) add_norm(writer, share);
  const double trained = share.trains_weights ? 1.0 : 0.0;
  if (share.around.splits_vocabulary()) {
    writer.hold({.dense = final_norm_parameters(share), .trained = trained});
    return writer.finish(Bytes(0));
  }
  writer.work(add_logits(writer, share));
  const double vocabulary = local_vocabulary(share);
  // With tied embeddings a rank that also holds the embedding holds its weights once.
  const bool own_weights = !share.model.tied_embeddings || !share.around.one_stage;
  writer.hold({.dense = (own_weights ? vocabulary * embedding_width(share) : 0.0) +
                        (share.model.head_bias ? vocabulary : 0.0) + projection_parameters(share) +
                        final_norm_parameters(share),
               .trained = trained});
  return writer.finish(Bytes(0));
}

// [STEP-26]
Program forward_vocabulary(const Share& share) {
  Writer writer(share, BlockKind::vocabulary);
  // Between stages passes what each tensor rank has of an activation.
  const double tensor_ranks = static_cast<double>(share.sequence_parallel ? share.split.tp : 1);
  const Bytes between = whole(share) / tensor_ranks;
  writer.serve(Module::embedding);
  add_look_up(writer, share);
  writer.cross(Seam::exit, whole(share));
  writer.cross(Seam::to_stage, between);
  writer.keep(share.rows * Bytes(8));  // token ids

  writer.serve(Module::head);
  for (std::int64_t head = 0; head <= share.model.prediction_layers; ++head) {
    writer.cross(Seam::from_stage, between);
    writer.work(add_logits(writer, share));
    writer.cross(Seam::stages, share.rows * Bytes(4));
  }
  // Tied, the same rows serve both.
  const double vocabulary = local_vocabulary(share);
  const double table = vocabulary * share.hidden;
  const double dense =
      (share.model.tied_embeddings ? 1 : 2) * table + (share.model.head_bias ? vocabulary : 0.0);
  writer.hold(
      {.dense = dense, .trained = share.trains_weights ? 1.0 : 0.0, .embedding = table / dense});
  return writer.finish(Bytes(0));
}

}  // namespace headway
