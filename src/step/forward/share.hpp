// A rank's share of one micro-batch: the sizes from which every op, call and byte of a block
// follows.
#pragma once

#include <algorithm>

#include "model/linear.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {

/// What of the rest of a layout a block hangs on.
struct Around {
  bool one_stage = true;              // embedding and head stand on one rank
  bool shards_weights = false;        // gathered for each block, their gradients scattered
  std::int64_t vocabulary_parts = 1;  // stages over which embedding and head are split
  std::int64_t replicas = 1;          // dp, where classes of a network have strategies of their own
  bool splits_vocabulary() const { return vocabulary_parts > 1; }
  friend bool operator==(const Around&, const Around&) = default;
};
Around around(const Job& job, const Layout& layout);

struct Share {
  Share(const Model& model, const Job& job, const LayerSplit& split, Around around);
  Share(const Model& model, const Job& job, const Layout& layout)
      : Share(model, job, layout, headway::around(job, layout)) {}

  const Model& model;
  const Job& job;
  const LayerSplit& split;
  Around around;
  const Habits& habit;
  std::int64_t tokens;  // rows of the products: micro-batch · sequence / cp
  double rows;          // the same as a double
  double norm_rows;     // rows of norms and residual: divided by tp where sequence parallel
  double input_rows;    // kept of what enters a layer's column-split products
  double hidden;
  Bytes element;           // of an activation element
  Bytes residual;          // the same of the residual and of what norms read and write
  Bytes saved_input;       // of an element of a product's input kept for the backward pass
  double dropout;          // probability
  bool sequence_parallel;  // with tp > 1
  bool trains_weights;     // false: frozen (LoRA)
  Precision activation;
};

/// Whether queries, keys and values, and gate and up, are tensors of their own, as in code of the
/// Llama kind, unless the framework joins them.
inline bool keeps_apart(const Share& share, const Layer& layer) {
  if (!layer.experts && !layer.feed_forward) return false;
  const FeedForward& part = layer.experts ? layer.experts->each : *layer.feed_forward;
  return !share.habit.kernels.joined_weights && part.gated;
}

/// Whether frozen weights of this role carry adapters.
inline bool has_adapters(const Job& job, Role role) {
  if (job.adapters == Adapters::all) return true;
  return role == Role::query_key_value || role == Role::query_up || role == Role::key_value_up;
}

/// Bytes kept of an element of what enters a product in a layer, for the gradient of what is
/// trained there: of a weight in the recipe's format, of adapters in 16 bit, of a frozen weight
/// nothing.
inline Bytes kept_input(const Share& share, Role role) {
  if (share.trains_weights) return std::min(share.saved_input, share.element);
  return has_adapters(share.job, role) ? share.element : Bytes(0);
}

}  // namespace headway
