#include "study/measured/kernels.hpp"

#include <gtest/gtest.h>

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
  ASSERT_EQ(table.kernels.size(), 3U);
  EXPECT_EQ(table.kernels[0].name, "gelu");  // the longest
  EXPECT_FALSE(kernel_table(recording, nullptr).products[0].modelled);
}

}  // namespace
}  // namespace headway
