#include "limits/machine/matmul.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "limits/golden_for_test.hpp"

namespace headway::limits {
namespace {

TEST(LimitsMatmul, LIMIT_1_tiles_are_square_where_the_matrix_allows_it) {
  // [LIMIT-1] 1024 x 1024 words of 2 bytes in 512 KiB: 4 tiles of 512 x 512.
  const Tiling square = tile(1024, 1024, 2, 512 * 1024);
  EXPECT_DOUBLE_EQ(square.rows, 2);
  EXPECT_DOUBLE_EQ(square.columns, 2);
  // 64 x 4096 falls into 4 pieces of its length only: a square tile would be higher than the
  // matrix.
  const Tiling flat = tile(64, 4096, 2, 128 * 1024);
  EXPECT_DOUBLE_EQ(flat.rows, 1);
  EXPECT_DOUBLE_EQ(flat.columns, 4);
  const Tiling whole = tile(64, 64, 2, 1 << 20);
  EXPECT_DOUBLE_EQ(whole.rows * whole.columns, 1);
}

TEST(LimitsMatmul, LIMIT_3_matches_the_reference_program_on_four_gpus) {
  // [LIMIT-3]
  const Csv rows = golden("limits_matmuls.csv");
  EXPECT_EQ(rows.rows.size(), 96u);
  for (const CsvRow& row : rows.rows) {
    const Machine machine = machine_for_test(row.cells[0]);
    const auto kind = row.cells[4] == "1" ? MatmulKind::weight_gradient : MatmulKind::activations;
    const Matmul product(machine.gpu, Precision::fp16, std::stod(row.cells[1]),
                         std::stod(row.cells[2]), kind);
    EXPECT_LT(apart(product.time(std::stod(row.cells[3])).value(), std::stod(row.cells[5])), 1e-12)
        << "line " << row.line;
  }
}

TEST(LimitsMatmul, LIMIT_2_few_tokens_wait_for_the_weights_from_memory) {
  // [LIMIT-2] 20480 x 20480 weights with their gradient exceed every cache, so each product reads
  // them from memory at least once: 2 B d^2 / 3352 GB/s, and 4 B d^2 for a gradient.
  const Gpu gpu = machine_for_test("h100-sxm").gpu;
  const double d = 20480, weights = 2 * d * d;
  for (const auto& [kind, times] :
       {std::pair(MatmulKind::activations, 1.0), std::pair(MatmulKind::weight_gradient, 2.0)}) {
    const double least = times * weights / 3352e9 + 4.5e-6;
    const double found = Matmul(gpu, Precision::bf16, d, d, kind).time(8).value();
    EXPECT_GE(found, least);
    EXPECT_LT(found, 1.05 * least);  // the activations of 8 tokens add little
  }
}

TEST(LimitsMatmul, many_tokens_run_at_the_sustained_peak) {
  const Gpu gpu = machine_for_test("h100-sxm").gpu;
  const double d = 8192, tokens = 65536;
  const double flop = 2 * d * d * tokens;
  const Matmul product(gpu, Precision::bf16, d, d, MatmulKind::activations);
  const Seconds busy = product.time(tokens) - gpu.kernel_latency;
  EXPECT_LT(apart(flop / busy.value(), 0.7 * 989.42976e12), 1e-9);
}

TEST(LimitsMatmul, faster_parts_never_make_a_product_slower) {
  const Gpu gpu = machine_for_test("a100-sxm").gpu;
  const std::function<void(Gpu&)> better[] = {
      [](Gpu& g) { g.peak[static_cast<int>(Precision::bf16)] *= 2; },
      [](Gpu& g) { g.memory_bandwidth *= 2; },
      [](Gpu& g) { g.l2_bandwidth *= 2; },
      [](Gpu& g) { g.shared_bandwidth *= 2; },
      [](Gpu& g) { g.kernel_latency /= 2; },
      [](Gpu& g) { g.sustained = 1; }};
  for (const double rows : {96.0, 1536.0, 12288.0}) {
    for (const double tokens : {1.0, 100.0, 4096.0}) {
      for (const auto kind : {MatmulKind::activations, MatmulKind::weight_gradient}) {
        const Seconds before = Matmul(gpu, Precision::bf16, rows, 4096, kind).time(tokens);
        for (const auto& improve : better) {
          Gpu improved = gpu;
          improve(improved);
          EXPECT_LE(Matmul(improved, Precision::bf16, rows, 4096, kind).time(tokens), before);
        }
      }
    }
  }
}

}  // namespace
}  // namespace headway::limits
