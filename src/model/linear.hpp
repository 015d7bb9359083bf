// The weight matrices of a layer [MODEL-1]: the one list from which parameters, FLOPs, matrix
// products, tensor-parallel splits and activation memory are all derived.
#pragma once

#include <array>
#include <cstdint>

#include "model/model.hpp"

namespace headway {

/// What a weight matrix is for.
enum class Role : std::uint8_t {
  query_key_value,  // fused or separate: one product of width (heads + 2·kv_heads)·dim, and that of
                    // a gate of the result; of all that enters linear attention
  query_down,      // latent attention: h → query rank
  query_up,        // query rank → heads · head_dim
  key_value_down,  // h → key-value rank + rope_dim
  key_value_up,    // key-value rank → heads · (head_dim − rope_dim + value_dim)
  index_query,     // of an indexer: query rank → its heads · dim
  index_key,       // h → dim, shared by its heads
  index_weight,    // h → a weight of each of its heads
  state,           // selective linear attention: values → the rank of rates, keys and queries
  rate,            // the rank → a rate of each value
  attention_output,
  feed_forward_up,  // up and gate together: width 2·ff where gated
  feed_forward_down,
  router,
  shared_up,
  shared_down,
  shared_gate,
  expert_up,
  expert_down,
  of_network,  // of a module
};

/// How tensor parallelism splits the matrix (Megatron, arXiv 1909.08053 §3): by output columns, by
/// input rows (its result must be summed over the group), or not at all (each rank holds all).
enum class Split : std::uint8_t { column, row, replicated };

/// True of the matrices of attention.
constexpr bool is_of_attention(Role role) {
  return role <= Role::attention_output;
}

/// True of the matrices inside a routed expert.
constexpr bool is_expert(Role role) {
  return role == Role::expert_up || role == Role::expert_down;
}

/// y[tokens, out] = x[tokens, in] · W[out, in]ᵀ + b[out].
struct Linear {
  Role role;
  Split split;
  std::int64_t in;
  std::int64_t out;
  bool bias;

  /// Forward FLOPs of one token [MODEL-1].
  double flops_per_token() const {
    return 2.0 * static_cast<double>(in) * static_cast<double>(out);
  }
  std::int64_t weights() const { return in * out + (bias ? out : 0); }
};

/// Columns of the tensors that code of the Llama kind keeps apart in one matrix, in their order.
struct Columns {
  std::array<std::int64_t, 3> of{};
  int size = 0;

  const std::int64_t* begin() const { return of.data(); }
  const std::int64_t* end() const { return of.data() + size; }
  std::int64_t sum() const { return of[0] + of[1] + of[2]; }
};
/// Queries, with their gate; keys; values.
inline Columns columns_apart(const Attention& attention) {
  const std::int64_t query = attention.head_dim + (attention.gated ? attention.value_dim : 0);
  return {{attention.heads * query, attention.kv_heads * attention.head_dim,
           attention.kv_heads * attention.value_dim},
          3};
}
/// Gate and up, of which such a matrix maps to `out` together.
inline Columns columns_apart(std::int64_t out) {
  return {{out / 2, out - out / 2}, 2};
}

/// At most this many matrices in one layer.
constexpr int kMostLinears = 15;

/// The matrices of one layer in the order of the forward pass. Expert matrices are listed once, for
/// one expert.
struct Linears {
  Linear items[kMostLinears];
  int size = 0;

  void add(Linear linear) { items[size++] = linear; }
  const Linear* begin() const { return items; }
  const Linear* end() const { return items + size; }
};

/// [MODEL-1]
Linears linears(const Layer& layer, std::int64_t hidden);

}  // namespace headway
