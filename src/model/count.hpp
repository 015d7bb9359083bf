// Parameters and model FLOPs, exactly, from the shapes.
#pragma once

#include <cstdint>

#include "base/quantity.hpp"
#include "model/model.hpp"

namespace headway {

/// Whether some layer has routed experts.
bool has_experts(const Model& model);
std::int64_t layers_with_experts(const Model& model);

/// Whether some layer has tables of embeddings that ranks may share; or features of the nodes of a
/// graph, which ranks share in one way.
bool has_tables(const Model& model);
bool has_node_features(const Model& model);
/// Whether a network has modules with weights of a class.
bool has_class(const Model& model, ModuleClass of);

/// Of a network of modules the first product that is trained, which reads what needs no gradient;
/// null where it stands several times, or something else reads it.
const NetworkModule* first_trained_product(const Model& model);

/// Parameters of one layer by where tensor and expert parallelism put them.
struct LayerParameters {
  std::int64_t split = 0;       // matrices that tensor parallelism divides, and the biases of those
                                // that it divides by columns
  std::int64_t replicated = 0;  // norms, routers, biases of row-split matrices (they are added
                                // after the sum over the group) and what else each rank holds whole
  std::int64_t experts = 0;     // all routed experts together
  std::int64_t total() const { return split + replicated + experts; }
};

/// Channels over which the convolution of linear attention runs: queries, keys and values; of the
/// selective form values alone.
std::int64_t convolved_channels(const Attention& attention);

/// Values in one norm over `width` channels: weights, and a bias for layer norms that have one.
std::int64_t norm_values(const Model& model, std::int64_t width);

/// The parameters of one layer: its matrices and biases, its norms over the hidden width
/// (weight, and bias where the norm has one), and the small vectors of its attention [MODEL-2].
LayerParameters layer_parameters(const Model& model, const Layer& layer);

/// Parameters of the whole model [MODEL-2].
struct Parameters {
  std::int64_t embedding = 0;  // token and position tables, and projections to and from a
                               // narrower embedding (OPT-350M)
  std::int64_t layers = 0;
  std::int64_t head = 0;        // 0 where tied
  std::int64_t other = 0;       // final and embedding norms
  std::int64_t prediction = 0;  // multi-token prediction modules; not part of total
  std::int64_t active = 0;      // those that one token passes (MoE), of total
  std::int64_t total = 0;       // embedding + layers + head + other
};

Parameters parameters(const Model& model);

/// How attention scores count in model FLOPs: in full (the convention of PaLM, nanoGPT and most
/// tables), or only the causal half that flash kernels compute.
enum class AttentionFlops { full, causal };

/// Forward model FLOPs of one sequence of `sequence` tokens through the whole model [MODEL-3]:
/// 2·in·out a token for each matrix it passes (of routed experts: the active ones), plus
/// 2·(head_dim + value_dim)·heads a token and key [MODEL-4] (of linear attention a number a token
/// that does not grow with the sequence [MODEL-6]), plus the head, 2·hidden·vocabulary a token.
/// Training costs three times this (backward = two products for each of the forward). Multi-token
/// prediction modules are included: each is a layer, a 2h→h projection and the head. Not counted:
/// embedding look-ups, norms, softmax, activations, rotary positions (below 1 %).
Flops forward_flops(const Model& model, std::int64_t sequence, AttentionFlops convention);

/// Of a network of modules forward and backward, one sample [MODEL-8]: three times the forward
/// pass, but what is frozen runs forward alone, and the first product that is trained has no
/// gradient of its input.
Flops network_training_flops(const Model& model);

/// The head's part of that, once.
Flops head_forward_flops(const Model& model, std::int64_t sequence);

/// The same for one layer.
Flops layer_forward_flops(const Model& model, const Layer& layer, std::int64_t sequence,
                          AttentionFlops convention);

/// 6·N a token, N = active parameters of parameters(model) (Kaplan et al., arXiv 2001.08361 §2.1)
/// [MODEL-5]. Embedding tables are in N, attention scores are not counted.
Flops six_n_flops(const Model& model, std::int64_t tokens);

/// Mean number of keys a query sees [MODEL-4]. full: all `sequence` of them, or the window where it
/// is shorter. causal: half the sequence; with a window w: w − w²/(2·sequence), the area of the
/// band below the diagonal. The diagonal counts half, so that causal is half of full exactly.
double mean_keys(std::int64_t sequence, std::int64_t window, AttentionFlops convention);

}  // namespace headway
