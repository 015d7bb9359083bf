// Writes down the forward pass of one block. Internal to src/step/forward.
#pragma once

#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

class Writer {
 public:
  Writer(const Share& share, BlockKind kind);

  /// A tensor passes between what may lie on different ranks. The number of the item.
  std::int32_t cross(Crossing crossing);
  /// Rows that come from the host's memory.
  void fetch(Bytes bytes) { program_.from_host += bytes; }
  std::int32_t cross(Seam seam, Bytes tensor) { return cross({.seam = seam, .tensor = tensor}); }

  /// How a product treats its input.
  struct Input {
    bool kept = true;            // for the weight gradient; false: another consumer keeps it
    Piece piece = Piece::other;  // that produced it
    std::int32_t entry = -1;     // the crossing it came through
    Columns apart = {};          // the product stands for one of each of these; none: for one
  };
  /// The product with a weight matrix of which the rank has a `split`-th, `copies` at once (grouped
  /// experts), with `rows` tokens each.
  void linear(const Linear& matrix, std::int64_t split, std::int64_t rows, std::int64_t copies,
              const Input& input);
  void linear(const Linear& matrix, std::int64_t split, std::int64_t rows, const Input& input) {
    linear(matrix, split, rows, 1, input);
  }
  void linear(const Linear& matrix, std::int64_t split, std::int64_t rows) {
    linear(matrix, split, rows, 1, Input{});
  }

  void attention(const AttentionShape& shape);

  /// The product of a network's module.
  struct ModuleProduct {
    Matmul shape;
    double steps = 1;        // so many with the same weight, one after the other
    bool quantised = false;  // in the recipe's format of products, where that has 8 bits or fewer
    bool enters = false;     // what it reads needs no gradient
  };
  void module_product(const ModuleProduct& product);

  /// A memory-bound pass: what is read and written forward and by its gradient, in `kernels`
  /// launches each.
  void pass(Bytes forward, Bytes backward, double kernels = 1);

  /// Activations kept for the backward pass, unless the piece that produced them runs again.
  void keep(Bytes kept, Piece piece = Piece::other);

  /// What follows belongs to a kind of layer; to a piece of the layer, and of it to another; to
  /// routed experts.
  void serve(Module module) { module_ = module; }
  void enter(Piece piece, Piece in = Piece::other) {
    pieces_ = static_cast<std::uint8_t>(bit(piece) | bit(in));
  }
  void enter_routed(bool routed) { routed_ = routed; }
  /// What follows stands for as many of the same, one after the other.
  void repeat(double times) { times_ = times; }
  /// What follows is not trained: it runs forward alone.
  void freeze(bool frozen) { frozen_ = frozen; }
  /// Alive only while the block runs.
  void work(Bytes alive) { program_.working += alive; }

  void hold(HeldParameters held) { program_.held = held; }

  /// Closes the block. `input`: what enters it.
  Program finish(Bytes input);

 private:
  void push(Op op);
  void merge_pieces(const AttentionShape& shape);
  std::int64_t second_columns(const Linear& matrix, std::int64_t split, const Columns& apart);

  const Share& share_;
  Program program_;
  std::uint8_t pieces_ = bit(Piece::other);
  Module module_ = Module::other;
  bool routed_ = false;
  double times_ = 1;
  bool frozen_ = false;
  int counted_ = 0;  // products before, as operators are counted
};

}  // namespace headway
