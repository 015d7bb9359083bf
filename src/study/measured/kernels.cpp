#include "study/measured/kernels.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "cost/calibration/calibration.hpp"
#include "cost/kernels/kernels.hpp"
#include "cost/kernels/traffic.hpp"

namespace headway {
namespace {

std::optional<Precision> precision_of(const std::optional<ElementType>& type) {
  if (!type) return std::nullopt;
  switch (*type) {
    case ElementType::fp32:
      return Precision::fp32;
    case ElementType::fp16:
      return Precision::fp16;
    case ElementType::bf16:
      return Precision::bf16;
    case ElementType::fp8_e4m3:
      return Precision::fp8;
    default:
      return std::nullopt;
  }
}

// [TRACE-14] Of the peak what the product reaches, and of its time what the operands' way through
// memory or its FLOPs at the peak take, whichever is longer.
void add_shares(ProductRow& row, const Matmul& matmul, Precision precision,
                const Accelerator& accelerator) {
  const FlopsPerSecond peak = accelerator.peak_of(precision);
  if (!(peak.value() > 0)) return;
  const Seconds each = row.time / static_cast<double>(row.count);
  const Seconds least =
      std::max(row.flops / peak, traffic_of(matmul, precision) / accelerator.memory_bandwidth);
  row.peak_share = row.rate() / peak;
  row.roofline_share = least / each;
}

}  // namespace

// [TRACE-14] FLOPs of a product = 2 m n k batch; its time = that of all kernels launched for it.
KernelTable kernel_table(const Recording& recording, const Cluster* cluster) {
  std::map<std::uint32_t, KernelRow> by_name;
  std::vector<Seconds> of_product(recording.products.size());
  for (const RecordedCompute& kernel : recording.compute) {
    const Seconds time(static_cast<double>(kernel.duration_ns) * 1e-9);
    if (kernel.product != RecordedCompute::kNone) of_product[kernel.product] += time;
    if (kernel.name == RecordedCompute::kNone) continue;
    KernelRow& row = by_name[kernel.name];
    row.shortest = row.count == 0 ? time : std::min(row.shortest, time);
    row.longest = std::max(row.longest, time);
    row.time += time;
    ++row.count;
  }
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;
  std::map<Shape, ProductRow> by_shape;
  for (std::size_t i = 0; i < recording.products.size(); ++i) {
    const RecordedProduct& product = recording.products[i];
    if (!(of_product[i].value() > 0)) continue;  // outside of the window that is looked at
    const int type = product.type ? static_cast<int>(*product.type) : -1;
    ProductRow& row = by_shape[{product.m, product.n, product.k, product.batch, type}];
    row.product = product;
    row.time += of_product[i];
    ++row.count;
  }
  KernelTable out;
  for (auto& [name, row] : by_name) {
    row.name = recording.kernel_names[name];
    out.kernels.push_back(std::move(row));
  }
  const auto constants =
      cluster == nullptr ? Result<Benchmarked>(Problems()) : benchmarked_for(*cluster);
  for (auto& [shape, row] : by_shape) {
    const RecordedProduct& product = row.product;
    const auto side = [](std::int64_t length) { return static_cast<double>(length); };
    row.flops =
        Flops(2 * side(product.m) * side(product.n) * side(product.k) * side(product.batch));
    const auto precision = precision_of(product.type);
    const Matmul matmul{product.m, product.n, product.k, product.batch};
    if (cluster != nullptr && precision) {
      add_shares(row, matmul, *precision, cluster->accelerator);
    }
    if (constants && precision) {
      row.modelled =
          product.batch > 1
              ? batched_matmul_time(matmul, *precision, cluster->accelerator, constants->kernels)
              : matmul_time(matmul, *precision, cluster->accelerator, constants->kernels);
    }
    out.products.push_back(row);
  }
  const auto longer = [](const auto& a, const auto& b) { return a.time > b.time; };
  std::stable_sort(out.kernels.begin(), out.kernels.end(), longer);
  std::stable_sort(out.products.begin(), out.products.end(), longer);
  return out;
}

}  // namespace headway
