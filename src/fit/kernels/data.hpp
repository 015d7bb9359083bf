// Measured kernels with the accelerators they ran on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {

enum class KernelClass { matmul, grouped_matmul, attention_forward, attention_backward };
constexpr std::array<std::string_view, 4> kKernelClassNames = {
    "matmul", "grouped_matmul", "attention_forward", "attention_backward"};

/// One measured kernel.
struct KernelMeasurement {
  std::string source;       // the repository or document, without the place in it
  std::size_t accelerator;  // index into KernelData::accelerators
  KernelClass kernel = KernelClass::matmul;
  Precision precision = Precision::bf16;
  Matmul product{0, 0, 0};
  AttentionShape attention{};
  double result_bytes = 0;  // moved per element of C
  Seconds time;
  bool fitted = true;  // false: only checked, a shape outside of training
};

struct SkippedKernels {
  std::size_t rows = 0;
  std::string reason;
};

struct KernelData {
  std::vector<Accelerator> accelerators;
  std::vector<KernelMeasurement> rows;
  std::vector<SkippedKernels> skipped;
};

/// Reads the text of data/measurements/kernels.csv; docs/models/kernels.md says what its columns
/// hold. `file` is shown in messages.
Result<KernelData> parse_kernel_data(std::string_view text, std::string file);

/// What the model says for a row.
Seconds predicted_time(const KernelMeasurement& row, const Accelerator& accelerator,
                       const KernelParameters& parameters);

}  // namespace headway
