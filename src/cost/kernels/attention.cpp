#include <algorithm>
#include <array>

#include "cost/kernels/kernels.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

// Keys of one step: a mask costs whole steps.
constexpr double kBlock = 128;

// Scores that one head of one sequence computes, in whole blocks of keys: the whole rectangle, a
// window, or the part at and below the diagonal, which crosses half a block more than the triangle.
// The last query sees the last key.
double scores(const AttentionShape& shape) {
  const auto queries = static_cast<double>(shape.queries), keys = static_cast<double>(shape.keys);
  if (!shape.causal) {
    const double seen =
        shape.window > 0 ? std::min(keys, static_cast<double>(shape.window) + kBlock) : keys;
    return queries * seen;
  }
  const double before = std::max(0.0, keys - queries);  // keys that all queries see
  const double reach =
      shape.window > 0 ? std::min(keys, static_cast<double>(shape.window) + kBlock / 2) : keys;
  // Query i sees min(before + i, reach) keys; `free` queries reach less than `reach`.
  const double free = std::clamp(reach - before, 0.0, queries);
  const double below = free * (before + free / 2) + (queries - free) * reach;
  return std::min(below + queries * kBlock / 2, queries * keys);
}

// The keys (or queries) that the longest block passes.
double longest(const AttentionShape& shape, double all) {
  return shape.window > 0 ? std::min(all, static_cast<double>(shape.window) + kBlock) : all;
}

// Bytes of an element and a score in the unfused form: the scores are 16 bit.
constexpr double kScore = 2;

// [KERNEL-3] Passes over the scores by Megatron's fused scale-mask-softmax kernels, in bytes moved
// per score, batch · heads · queries · keys scores. Forward reads the scores at and below the
// diagonal (causal: half of them) and writes all; backward reads the gradient and the result of the
// softmax there and writes all. Source: NVIDIA/Megatron-LM@2387ce0,
// megatron/fused_kernels/scaled_upper_triang_masked_softmax.h. Dropout reads, writes and keeps a
// mask of one byte forward; it reads the gradient and the mask and writes backward.
struct ScorePasses {
  double bytes;  // of a score
  int kernels;
};
ScorePasses with_dropout(const AttentionShape& shape, ScorePasses passes) {
  if (shape.dropout > 0) passes = {passes.bytes + 2 * kScore + 1, passes.kernels + 1};
  return passes;
}

// By kernels of one operation each, eager, the whole rectangle: a product with the scale, the sum
// with the mask, the softmax of 32 bits, the result back in 16. PyTorch's softmax reads 16 bits and
// writes 32 at once where they are fp16; bf16 is cast before. Backward passes undo each but the
// sum, whose gradient is what comes in; that of the softmax reads the gradient and its result.
// Sources: huggingface/transformers@002272831, models/llama/modeling_llama.py (LlamaAttention);
// pytorch/pytorch@0298aaa1d, aten/src/ATen/native/SoftMax.cpp (softmax).
constexpr double kWide = 4;
ScorePasses eager_forward(bool half) {
  const double scale = 2 * kScore, mask = 2 * kScore, back = kWide + kScore;
  const double softmax = half ? kScore + kWide : (kScore + kWide) + 2 * kWide;
  return {scale + mask + softmax + back, half ? 4 : 5};
}
ScorePasses eager_backward(bool half) {
  const double back = kScore + kWide, scale = 2 * kScore;
  const double softmax = half ? 2 * kWide + kScore : 3 * kWide + (kWide + kScore);
  return {back + softmax + scale, half ? 3 : 4};
}

ScorePasses forward_passes(const AttentionShape& shape, Precision precision) {
  if (shape.eager) return with_dropout(shape, eager_forward(precision == Precision::fp16));
  return with_dropout(shape, {(shape.causal ? 0.5 : 1) * kScore + kScore, 1});
}
ScorePasses backward_passes(const AttentionShape& shape, Precision precision) {
  if (shape.eager) return with_dropout(shape, eager_backward(precision == Precision::fp16));
  return with_dropout(shape, {(shape.causal ? 0.5 : 1) * 2 * kScore + kScore, 1});
}

// The kernel of a ring's pieces after the first, rank by rank the same work: of a causal mask half
// of the queries see all keys of a piece, or all queries half of them.
AttentionShape later_piece(AttentionShape shape) {
  const std::int64_t pieces = shape.ring - 1;
  const std::int64_t keys = (shape.keys - shape.queries) / (shape.causal ? 2 * pieces : pieces);
  shape.keys = std::max<std::int64_t>(1, keys);
  shape.causal = false;
  shape.ring = 1;
  return shape;
}
AttentionShape first_piece(AttentionShape shape) {
  shape.keys = shape.queries;
  shape.ring = 1;
  return shape;
}

// `time` of a kernel alone: once, or of each piece of a ring.
template <class Time>
Seconds in_pieces(const AttentionShape& shape, const Time& time) {
  if (shape.ring == 1) return time(shape);
  return time(first_piece(shape)) + static_cast<double>(shape.ring - 1) * time(later_piece(shape));
}

bool empty(const AttentionShape& shape) {
  return shape.batch <= 0 || shape.heads <= 0 || shape.queries <= 0 || shape.keys <= 0;
}

// The passes over the scores, which compute the whole rectangle whatever the mask.
Bytes score_bytes(const AttentionShape& shape, double bytes_per_score) {
  const double all = static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                     static_cast<double>(shape.queries) * static_cast<double>(shape.keys);
  return Bytes(all * bytes_per_score);
}
Seconds time_of(const ScorePasses& passes, const AttentionShape& shape,
                const Accelerator& accelerator, const KernelParameters& parameters) {
  return pass_time(score_bytes(shape, passes.bytes), accelerator, parameters, shape.eager) +
         parameters.shortest_kernel * static_cast<double>(passes.kernels - 1);
}

std::array<Matmul, 2> forward_products(const AttentionShape& shape) {
  const std::int64_t batch = shape.batch * shape.heads;
  return {{{shape.queries, shape.keys, shape.head_dim, batch},
           {shape.queries, shape.value_dim, shape.keys, batch}}};
}

// Gradients of P and V from that of O, then, past the softmax, of Q and K.
std::array<Matmul, 4> backward_products(const AttentionShape& shape) {
  const std::int64_t batch = shape.batch * shape.heads;
  return {{{shape.queries, shape.keys, shape.value_dim, batch},
           {shape.keys, shape.value_dim, shape.queries, batch},
           {shape.queries, shape.head_dim, shape.keys, batch},
           {shape.keys, shape.head_dim, shape.queries, batch}}};
}

Seconds unfused_forward(const AttentionShape& shape, Precision precision,
                        const Accelerator& accelerator, const KernelParameters& parameters) {
  const auto [score, value] = forward_products(shape);
  return batched_matmul_time(score, precision, accelerator, parameters) +
         time_of(forward_passes(shape, precision), shape, accelerator, parameters) +
         batched_matmul_time(value, precision, accelerator, parameters);
}

Seconds unfused_backward(const AttentionShape& shape, Precision precision,
                         const Accelerator& accelerator, const KernelParameters& parameters) {
  const auto [of_probability, of_value, of_query, of_key] = backward_products(shape);
  return batched_matmul_time(of_probability, precision, accelerator, parameters) +
         batched_matmul_time(of_value, precision, accelerator, parameters) +
         time_of(backward_passes(shape, precision), shape, accelerator, parameters) +
         batched_matmul_time(of_query, precision, accelerator, parameters) +
         batched_matmul_time(of_key, precision, accelerator, parameters);
}

template <class Products>
Bytes products_traffic(const Products& products, Precision precision) {
  Bytes out(0);
  for (const Matmul& product : products) out += traffic_of(product, precision);
  return out;
}

double mean_dim(const AttentionShape& shape) {
  return 0.5 * static_cast<double>(shape.head_dim + shape.value_dim);
}

// What tells a flash kernel from the others.
struct FlashKernel {
  double ceiling;
  double row_keys;
};
// Rows of the first algorithm take nothing besides their keys: whole steps of 512 to 65,536 tokens
// leave no room for it.
FlashKernel flash_kernel(AttentionKernel kernel, const AttentionShape& shape,
                         const FlashParameters& flash) {
  const std::size_t at =
      static_cast<std::size_t>(kernel) - static_cast<std::size_t>(AttentionKernel::flash1);
  const bool first = kernel == AttentionKernel::flash1 || kernel == AttentionKernel::triton;
  return {flash.ceiling[at] * (mean_dim(shape) > 64 ? flash.wide[at] : 1.0),
          first ? 0 : flash.row_keys};
}

// [KERNEL-2] Flash attention (arXiv 2205.14135, 2307.08691, 2407.08608). `width`: FLOPs per score,
// forward 2 · (d + dv) (two products), backward 2 · (3 d + 2 dv) (five: scores again, and the
// gradients of P, V, Q, K); dim = the mean of d and dv.
//   rate   = peak · ceiling · [wide, dim > 64] · dim / (dim + softmax_width) · sustained
//   total  = batch · heads · (scores + queries · row_keys) · width / rate
//   block  = block_rows · (longest row + row_keys) · width / (rate / units)    (the longest block)
//   t      = t0 + max(max(total, block) + tail · min(total, block), memory)
// The scores of a causal mask are the half below the diagonal and half a block more (scores()).
// Head dimensions of 16 ... 256; fitted at 128 and at 192 with values of 128.
Seconds flash(const AttentionShape& shape, const FlashKernel& kernel, double width, double rows,
              double along, const FlashParameters& flash, Bytes moved, Precision precision,
              const Accelerator& accelerator, const KernelParameters& parameters) {
  const double dim = mean_dim(shape);
  const double units = static_cast<double>(std::max<std::int64_t>(accelerator.compute_units, 1));
  const double unequal = shape.head_dim == shape.value_dim ? 1 : flash.unequal_dims;
  // In 8 bit the products are faster and the exponentials are not.
  const double faster = precision >= Precision::fp8
                            ? accelerator.peak_of(precision) / accelerator.peak_of(Precision::bf16)
                            : 1.0;
  const double efficiency = kernel.ceiling * unequal * parameters.sustained * dim /
                            (dim + parameters.softmax_width * faster);
  const FlopsPerSecond rate = accelerator.peak_of(precision) * efficiency;
  const double sequences = static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
  const double once = static_cast<double>(shape.queries) * kernel.row_keys;
  const Seconds total = Flops(sequences * (scores(shape) + once) * width) / rate;
  const double row = longest(shape, along) + kernel.row_keys;
  const Seconds block = Flops(std::min(flash.block_rows, rows) * row * width) / rate * units;
  const Seconds compute = std::max(total, block) + flash.tail * std::min(total, block);
  const Seconds memory = moved / (accelerator.memory_bandwidth * parameters.memory_efficiency);
  return parameters.shortest_kernel + std::max(compute, memory);
}

// Bytes of Q and O, and of K and V, once.
Bytes operand_bytes(const AttentionShape& shape, Precision precision) {
  const double dims = static_cast<double>(shape.head_dim + shape.value_dim);
  const double rows = static_cast<double>(shape.queries) * static_cast<double>(shape.heads) +
                      static_cast<double>(shape.keys) * static_cast<double>(shape.kv_heads);
  return Bytes(bytes_per_element(precision) * static_cast<double>(shape.batch) * rows * dims);
}

Seconds flash_forward(const AttentionShape& shape, const FlashKernel& kernel, Precision precision,
                      const Accelerator& accelerator, const KernelParameters& parameters) {
  const double width = 2 * static_cast<double>(shape.head_dim + shape.value_dim);
  return flash(shape, kernel, width, static_cast<double>(shape.queries),
               static_cast<double>(shape.keys), parameters.flash_forward,
               operand_bytes(shape, precision), precision, accelerator, parameters);
}

Seconds flash_backward(const AttentionShape& shape, AttentionKernel kernel, Precision precision,
                       const Accelerator& accelerator, const KernelParameters& parameters) {
  const double width = 2 * static_cast<double>(3 * shape.head_dim + 2 * shape.value_dim);
  const FlashKernel flashed = flash_kernel(kernel, shape, parameters.flash_backward);
  // Q, K, V, O and the gradient of O are read, those of Q, K, V written: twice the operands.
  return flash(shape, flashed, width, static_cast<double>(shape.keys),
               static_cast<double>(shape.queries), parameters.flash_backward,
               operand_bytes(shape, precision) * 2.0, precision, accelerator, parameters);
}

}  // namespace

Bytes traffic_of(const AttentionShape& shape, AttentionKernel kernel, Precision precision,
                 bool backward) {
  if (empty(shape)) return Bytes(0);
  if (kernel != AttentionKernel::unfused) {
    return operand_bytes(shape, precision) * (backward ? 2.0 : 1.0);  // with their gradients
  }
  return backward ? products_traffic(backward_products(shape), precision) +
                        score_bytes(shape, backward_passes(shape, precision).bytes)
                  : products_traffic(forward_products(shape), precision) +
                        score_bytes(shape, forward_passes(shape, precision).bytes);
}

Bytes traffic_of(const Op& op, AttentionKernel kernel) {
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    return op.times * traffic_of(*product, op.precision, product->result_bytes);
  }
  if (const auto* attention = std::get_if<AttentionShape>(&op.shape)) {
    return op.times * traffic_of(*attention, kernel, op.precision, op.phase == Phase::backward);
  }
  return op.times * std::get<Pass>(op.shape).moved;
}

Seconds attention_forward_time(const AttentionShape& shape, AttentionKernel kernel,
                               Precision precision, const Accelerator& accelerator,
                               const KernelParameters& parameters) {
  if (empty(shape)) return Seconds(0);
  return in_pieces(shape, [&](const AttentionShape& piece) {
    if (kernel == AttentionKernel::unfused) {
      return unfused_forward(piece, precision, accelerator, parameters);
    }
    return flash_forward(piece, flash_kernel(kernel, piece, parameters.flash_forward), precision,
                         accelerator, parameters);
  });
}

Seconds flash_forward_time(const AttentionShape& shape, double ceiling, Precision precision,
                           const Accelerator& accelerator, const KernelParameters& parameters) {
  if (empty(shape)) return Seconds(0);
  return flash_forward(shape, {ceiling, parameters.flash_forward.row_keys}, precision, accelerator,
                       parameters);
}

Seconds attention_backward_time(const AttentionShape& shape, AttentionKernel kernel,
                                Precision precision, const Accelerator& accelerator,
                                const KernelParameters& parameters) {
  if (empty(shape)) return Seconds(0);
  return in_pieces(shape, [&](const AttentionShape& piece) {
    return kernel == AttentionKernel::unfused
               ? unfused_backward(piece, precision, accelerator, parameters)
               : flash_backward(piece, kernel, precision, accelerator, parameters);
  });
}

}  // namespace headway
