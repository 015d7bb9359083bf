// Weights of which many are zero: what the hardware saves of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headway {

/// How the zeros lie, and so what can use them.
enum class SparsityForm : std::uint8_t { none, two_four, blocks };
constexpr std::array<std::string_view, 3> kSparsityForms = {"none", "2:4", "blocks"};

struct Sparsity {
  SparsityForm form = SparsityForm::none;
  double density = 1;  // share of the weights that are not zero
  int value_bits = 16;
  int block = 32;           // edge of a block
  bool masks_sent = false;  // with every exchange of gradients; else all ranks know the mask
};

/// Of dense training what is left [LAW-17].
struct SparseShares {
  double products = 1;   // FLOP that the hardware runs, forward and backward
  double inference = 1;  // the same of the forward pass alone
  double weights = 1;    // bytes
  double exchange = 1;   // bytes of gradients between ranks
};
SparseShares sparse_shares(const Sparsity& sparsity);

}  // namespace headway
