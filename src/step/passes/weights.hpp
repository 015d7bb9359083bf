// The weight tensors of a block, one by one: what buckets and fetches are made of. Internal to
// src/step.
#pragma once

#include <array>

#include "step/forward/forward.hpp"

namespace headway {

/// Tensors of one size that follow each other, as one rank holds them.
struct TensorRun {
  double elements;
  double count;
};

/// Runs of one block at most: each matrix and its bias, queries, keys and values apart, a norm
/// before each half and those left over, and what else the block holds.
constexpr std::size_t kMostRuns = 2 * (kMostLinears + 2) + 8;

/// In the order of the forward pass.
class TensorRuns {
 public:
  void add(double elements, double count = 1) {
    if (elements > 0 && count > 0) runs_[static_cast<std::size_t>(size_++)] = {elements, count};
  }
  /// The same where the list may be full: what does not fit is counted with the last.
  void add_or_join(double elements, double count);
  double elements() const;
  int size() const { return size_; }
  const TensorRun& operator[](int i) const { return runs_[static_cast<std::size_t>(i)]; }
  TensorRun& operator[](int i) { return runs_[static_cast<std::size_t>(i)]; }
  const TensorRun* begin() const { return runs_.data(); }
  const TensorRun* end() const { return runs_.data() + size_; }

 private:
  int size_ = 0;
  std::array<TensorRun, kMostRuns> runs_;
};

/// The trained tensors of a block, those of routed experts apart [STEP-17]. Their elements are the
/// block's trained parameters.
struct Weights {
  TensorRuns dense, experts;
  double tables = 0;  // values of tables of embeddings that each rank has a copy of
};

/// `layer` is null for embedding, head and vocabulary.
Weights weights_of(const Share& share, const Block& block, const Layer* layer);

/// Those of every block of a step.
std::vector<Weights> weights_of(const Share& share, const std::vector<Block>& blocks);

/// The layer that a block is made of; null for embedding, head and vocabulary.
const Layer* layer_of(const Share& share, const std::vector<Block>& blocks, std::size_t block);

}  // namespace headway
