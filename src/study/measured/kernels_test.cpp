#include "study/measured/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/kernels/kernels.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// One product of 4096 x 1024 by 1024 x 2048 in two kernels of 30 and 10 us, and a pass.
constexpr const char* kTrace = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "ts": 0, "dur": 100, "args": {}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 1, "dur": 2,
   "args": {"External id": 71, "Input Dims": [[2048], [4096, 1024], [1024, 2048], [], []],
            "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 30,
   "args": {"External id": 71, "correlation": 900, "stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "reduce", "pid": 0, "tid": 7, "ts": 40, "dur": 10,
   "args": {"External id": 71, "correlation": 901, "stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "gelu", "pid": 0, "tid": 7, "ts": 50, "dur": 50,
   "args": {"External id": 72, "correlation": 902, "stream": 7}}]})";

// [TRACE-14] 2 x 4096 x 2048 x 1024 FLOPs in 40 us.
TEST(Kernels, AProductTakesAllOfItsKernelsAndStandsBesideTheModels) {
  const Recording recording = read_text(kTrace);
  ASSERT_EQ(recording.steps.size(), 1U);
  EXPECT_EQ(recording.steps[0].number, 12);
  const Cluster cluster = load_cluster("dgx-h100").value();
  const KernelTable table = kernel_table(recording, &cluster);
  ASSERT_EQ(table.products.size(), 1U);
  const ProductRow& row = table.products[0];
  EXPECT_EQ(row.product.m, 4096);
  EXPECT_EQ(row.product.n, 2048);
  EXPECT_EQ(row.product.k, 1024);
  EXPECT_EQ(row.product.type, ElementType::bf16);
  EXPECT_NEAR(row.time.value(), 40e-6, 1e-12);
  EXPECT_NEAR(row.rate().value() / (2.0 * 4096 * 2048 * 1024 / 40e-6), 1, 1e-9);
  const auto constants = benchmarked_for(cluster).value();
  EXPECT_EQ(row.modelled, matmul_time({4096, 2048, 1024}, Precision::bf16, cluster.accelerator,
                                      constants.kernels));
  // A, B and C in 16 bit once, or the FLOPs at the peak: of such a product these take longer.
  const double peak = cluster.accelerator.peak_of(Precision::bf16).value();
  const double at_peak = 2.0 * 4096 * 2048 * 1024 / peak;
  const double moved = 2.0 * (4096.0 * 1024 + 1024.0 * 2048 + 4096.0 * 2048) /
                       cluster.accelerator.memory_bandwidth.value();
  ASSERT_TRUE(row.peak_share && row.roofline_share);
  EXPECT_NEAR(*row.peak_share, at_peak / 40e-6, 1e-9);
  EXPECT_NEAR(*row.roofline_share, std::max(at_peak, moved) / 40e-6, 1e-9);
  ASSERT_EQ(table.kernels.size(), 3U);
  EXPECT_EQ(table.kernels[0].name, "gelu");  // the longest
  const ProductRow alone = kernel_table(recording, nullptr).products[0];
  EXPECT_FALSE(alone.modelled || alone.peak_share || alone.roofline_share);
}

// A row times a square: 2 FLOPs for each weight of 2 bytes, far below what the memory would feed.
TEST(Kernels, AProductThatReadsMoreThanItComputesIsBoundByTheMemory) {
  std::string text = kTrace;
  constexpr std::string_view kSides = "[4096, 1024]";
  text.replace(text.find(kSides), kSides.size(), "[1, 1024]");
  const Cluster cluster = load_cluster("dgx-h100").value();
  const KernelTable table = kernel_table(read_text(text), &cluster);
  ASSERT_EQ(table.products.size(), 1U);
  const ProductRow& row = table.products[0];
  ASSERT_TRUE(row.peak_share && row.roofline_share);
  const double moved =
      2.0 * (1024 + 1024.0 * 2048 + 2048) / cluster.accelerator.memory_bandwidth.value();
  EXPECT_NEAR(*row.roofline_share, moved / 40e-6, 1e-9);
  EXPECT_LT(*row.peak_share, *row.roofline_share);
}

}  // namespace
}  // namespace headway
