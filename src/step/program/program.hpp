// The program of a step: what a rank does for one micro-batch in one block, in order, and what it
// keeps meanwhile; and what each class of rank does once a step.
#pragma once

#include <array>
#include <cstdint>
#include <ranges>
#include <span>
#include <variant>
#include <vector>

#include "base/quantity.hpp"
#include "layout/layout.hpp"
#include "model/linear.hpp"
#include "step/program/call.hpp"
#include "step/program/op.hpp"

namespace headway {

/// Where a tensor passes between parts of a block that may lie on different ranks. Each way of
/// splitting makes calls of its own; what nobody split is no work.
enum class Seam : std::uint8_t {
  entry,       // into products split by columns: what all ranks of the group need whole
  exit,        // out of products split by rows: parts of a sum
  vocabulary,  // a number for each token, over the parts of the vocabulary
  keys,        // keys and values to the core of attention, with the queries beside them
  result,      // of the core
  dispatch,    // copies of tokens to their experts
  combine,     // and back
  share,       // tokens of an expert to all ranks that hold a part of it
  sum,         // and their results added
  from_stage,  // what one stage has, to all stages
  to_stage,    // parts of a sum on all stages, to one
  stages,      // a number for each token, over the parts of the vocabulary on all stages
  indices,     // which rows of embedding tables a rank's samples read, to the tables' holders
  pooled,      // their sums, back
  features,    // of nodes that the next batch of samples needs, from the ranks that hold them
  // Of a network's classes with a strategy of their own, and of tables by theirs, over the
  // crossing's group:
  scattered,  // parts of sums over all samples of the group: each rank gets those of its own
  gathered,   // samples of the ranks to all of them
  exchanged,  // columns of all samples against all columns of a rank's own
  weights,    // parts of weights to all ranks that use them
  again,      // the same before the backward pass
  gradients,  // of what several ranks hold
};
struct Crossing {
  Seam seam;
  Bytes tensor;        // what crosses, whole
  Bytes beside{};      // of the core of attention: queries
  double choices = 1;  // of copies of tokens: Call::choices
  Module module = Module::other;
  Group group = Group::dp;  // of those of a network's classes,
  double count = 1;         // and how many of them
};

/// What a call waits for, and what waits for it.
enum class Flow : std::uint8_t {
  chain,         // all that stands before it; all that follows
  into_weights,  // of what follows weights' gradients alone wait for it
  of_input,      // of what stands before it, it waits for no weight's gradient
  in_pieces,     // piece by piece beside the next op
  between,       // stages
  of_samples,    // of a network's classes: what is computed next waits for it
  of_tables,     // of sums of embeddings: products of the block, a bottom MLP, do not wait for it
  ahead,         // of the next batch: nothing of this one waits for it
};

/// A kernel, a call, or a crossing that is no call yet.
struct Item {
  std::variant<Op, Call, Crossing> what;
  std::uint8_t pieces = 0;  // bits of the pieces in which it stands
  Flow flow = Flow::chain;
};

/// The ops or calls among items.
template <class What>
auto only(std::span<const Item> items) {
  return items | std::views::filter([](const Item& item) {
           return std::holds_alternative<What>(item.what);
         }) |
         std::views::transform(
             [](const Item& item) -> const What& { return *std::get_if<What>(&item.what); });
}

/// What an item of the forward pass keeps for the backward pass. A piece that runs again makes it
/// anew.
struct Kept {
  Bytes bytes;
  std::uint8_t pieces;      // bits of those that made it, and in whose middle it stands
  std::uint32_t item;       // that keeps it
  std::uint32_t freed = 0;  // the item of the backward pass that reads it last
};

/// An item that multiplies with a weight.
struct Product {
  std::uint32_t item;
  Role role;
  bool bias = false;
  bool quantised = false;  // in the recipe's format of products
  bool keeps_input = true;
  Piece input = Piece::other;  // the piece that produced its input
  std::int32_t entry = -1;     // the crossing that its input came through
  std::int64_t second = 0;     // columns of its result that every second product makes [STEP-28]
  bool enters = false;         // its input is the network's, which needs no gradient
  double steps = 1;            // of `times`, those that share a weight's gradient: one product
};

/// The call that the backward pass makes where it comes to an item; into weights, where it comes to
/// the first product behind it.
struct Conjugate {
  std::uint32_t item;
  Call call;
  Flow flow = Flow::chain;
};

/// vocabulary: the parts of embedding and head that each stage has where they are split over all;
/// embedding and head are then what is left on the first and the last one.
enum class BlockKind : std::uint8_t { layer, embedding, head, prediction, vocabulary };
constexpr bool is_layer(BlockKind kind) {
  return kind == BlockKind::layer || kind == BlockKind::prediction;
}

/// Parameters that one rank holds of a block.
struct HeldParameters {
  double dense = 0;              // reduced over the data-parallel ranks
  double experts = 0;            // reduced over the expert-data-parallel ranks
  double trained = 1;            // share of them that is trained (LoRA: the adapters only)
  double attention = 0;          // of a layer, attention's share of what is dense,
  double attention_trained = 0;  // and of what of it is trained
  double embedding = 0;          // of a part of the vocabulary, the embedding's share
  double own = 0;  // of a network's classes with a strategy of their own: what this rank updates,
                   // reduced by calls of the block
  double tables = 0;  // of embedding bags: reduced by no call, rows that were read are updated with
                      // their gradients
  Bytes table_bytes{};  // in which these lie, and features of nodes
};

/// What a rank does for one micro-batch in one layer, in the embedding, or in head and loss, while
/// passes work on it.
struct Program {
  BlockKind kind = BlockKind::layer;
  std::vector<Item> items;  // forward, what runs again, backward
  std::size_t forward = 0;  // items of the forward pass
  std::vector<Kept> kept;
  std::vector<Product> products;
  std::vector<Conjugate> conjugates;
  HeldParameters held;
  Bytes input;      // what a layer that runs again whole keeps
  Bytes working;    // alive while the block runs (logits, gathered tokens)
  Bytes from_host;  // over the host link in each direction: rows of tables
};

/// What all passes leave of a program: its items, and what visitors count of it.
struct Block {
  BlockKind kind = BlockKind::layer;
  std::vector<Item> items;  // counts of calls are for one micro-batch
  HeldParameters held;
  Bytes saved;          // activations kept from the forward to the backward pass
  double again = 1;     // of such blocks, the share that runs again where recomputation is full
  Bytes saved_if_kept;  // the same without any recomputation: alive in one block at a time
  Bytes working;        // besides, while the block runs (logits, gathered tokens)
  Bytes host_transfer;  // over the host link in each direction of the block (offloading)
};

// Embedding, head, prediction, vocabulary.
constexpr std::size_t kMostBlocks = kMostLayerKinds + 4;

/// Pipeline stages with the same blocks. Counts are blocks of each kind on one rank, over all its
/// virtual chunks.
using BlockCounts = std::array<std::int64_t, kMostBlocks>;  // of each of a step's blocks

struct StageClass {
  std::int64_t first = 0;   // the first such stage
  std::int64_t stages = 1;  // how many there are
  BlockCounts counts{};
  /// Of each chunk of a rank, where ranks have chunks with different numbers of layers, or ends in
  /// their place; none: they are alike.
  std::vector<BlockCounts> chunks = {};
  double share = 1;         // of the micro-batches, what goes through each of them: half where a
                            // rank holds a stage of each of two copies of the model
  std::vector<Item> items;  // once a step: transfers, gradients, parameters, norm, update
  double parameters = 0;    // held by a rank
  double pieces = 0;  // of weights that the host handles one by one to gather them: tensors x ranks
};

}  // namespace headway
