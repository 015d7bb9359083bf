// What stands for the computation of a step: time on the clock, or products of matrices.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "simulate/live/list.hpp"

namespace headway::replay {

/// Elements of A, B and C that hold those of every product.
std::array<std::int64_t, 3> largest_products(const std::vector<LiveItem>& items);

class Compute {
 public:
  /// `multiplies`: products are made, and for the rest the clock is watched.
  Compute(bool multiplies, const std::vector<LiveItem>& items);

  bool multiplies() const { return multiplies_; }

  template <class Meanwhile>
  void run(const LiveItem& item, const Meanwhile& meanwhile) {
    if (multiplies_ && item.product) {
      for (std::int64_t i = 0; i < item.product->batch; ++i) multiply(*item.product, meanwhile);
      return;
    }
    using Clock = std::chrono::steady_clock;
    const auto end =
        Clock::now() + std::chrono::nanoseconds(static_cast<std::int64_t>(item.time.value() * 1e9));
    do {
      meanwhile();
    } while (Clock::now() < end);
  }

 private:
  static constexpr std::int64_t kBlock = 64;  // three blocks of it in fp32 lie in 48 KiB of cache

  // C[m, n] += A[m, k] · B[k, n], block by block; calls go on between two rows of blocks.
  template <class Meanwhile>
  void multiply(const LiveProduct& p, const Meanwhile& meanwhile) {
    for (std::int64_t i = 0; i < p.m; i += kBlock) {
      for (std::int64_t j = 0; j < p.n; j += kBlock) {
        for (std::int64_t l = 0; l < p.k; l += kBlock) block(p, i, j, l);
        meanwhile();
      }
    }
  }
  void block(const LiveProduct& p, std::int64_t i, std::int64_t j, std::int64_t l);

  bool multiplies_;
  std::vector<float> a_, b_, c_;  // of the largest product
};

}  // namespace headway::replay
