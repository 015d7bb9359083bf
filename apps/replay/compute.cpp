#include "compute.hpp"

#include <algorithm>

namespace headway::replay {

std::array<std::int64_t, 3> largest_products(const std::vector<LiveItem>& items) {
  std::int64_t a = 0, b = 0, c = 0;
  for (const LiveItem& item : items) {
    if (!item.product) continue;
    const LiveProduct& p = *item.product;
    a = std::max(a, p.m * p.k);
    b = std::max(b, p.k * p.n);
    c = std::max(c, p.m * p.n);
  }
  return {a, b, c};
}

Compute::Compute(bool multiplies, const std::vector<LiveItem>& items) : multiplies_(multiplies) {
  if (!multiplies) return;
  const auto [a, b, c] = largest_products(items);
  a_.assign(static_cast<std::size_t>(a), 1e-3F);
  b_.assign(static_cast<std::size_t>(b), 1e-3F);
  c_.assign(static_cast<std::size_t>(c), 0.0F);
}

// The inner loop runs along rows of B and C, which the compiler makes vectors of.
void Compute::block(const LiveProduct& p, std::int64_t i, std::int64_t j, std::int64_t l) {
  const std::int64_t rows = std::min(i + kBlock, p.m), columns = std::min(j + kBlock, p.n),
                     depth = std::min(l + kBlock, p.k);
  for (std::int64_t row = i; row < rows; ++row) {
    float* const c = c_.data() + row * p.n;
    for (std::int64_t inner = l; inner < depth; ++inner) {
      const float a = a_[static_cast<std::size_t>(row * p.k + inner)];
      const float* const b = b_.data() + inner * p.n;
      for (std::int64_t column = j; column < columns; ++column) c[column] += a * b[column];
    }
  }
}

}  // namespace headway::replay
