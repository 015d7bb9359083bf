// Measured kernels with the accelerators they ran on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "cost/kernels/kernels.hpp"

namespace headway {

/// What is fitted apart: products by format (in its order), groups, attention each way.
enum class KernelClass : std::uint8_t {
  matmul,
  matmul_8_bit,
  matmul_8_bit_blocks,
  matmul_4_bit,
  grouped_matmul,
  attention_forward,
  attention_backward
};
constexpr std::size_t kKernelClasses = 7;
constexpr std::array<std::string_view, kKernelClasses> kKernelClassNames = {
    "matmul",         "matmul_8_bit",      "matmul_8_bit_blocks", "matmul_4_bit",
    "grouped_matmul", "attention_forward", "attention_backward"};

/// One product, of whatever format.
constexpr bool is_matmul(KernelClass kernel) {
  return kernel < KernelClass::grouped_matmul;
}

/// One measured kernel.
struct KernelMeasurement {
  std::string source;       // the repository or document, without the place in it
  std::size_t accelerator;  // index into KernelData::accelerators
  KernelClass kernel = KernelClass::matmul;
  Precision precision = Precision::bf16;
  Matmul product{0, 0, 0};
  AttentionShape attention{};
  std::optional<AttentionKernel> algorithm = std::nullopt;  // where the row says which
  double result_bytes = 0;                                  // moved per element of C
  Scaling scaling = Scaling::whole;
  double quantised_bytes =
      0;  // moved per element of A by its quantisation, which the time has in it
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
