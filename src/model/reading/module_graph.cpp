// Modules over the sampled neighbourhood of a graph's node.
#include <cmath>

#include "model/reading/config_fields.hpp"
#include "model/reading/module_reader.hpp"

namespace headway::reading {
namespace {

// Passes of a relation over its edges' scores, one number for each head: the sum of both ends', a
// leaky ReLU, the maximum, the exponential, the sum, the quotient; and of their gradients.
constexpr double kScores = 11, kScoreGradients = 9;
// Launches of a relation each way beside its products: two operations for the scores of either end,
// one for each pass over edges, the weighted sum, the bias, the sum over relations.
constexpr double kLaunches = 13;

std::int64_t whole(double number) {
  return std::llround(number);
}

// What a relation moves in a layer [STEP-32], `width` values a node. Fused: edges are read through
// their nodes' rows and never written.
Elementwise passes_of(const RelationWork& work, double width, double heads) {
  const double nodes = (work.sending + work.receiving) * width;
  const double received = work.receiving * width, edges = work.edges * width;
  const double scores = heads * work.edges;
  const double forward = nodes + kScores * scores + edges + 4 * received;
  const double backward =
      2 * nodes + received + work.sending * width + 3 * edges + kScoreGradients * scores;
  return {.forward = forward + 2 * nodes + 4 * edges,
          .backward = backward + 6 * edges,
          .fused_forward = forward,
          .fused_backward = backward,
          .kept = nodes + 2 * scores,
          .kernels = kLaunches};
}

}  // namespace

// Modules over a graph read a hop each, so that no two of a repeated list would be alike.
bool ModuleReader::stands_once(Fields& module, std::string_view kind) {
  if (block_repeat_ == 1 && repeat_ == 1) return true;
  module.fail(kind, "reads other nodes each time: written for each hop, not repeated");
  return false;
}

// The features of all that the sample reaches, drawn and fetched before the step.
void ModuleReader::fetch(Fields& module) {
  module.flag_or("fetch", true);
  if (!graph_ || graph_->relations.empty()) {
    return module.fail("fetch", "needs the graph that samples are nodes of: [graph]");
  }
  if (!stands_once(module, "fetch")) return;
  if (hops_left_ || !at_.size.empty()) {
    return module.fail("fetch", "stands once, before all other modules, of features without sizes");
  }
  hops_left_ = graph_->fan_out.size();
  push(features_of(*graph_, at_.channels));
  become(module, {at_.channels, {whole(nodes_within(*graph_, *hops_left_))}});
}

// A layer of graph attention for each relation (arXiv 1710.10903, 1904.05811): nodes that send and
// nodes that receive are projected by one matrix, an edge's score is the sum of a product with a
// vector at either end, a node's result the sum of what it receives, weighted by the softmax over
// its edges. Relations that no edge in reach has keep their weights.
void ModuleReader::graph_attention(Fields& module) {
  const std::int64_t width = bounded(module, "graph_attention", kMostHidden);
  const std::int64_t heads = bounded_or(module, "heads", 1, kMostHeads);
  if (!stands_once(module, "graph_attention")) return;
  if (hops_left_.value_or(0) == 0) {
    return module.fail("graph_attention",
                       "needs a 'fetch' before it, and a fan-out for each layer");
  }
  std::size_t& left = *hops_left_;
  if (width == 0 || heads == 0 || width % heads != 0) {
    return module.fail("heads", "must divide the width, " + std::to_string(width));
  }
  const bool first = left == graph_->fan_out.size();
  --left;
  for (const RelationWork& work : layer_of_graph(*graph_, left)) {
    const std::int64_t rows = work.edges > 0 ? whole(work.sending + work.receiving) : 0;
    if (rows > 0) {
      of_ = ModuleClass::top;
      push(Projection{.in = at_.channels, .out = width, .rows = rows, .bias = false});
      out_.back().reads_sample = first;
      of_ = ModuleClass::other;
      push(passes_of(work, static_cast<double>(width), static_cast<double>(heads)));
    }
    push(Values{(rows > 0 ? 0 : at_.channels * width) + 3 * width});
  }
  std::vector<std::int64_t> size;
  if (left > 0) size.push_back(whole(nodes_within(*graph_, left)));
  become(module, {width, std::move(size)});
}

// Nodes of a hop that no layer reads would be fetched for nothing.
std::string ModuleReader::unread_of_graph() const {
  if (!graph_) return {};
  if (!hops_left_) return "is read by modules that begin with { fetch = true }; there are none";
  if (*hops_left_ == 0) return {};
  return "has " + std::to_string(graph_->fan_out.size()) + " fan-outs, of which layers of " +
         "'graph_attention' leave " + std::to_string(*hops_left_) + " unread; legal: one for each";
}

}  // namespace headway::reading
