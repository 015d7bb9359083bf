// The vocabulary of computation: one kernel and the words for it. No times here.
#pragma once

#include <cstdint>
#include <variant>

#include "base/quantity.hpp"
#include "cluster/precision.hpp"
#include "layout/job.hpp"
#include "model/count.hpp"
#include "step/program/call.hpp"

namespace headway {

/// `batch` products C[m, n] = A[m, k] · B[k, n]. In training m counts tokens.
struct Matmul {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  double result_bytes = 0;  // moved for each element of C; 0: one write in the product's format
  bool by_columns = false;  // A lies in memory by columns, m elements long (weight gradients)
  /// Of a convolution or another product of a network: elements in memory of the operand that its
  /// windows run over, A or (by columns) B, of all of the batch; 0: a product of whole matrices.
  double image = 0;
  std::int64_t taps = 1;   // positions in a window
  bool recurrent = false;  // a step of a recurrent cell, which waits for the one before it
};

/// The core of attention, softmax(Q·Kᵀ)·V, for `batch` sequences on one accelerator.
struct AttentionShape {
  std::int64_t batch, heads, kv_heads;
  std::int64_t queries, keys;  // tokens on this accelerator, and tokens they attend to
  std::int64_t head_dim, value_dim;
  bool causal = true;
  std::int64_t window = 0;  // sliding window in tokens; 0: none
  double dropout = 0;
  bool eager = false;  // unfused: its passes over the scores are an operation each
  // Ranks of a ring that share the sequence and pass keys and values on, a piece of attention for
  // each. Causal: every rank has an early and a late half of its queries, so that all have as much
  // to do [STEP-3]. Else, of 1, the queries are the last ones of the keys.
  std::int64_t ring = 1;
};

/// A memory-bound pass over `moved` bytes, read and written together; eager: in a library's kernels
/// of one operation each. `by_gradient`: what the pass of its gradient moves. `cast`: it makes the
/// input of a product one of 8 or 4 bits.
struct Pass {
  Bytes moved;
  bool eager = false;
  Bytes by_gradient{};
  bool cast = false;
};

/// One kind of kernel that a rank runs.
struct Op {
  std::variant<Matmul, AttentionShape, Pass> shape;
  Phase phase = Phase::forward;
  Precision precision = Precision::bf16;
  bool recomputed = false;       // runs again before the backward pass: of a forward op all, of one
                                 // of Phase::recompute only there
  bool weight_gradient = false;  // a backward op that zero-bubble schedules may delay
  double kernels = 1;            // launches
  bool routed = false;           // of routed experts: its shape changes from step to step
  double times = 1;              // one after the other, each waiting for the one before it
};

/// Floating-point operations that the kernel's shape asks for: 2·m·n·k·batch for a product; for
/// attention two products forward and five backward (flash kernels compute the scores again), on
/// the causal half where it is causal, or in full where that is asked for; none for a pass
/// [STEP-1].
Flops work(const Op& op, AttentionFlops convention = AttentionFlops::causal);

}  // namespace headway
