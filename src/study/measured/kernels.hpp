// Which kernels computed, and how fast the matrix products were beside the model of kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// Kernels of one name, over all recorded ranks.
struct KernelRow {
  std::string name;
  std::int64_t count = 0;
  Seconds time, shortest, longest;
};

/// Matrix products of one shape and type. A product may take several kernels: its time is theirs
/// together.
struct ProductRow {
  RecordedProduct product;
  std::int64_t count = 0;           // of products
  Seconds time;                     // of all
  Flops flops;                      // of one
  std::optional<Seconds> modelled;  // of one [KERNEL-1]; nothing without a cluster or type
  // Nothing without a cluster, a type, or a peak of it.
  std::optional<double> peak_share;      // of the rate, of the accelerator's peak
  std::optional<double> roofline_share;  // of the time, that no kernel can do without

  FlopsPerSecond rate() const { return static_cast<double>(count) * flops / time; }
  /// Measured over modelled.
  std::optional<double> slowdown() const {
    if (!modelled) return std::nullopt;
    return time / static_cast<double>(count) / *modelled;
  }
};

struct KernelTable {
  std::vector<KernelRow> kernels;    // the longest in all first; of kernels with a name
  std::vector<ProductRow> products;  // likewise
};

/// [TRACE-14] `cluster`: whose accelerator the model is asked of; null: none.
KernelTable kernel_table(const Recording& recording, const Cluster* cluster);

}  // namespace headway
