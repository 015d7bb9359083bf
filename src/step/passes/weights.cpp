#include "step/passes/weights.hpp"

#include <algorithm>

#include "model/count.hpp"
#include "model/linear.hpp"

namespace headway {
namespace {

void add_norms(TensorRuns& out, const Model& model, double norms) {
  const std::int64_t vectors = norm_values(model, 1);
  out.add(static_cast<double>(model.hidden), norms * static_cast<double>(vectors));
}

// Adds `copies` of the part of a matrix that maps to `columns` of its outputs.
void add_matrix(TensorRuns& out, const Linear& matrix, std::int64_t columns, double ranks,
                double copies) {
  const double width = static_cast<double>(columns);
  const double share = matrix.split == Split::replicated ? 1.0 : ranks;
  out.add(static_cast<double>(matrix.in) * width / share, copies);
  // Biases of row-split matrices are added after the sum over the group: every rank holds them.
  const bool split_bias = matrix.split == Split::column || is_expert(matrix.role);
  if (matrix.bias) out.add(width / (split_bias ? share : 1.0), copies);
}

bool enters_feed_forward(Role role) {
  return role == Role::feed_forward_up || role == Role::router || role == Role::expert_up;
}

bool is_up(Role role) {
  return role == Role::feed_forward_up || role == Role::expert_up || role == Role::shared_up;
}

void add_layer(Weights& out, const Share& share, const Layer& layer) {
  const LayerSplit& split = share.split;
  const bool apart = keeps_apart(share, layer);
  double norms = static_cast<double>(layer.norms);
  const auto add_norm = [&] {
    if (norms <= 0) return;
    add_norms(out.dense, share.model, 1);
    norms -= 1;
  };
  for (const NetworkModule& module : layer.modules) {
    if (!module.frozen && share.split.of(module.of) != Strategy::usual) continue;
    const double repeat = static_cast<double>(module.repeat);
    out.dense.add_or_join(module_weights(module) / repeat, repeat);
  }
  if (!layer.modules.empty()) return;
  bool entered = layer.parallel;
  if (layer.attention || layer.parallel) add_norm();
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (!entered && enters_feed_forward(matrix.role)) {
      entered = true;
      add_norm();
    }
    const bool expert = is_expert(matrix.role);
    TensorRuns& runs = expert ? out.experts : out.dense;
    const double copies =
        expert ? static_cast<double>(layer.experts->count) / static_cast<double>(split.ep) : 1.0;
    const double ranks = static_cast<double>(expert ? split.etp : split.tp);
    if (apart && matrix.role == Role::query_key_value && !layer.attention->linear) {
      for (const std::int64_t columns : columns_apart(*layer.attention)) {
        add_matrix(runs, matrix, columns, ranks, 1);
      }
    } else if (apart && is_up(matrix.role)) {
      add_matrix(runs, matrix, matrix.out / 2, ranks, 2 * copies);
    } else {
      add_matrix(runs, matrix, matrix.out, ranks, copies);
    }
  }
  add_norms(out.dense, share.model, norms);
}

}  // namespace

void TensorRuns::add_or_join(double elements, double count) {
  if (size_ + 1 < static_cast<int>(kMostRuns)) return add(elements, count);
  if (!(elements > 0)) return;
  if (size_ + 1 == static_cast<int>(kMostRuns)) return add(elements * count, 1);
  runs_[static_cast<std::size_t>(size_ - 1)].elements += elements * count;
}

double TensorRuns::elements() const {
  double sum = 0;
  for (const TensorRun& run : *this) sum += run.elements * run.count;
  return sum;
}

const Layer* layer_of(const Share& share, const std::vector<Block>& blocks, std::size_t block) {
  if (block < share.model.kinds.size()) return &share.model.kinds[block];
  return blocks[block].kind == BlockKind::prediction ? &share.model.kinds.back() : nullptr;
}

Weights weights_of(const Share& share, const Block& block, const Layer* layer) {
  Weights out;
  const Model& model = share.model;
  const double hidden = share.hidden;
  // What a block holds besides the tensors listed here stands where it belongs: the tables of
  // embedding and head, small vectors of attention, the projection of a prediction module.
  if (layer != nullptr) {
    add_layer(out, share, *layer);
    if (block.kind == BlockKind::prediction) add_norms(out.dense, model, 3);
    const double rest = block.held.dense - out.dense.elements();
    if (!layer->modules.empty()) {
      out.tables = std::max(0.0, rest);
    } else if (rest > 0.5) {
      out.dense.add(rest);
    }
  } else if (block.kind == BlockKind::embedding) {
    TensorRuns behind;
    behind.add(static_cast<double>(model.learned_positions) * hidden);
    if (model.embedding_norm) add_norms(behind, model, 1);
    out.dense.add(block.held.dense - behind.elements());
    for (const TensorRun& run : behind) out.dense.add(run.elements, run.count);
  } else if (block.kind == BlockKind::vocabulary) {
    const double table = block.held.dense * block.held.embedding;
    out.dense.add(table);
    out.dense.add(block.held.dense - table);
  } else {
    if (model.final_norm) add_norms(out.dense, model, 1);
    out.dense.add(block.held.dense - out.dense.elements());
  }
  if (block.held.trained <= 0) out.tables = 0;
  if (block.held.trained < 1) {  // adapters: in proportion to the matrices beside which they stand
    for (TensorRuns* runs : {&out.dense, &out.experts}) {
      if (block.held.trained <= 0) *runs = TensorRuns();
      for (int i = 0; i < runs->size(); ++i) (*runs)[i].elements *= block.held.trained;
    }
  }
  return out;
}

std::vector<Weights> weights_of(const Share& share, const std::vector<Block>& blocks) {
  std::vector<Weights> out;
  out.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    out.push_back(weights_of(share, blocks[i], layer_of(share, blocks, i)));
  }
  return out;
}

}  // namespace headway
