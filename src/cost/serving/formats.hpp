// Formats of weights that serving has and training has not, and products of weights in them.
// Formulas: docs/models/infer.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cost/kernels/kernels.hpp"

namespace headway {

/// How weights lie in memory (data/serving/formats.toml).
struct WeightFormat {
  std::string name;            // "int4"
  double bits = 16;            // of a weight
  double scales = 0;           // bits of scales and zeros, for each weight
  std::string recipe;          // of training, in which the products compute
  std::string arithmetic;      // of products of such weights, where it is not the recipe's
  bool experts_only = false;   // of a model with experts all else is the recipe's
  bool integer = false;        // products of 8-bit integers, in place of the recipe's
  std::string dense, experts;  // which constants hold for products, and for groups of them

  double bytes() const { return (bits + scales) / 8; }
};

const Result<std::vector<WeightFormat>>& weight_formats();
/// Nothing where no format has this name.
const WeightFormat* weight_format(std::string_view name);

/// How keys and values lie in the cache.
struct CacheFormat {
  std::string name;
  double bytes = 2;  // of a value, with its scales
};
const Result<std::vector<CacheFormat>>& cache_formats();
/// Nothing where no format has this name.
const CacheFormat* cache_format(std::string_view name);

/// Constants of products of one kind; shares are of the data sheet, 0 ... 1.
struct UnpackedProducts {
  Seconds start;
  Seconds depth;         // for each element of k: to load, unpack and multiply follow on each other
  double memory = 1;     // of the memory bandwidth
  double ceiling = 1;    // of the peak
  bool measured = true;  // on the accelerator's architecture; else on others
};

/// Constants of one accelerator.
struct FormatKernels {
  std::map<std::string, UnpackedProducts, std::less<>> products;  // by kind
  FlopsPerSecond integer_rate;  // of products of 8-bit integers; 0: none
};
Result<FormatKernels> format_kernels_for(const Accelerator& accelerator);

/// Of products of such weights: of 8-bit integers, of the format's own arithmetic, or of the
/// accelerator's 16 bits, whichever these are.
FlopsPerSecond peak_of(const WeightFormat& format, const Accelerator& accelerator,
                       const FormatKernels& kernels);

/// [INFER-20] A product of weights in `format`, `shape.batch` of them as a group of experts.
Seconds unpacked_product_time(const Matmul& shape, const WeightFormat& format,
                              const Accelerator& accelerator, const KernelParameters& parameters,
                              const FormatKernels& kernels);

}  // namespace headway
