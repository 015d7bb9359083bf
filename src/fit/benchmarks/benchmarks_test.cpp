#include "fit/benchmarks/benchmarks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/source_dir_for_test.hpp"
#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/serving/formats.hpp"
#include "fit/collectives/data.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr const char* kProducts =
    "source,date,accelerator,dtype,op,m,n,k,batch,layout,latency_ms,tflops,peak_tflops_assumed,"
    "notes\n";
constexpr const char* kInference =
    "source_key,source,accelerator,engine,engine_version,kernel,op,dtype,kv_dtype,ranks,nodes,m,n,"
    "k,"
    "batch,seq_q,seq_kv,heads,kv_heads,head_dim,tokens,hidden,inter,topk,experts,moe_tp,ep,"
    "distribution,bytes,time_us,notes\n";
constexpr const char* kCollectives =
    "source,license,line,hardware,network,nodes,ranks,op,dtype,bytes,time_us\n";

Csv table(const std::string& text) {
  return parse_csv(text, "t.csv").value();
}

std::vector<BenchmarkRow> predicted(const std::string& text,
                                    const std::optional<Cluster>& cluster = {}) {
  const Csv csv = table(text);
  return predict_benchmarks(csv, corpus_kind(csv), cluster).value();
}

struct Machine {
  Accelerator accelerator;
  KernelParameters kernels;
};
Machine machine(const char* name) {
  const Accelerator accelerator = load_accelerator(name).value();
  return {accelerator, kernel_parameters_for(accelerator).value()};
}

TEST(Benchmarks, TheColumnsTellWhatAFileHolds) {
  EXPECT_EQ(corpus_kind(table(std::string(kProducts) + "s,,H100,bf16,gemm,1,1,1,,,1,,,\n")),
            CorpusKind::products);
  EXPECT_EQ(corpus_kind(table(kInference)), CorpusKind::inference_kernels);
  EXPECT_EQ(corpus_kind(table(kCollectives)), CorpusKind::collectives);
  EXPECT_EQ(corpus_kind(table("id,step_time_s\n")), CorpusKind::training);
}

TEST(Benchmarks, MissingColumnsAreAllTold) {
  const Csv csv = table("op,latency_ms,tflops\n");
  const auto rows = predict_benchmarks(csv, corpus_kind(csv));
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.problems().size(), 8u);
}

// 2 · 4096³ FLOP at 500 TFLOP/s take 274.88 us; a latency is taken as it stands.
TEST(Benchmarks, ARateOfAProductIsATime) {
  const auto rows = predicted(std::string(kProducts) +
                              "github:a/b@1:c,,H100,bf16,mm,4096,4096,4096,,,,500,,\n"
                              "x,,H100 SXM,bf16,mm,4096,4096,4096,,,0.3,500,,\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(rows[0].measured->value() * 1e6, 2 * 4096.0 * 4096 * 4096 / 500e6, 1e-6);
  EXPECT_NEAR(rows[1].measured->value() * 1e6, 300, 1e-9);
  EXPECT_EQ(rows[0].source_key, "a/b");
  EXPECT_EQ(rows[0].id, "2");
  const auto [h100, kernels] = machine("h100-sxm");
  const Seconds expected = matmul_time({4096, 4096, 4096}, Precision::bf16, h100, kernels);
  EXPECT_EQ(rows[0].predicted->value(), expected.value());
  EXPECT_NEAR(*rows[1].error(), expected.value() / 300e-6 - 1, 1e-12);
  EXPECT_EQ(rows[0].size, ">= 512 rows");
}

// An accelerator without rows of its own: the data sheet of the H800 is the H100's but for links.
TEST(Benchmarks, AnAcceleratorThatWasNotMeasuredIsPredictedFromItsDataSheet) {
  const auto rows = predicted(std::string(kProducts) +
                              "x,,H800,fp8,mm,4096,4096,7168,,,1,,,\n"
                              "x,,H100,fp8,mm,4096,4096,7168,,,1,,,\n"
                              "x,,MI355X,nvfp4,mm,4096,4096,7168,,,1,,,\n"
                              "x,,MI300X,fp8_block,mm,4096,4096,7168,,,1,,,\n");
  ASSERT_EQ(rows.size(), 4u);
  for (const BenchmarkRow& row : rows) ASSERT_TRUE(row.predicted) << row.skipped_reason;
  EXPECT_EQ(rows[0].predicted->value(), rows[1].predicted->value());
  const double flops = 2.0 * 4096 * 4096 * 7168;
  EXPECT_LT(flops / rows[3].predicted->value(),
            machine("mi300x").accelerator.peak_of(Precision::fp8).value());
}

TEST(Benchmarks, GradientsOfAGroupAreTheProductsThatAreComputed) {
  const std::string key = "key: ng=8, M=512, N=1024, K=2048, main_grad_dtype=fp32, accumulate=";
  const auto rows = predicted(
      std::string(kProducts) + "x,,A100 PCIe,bf16,group_matmul fwd,512,1024,2048,8,,1,,,\"" + key +
      "False\"\n"
      "x,,A100 PCIe,bf16,group_matmul bwd_grad_act,512,1024,2048,8,,1,,,\"" +
      key +
      "False\"\n"
      "x,,A100 PCIe,bf16,group_matmul bwd_grad_w,512,1024,2048,8,,1,,,\"" +
      key + "True\"\n");
  const auto [a100, kernels] = machine("a100-pcie-80gb");
  const auto time = [&, &a100 = a100, &kernels = kernels](Matmul shape, double bytes) {
    return matmul_time(shape, Precision::bf16, a100, kernels, bytes).value();
  };
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].predicted->value(), time({512, 1024, 2048, 8}, 0));
  EXPECT_EQ(rows[1].predicted->value(), time({512, 2048, 1024, 8}, 0));
  EXPECT_EQ(rows[2].predicted->value(), time({1024, 2048, 512, 8}, 8));
}

// Causal attention of SimuMax: TFLOP/s of the whole rectangle, 2 · 2 · 64 heads · 4096² · 128.
TEST(Benchmarks, AttentionIsReadFromTheNotes) {
  const auto rows =
      predicted(std::string(kProducts) +
                "x,,B200 SXM,bf16,sdp_fwd,,,,,,,1000,,\"key: batch=1, seq_len=4096, head_num=64, "
                "kv_head_num=8, qk_head_dim=128, v_head_dim=128\"\n"
                "x,,B200 SXM,bf16,sdp_bwd,,,,,,,1000,,\"key: batch=1, seq_len=4096\"\n");
  EXPECT_NEAR(rows[0].measured->value(), 4 * 64.0 * 4096 * 4096 * 128 / 1e15, 1e-12);
  EXPECT_EQ(rows[0].op, "attention forward");
  EXPECT_FALSE(rows[1].predicted);
  EXPECT_EQ(rows[1].skipped_reason, "shape missing: head_num");
}

std::string inference(const std::string& accelerator, const std::string& op,
                      const std::string& dtype, const std::string& from_m) {
  return "k,s," + accelerator + ",e,1,kernel," + op + "," + dtype + ",bfloat16,,," + from_m + "\n";
}

// A quantisation in the time is 5 bytes an element of the left operand, tensor-wise.
TEST(Benchmarks, ProductsOfEnginesHaveTheirQuantisationInThem) {
  const std::string shape = "1024,4096,8192,,,,,,,,,,,,,,,,500,";
  const auto rows = predicted(kInference + inference("h200_sxm", "gemm", "fp8", shape) +
                              inference("h200_sxm", "gemm", "bfloat16", shape) +
                              inference("h200_sxm", "gemm", "int4_wo", shape) +
                              inference("h200_sxm", "gemm", "int3_wo", shape));
  ASSERT_EQ(rows.size(), 4u);
  const auto [h200, kernels] = machine("h200");
  const double product = matmul_time({1024, 4096, 8192}, Precision::fp8, h200, kernels).value();
  const double pass = 5 * 1024.0 * 8192 / (4.8e12 * kernels.memory_efficiency) +
                      kernels.of(ProductFormat::bits_8).quantisation_start.value();
  EXPECT_NEAR(rows[0].predicted->value(), product + pass, 1e-12);
  EXPECT_EQ(rows[1].predicted->value(),
            matmul_time({1024, 4096, 8192}, Precision::bf16, h200, kernels).value());
  EXPECT_EQ(rows[2].predicted->value(),
            unpacked_product_time({1024, 4096, 8192}, *weight_format("int4"), h200, kernels,
                                  *format_kernels_for(h200))
                .value());
  EXPECT_EQ(rows[3].skipped_reason, "no products of this format: int3_wo");
  EXPECT_EQ(rows[3].measured->value(), 500e-6);
}

// Whatever a table holds, each row is predicted or says why not; cells that mean nothing are told.
TEST(Benchmarks, ARowThatCannotBePredictedSaysWhy) {
  const auto rows = predicted(std::string(kProducts) +
                              "x,,H100,bf16,mm,-1,4096,4096,,,1,,,\n"
                              "x,,H100,bf16,mm,1e99,4096,4096,,,1,,,\n"
                              "x,,H100,bf16,mm,nan,4096,4096,,,1,,,\n"
                              "x,,H100,bf16,mm,1.5,4096,4096,,,1,,,\n"
                              "x,,H100,bf16,mm,8,4096,4096,,,0,,,\n"
                              "x,,H100,bf16,mm,8,4096,4096,,,,,,\n"
                              "x,,H100,bf17,mm,8,4096,4096,,,1,,,\n"
                              "x,,Abacus,bf16,mm,8,4096,4096,,,1,,,\n"
                              "x,,\"A100 (ncu, clock locked)\",bf16,mm,8,4096,4096,,,1,,,\n"
                              "x,,,bf16,mm,8,4096,4096,,,1,,,\n");
  ASSERT_EQ(rows.size(), 10u);
  const BenchmarkReport report = summarise(CorpusKind::products, rows);
  EXPECT_EQ(report.all.predicted, 0u);
  EXPECT_EQ(report.skipped.at("cell that cannot be read: m"), 4u);
  EXPECT_EQ(report.skipped.at("cell that cannot be read: latency_ms"), 1u);
  EXPECT_EQ(report.skipped.at("cell missing: latency_ms or tflops"), 1u);
  EXPECT_EQ(report.skipped.at("no products of this format: bf17"), 1u);
  EXPECT_EQ(report.skipped.at("no data sheet of this accelerator"), 1u);
  EXPECT_EQ(report.skipped.at("the clock is locked below the data sheet's"), 1u);
  EXPECT_EQ(report.skipped.at("cell missing: accelerator"), 1u);
}

// Two errors in one group: -50 and +100 %.
TEST(Benchmarks, GroupsShareAcceleratorFormatOperationAndSize) {
  BenchmarkRow row;
  row.machine = "h100-sxm";
  row.measured = Seconds(2);
  row.predicted = Seconds(1);
  std::vector<BenchmarkRow> rows = {row, row, row};
  rows[1].predicted = Seconds(4);
  rows[2].size = "< 128 rows";
  rows[2].predicted.reset();
  rows[2].skipped_reason = "why";
  const BenchmarkReport report = summarise(CorpusKind::products, rows);
  ASSERT_EQ(report.groups.size(), 2u);
  EXPECT_EQ(report.groups[0].rows, 2u);
  EXPECT_NEAR(report.groups[0].error.mean, 0.75, 1e-12);
  EXPECT_EQ(report.groups[1].predicted, 0u);
  EXPECT_EQ(report.all.rows, 3u);
  EXPECT_EQ(report.all.predicted + report.skipped.at("why"), report.all.rows);
}

TEST(Benchmarks, CollectivesRunOnTheClusterThatTheirHardwareNamesOrThatIsGiven) {
  const std::string text =
      std::string(kCollectives) +
      "s,MIT,1,H100-SXM5-80GB (DGX),NVLink4,1,8,all_reduce,float,8589934592,500\n"
      "s,MIT,1,MI300X,Infinity Fabric,1,8,all_reduce,float,134217728,900\n"
      "s,MIT,1,H100-SXM5-80GB (DGX),NVLink4,1,8,reduce,float,134217728,500\n"
      "s,MIT,1,Abacus,Ropes,1,8,all_reduce,float,134217728,500\n"
      "s,MIT,1,H100-SXM5-80GB (DGX),NVLink4,8,4,all_reduce,float,1,500\n";
  const auto rows = predicted(text);
  ASSERT_EQ(rows.size(), 5u);
  const Cluster dgx = load_cluster("dgx-h100").value();
  const LevelParameters levels = benchmarked_for(dgx)->levels;
  const Bytes bytes(8589934592);
  EXPECT_EQ(rows[0].predicted->value(),
            collective_time(CollectiveOp::all_reduce, bytes, benchmark_span(8, 1, dgx), dgx, levels)
                .value());
  EXPECT_EQ(rows[0].machine, "dgx-h100");
  EXPECT_EQ(rows[0].size, "> 64 MiB");
  EXPECT_TRUE(rows[1].predicted);
  EXPECT_EQ(rows[1].assumed, std::vector<std::string>{"cluster=mi300x-8"});
  EXPECT_EQ(rows[2].skipped_reason, "no word for this operation: reduce");
  EXPECT_EQ(rows[3].skipped_reason, "no cluster is known of this hardware");
  EXPECT_EQ(rows[4].skipped_reason, "fewer ranks than nodes");

  // Half the bandwidth within a node: a long message takes about twice as long.
  Cluster slow = dgx;
  slow.levels[0].bandwidth *= 0.5;
  const auto own = predicted(text, slow);
  EXPECT_NEAR(*own[0].predicted / *rows[0].predicted, 2, 0.1);
  EXPECT_TRUE(own[3].predicted) << "the hardware is what --cluster says";
}

// The kernels that the repository holds, through this door: as good as the fit says.
TEST(Benchmarks, EveryRowOfTheMeasuredCollectivesIsPredictedOrSaysWhy) {
  const auto text = read_file(source_dir() + "/data/measurements/collectives.csv");
  ASSERT_TRUE(text.ok());
  const Csv csv = table(*text);
  const BenchmarkReport report =
      summarise(corpus_kind(csv), predict_benchmarks(csv, corpus_kind(csv)).value());
  std::size_t skipped = 0;
  for (const auto& [reason, rows] : report.skipped) skipped += rows;
  EXPECT_EQ(report.all.predicted + skipped, csv.rows.size());
  EXPECT_EQ(skipped, 64u + 50u) << "reduce, and a run over TCP as an example of a wrong set-up";
}

}  // namespace
}  // namespace headway
