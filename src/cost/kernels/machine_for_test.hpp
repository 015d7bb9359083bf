// A machine of round numbers, kernels without losses, and any shapes, for tests.
#pragma once

#include <rapidcheck/gtest.h>

#include "cost/kernels/kernels.hpp"

namespace headway {

// Round numbers: 100 units of 1 TFLOP/s, 1 TB/s.
inline Accelerator machine() {
  Accelerator a;
  a.name = "round";
  a.architecture = "round";
  a.peak.fill(FlopsPerSecond(100e12));
  a.peak[static_cast<int>(Precision::fp8)] = FlopsPerSecond(200e12);
  a.memory_bandwidth = BytesPerSecond(1e12);
  a.compute_units = 100;
  return a;
}

// Everything ideal: no losses, no fixed times.
inline KernelParameters ideal() {
  KernelParameters p;
  p.memory_efficiency = p.misaligned_efficiency = 1;
  p.products.fill({1, 0, 0, 0, Seconds(0), 1, Seconds(0)});
  p.tile_efficiency.fill(1);
  p.shortest_kernel = p.matmul_start = p.grouped_start = Seconds(0);
  p.flash_forward = p.flash_backward = {
      .ceiling = {1, 1, 1}, .block_rows = 128, .row_keys = 0, .tail = 0, .unequal_dims = 1};
  p.softmax_width = 0;
  p.fp32_ceiling = 1;
  return p;
}

inline ProductParameters& half(KernelParameters& p) {
  return p.of(ProductFormat::bits_16);
}

inline double us(Seconds t) {
  return t.value() * 1e6;
}

// Shapes as they come in training: multiples of 64.
inline Matmul any_matmul() {
  const auto size = [](int most) { return 64 * *rc::gen::inRange(1, most); };
  return {size(256), size(256), size(256), *rc::gen::element(1, 1, 8, 64)};
}

inline AttentionShape any_attention() {
  AttentionShape shape{*rc::gen::inRange(1, 8), *rc::gen::inRange(1, 64), 1, 0, 0, 0, 0};
  shape.queries = 64 * *rc::gen::inRange(1, 256);
  shape.keys = shape.queries * *rc::gen::inRange(1, 4);
  shape.head_dim = shape.value_dim = *rc::gen::element(64, 128, 256);
  shape.causal = *rc::gen::arbitrary<bool>();
  shape.window = *rc::gen::element(0, 512, 4096);
  shape.dropout = *rc::gen::element(0.0, 0.1);
  return shape;
}

}  // namespace headway
