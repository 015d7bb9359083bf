#include "limits/machine/matmul.hpp"

#include <algorithm>
#include <cmath>

namespace headway::limits {
namespace {

// Of registers and of the L2, what a kernel can fill with operands.
constexpr double kUsable = 0.75;
// The tensor core works on blocks of 8 in each dimension; what does not fill one is padded.
constexpr double kChunk = 8;

// Bytes that cross the border of one memory level: between it and the level above (`in`), and
// between its parts (`between`). For no token, and for each token.
struct Traffic {
  double in_fixed = 0, in_per_token = 0, between_per_token = 0;
};

// [LIMIT-2] Traffic of a product tiled over its rows x columns surface. `capacity` is what one part
// of the level holds, `parts` how many there are; where parts can read one another (`shared`) they
// hold one copy together.
//   weights: once, unless weight and gradient (twice the bytes) stay below; the gradient is read
//   and written.
//   activations: the right operand once for each row of tiles, the left one (of a gradient) or the
//   result (read and written but for the first time) once for each column of tiles.
// Source: Erdil & Schneider-Joseph 2024, section on one GPU; exact for whole tiles, and an
// approximation where tiles do not divide the matrix.
Traffic traffic(double rows, double columns, double word, double capacity, double parts,
                bool shared, MatmulKind kind) {
  const bool gradient = kind == MatmulKind::weight_gradient;
  const double weights = rows * columns * word;
  const double left = rows * word, right = columns * word;  // for each token
  const Tiling whole = tile(rows, columns, word, shared ? capacity * parts : capacity);
  const Tiling inner = shared ? tile(rows, columns, word, capacity) : Tiling();

  Traffic out;
  const bool resident = 2 * weights <= capacity * parts;
  if (!resident) out.in_fixed = gradient ? 2 * weights : weights;
  out.in_per_token = whole.rows * right;
  if (inner.rows > 1) out.between_per_token += inner.rows * right;
  if (gradient) {
    out.in_per_token += whole.columns * left;
    if (inner.columns > 1) out.between_per_token += inner.columns * left;
  } else {
    out.in_per_token += (2 * whole.columns - 1) * left;
    out.between_per_token += 2 * (inner.columns - 1) * left;
  }
  return out;
}

}  // namespace

// [LIMIT-1] words = rows columns; the fewest tiles of equal area that fit; each as near to a square
// as the matrix allows. Lengths are real numbers: no tile is rounded.
Tiling tile(double rows, double columns, double bytes_per_word, double capacity) {
  const double words = rows * columns;
  const double count = std::ceil(words * bytes_per_word / capacity);
  const double area = words / count;
  const double height = std::max(std::min(rows, std::sqrt(area)), area / columns);
  return {rows / height, columns / (area / height)};
}

Matmul::Matmul(const Gpu& gpu, Precision precision, double rows, double columns, MatmulKind kind) {
  const double word = bytes_per_element(precision);
  const double units = static_cast<double>(gpu.compute_units);
  const double blocks = static_cast<double>(gpu.register_blocks);
  const double block = kUsable * gpu.registers.value();
  const double unit = blocks * block;

  const Traffic memory =
      traffic(rows, columns, word, std::max(kUsable * gpu.l2.value(), unit), 1, false, kind);
  const Traffic l2 = traffic(rows, columns, word, unit, units, gpu.shared_between_units, kind);
  const Traffic shared = traffic(rows, columns, word, block, blocks * units, false, kind);

  // Each level carries what the one above hands it, and what it hands on.
  const double memory_rate = gpu.memory_bandwidth.value(), l2_rate = gpu.l2_bandwidth.value();
  const double shared_rate = gpu.sustained * gpu.shared_bandwidth.value();
  memory_ = {memory.in_fixed / memory_rate, memory.in_per_token / memory_rate};
  l2_ = {(memory.in_fixed + l2.in_fixed) / l2_rate,
         (memory.in_per_token + l2.in_per_token) / l2_rate};
  shared_ = {(l2.in_fixed + shared.in_fixed) / shared_rate,
             (l2.in_per_token + l2.between_per_token + shared.in_per_token) / shared_rate};
  eight_tokens_ = 2 * std::ceil(rows / kChunk) * std::ceil(columns / kChunk) * kChunk * kChunk *
                  kChunk / (gpu.sustained * gpu.peak_of(precision).value());
  latency_ = gpu.kernel_latency.value();
}

// [LIMIT-3] T = max(bytes / rate over memory, L2, shared memory; padded FLOP / sustained peak)
//               + kernel latency.
// Everything overlaps but the latency. Matches the reference program to the last digits.
Seconds Matmul::time(double tokens) const {
  const double slowest = std::max(
      {memory_.fixed + memory_.per_token * tokens, l2_.fixed + l2_.per_token * tokens,
       shared_.fixed + shared_.per_token * tokens, std::ceil(tokens / kChunk) * eight_tokens_});
  return Seconds(slowest + latency_);
}

}  // namespace headway::limits
