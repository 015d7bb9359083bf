// Rows of measured workloads. The measured steps are MLPerf Training's (v1.1 to v4.0): entries of
// single nodes of eight, as github.com/mlcommons/training_results_v2.0 and later have them.
#include "fit/workloads/workloads.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

std::vector<BenchmarkRow> rows_of(const std::string& lines) {
  const auto csv = parse_csv(
      "id,source_key,model,accelerator,n_accel,precision,global_batch,seq_or_image,framework,"
      "step_time_s,benchmark,round,division\n" +
          lines,
      "w.csv");
  EXPECT_TRUE(csv.ok());
  EXPECT_EQ(corpus_kind(*csv), CorpusKind::workloads);
  const auto rows = predict_workloads(*csv);
  EXPECT_TRUE(rows.ok());
  return rows ? *rows : std::vector<BenchmarkRow>();
}

TEST(Workloads, OfPublishedEntriesArePredictedWithinAFifth) {
  const auto rows = rows_of(
      "a,mlperf_training_v2.0,ResNet-50 v1.5,NVIDIA A100-SXM4-80GB,8,,3264,224x224,MXNet,0.124344,"
      "resnet,v2.0,closed\n"
      "b,mlperf_training_v4.0,ResNet-50 v1.5,NVIDIA H100-SXM5-80GB,8,,3200,224x224,MXNet,0.056623,"
      "resnet,v4.0,closed\n"
      "c,mlperf_training_v3.0,Mask R-CNN,NVIDIA H100-SXM5-80GB,8,,96,800-1333 px,PyTorch,0.0595826,"
      "maskrcnn,v3.0,closed\n"
      "d,mlperf_training_v4.0,DLRM-DCNv2 (Criteo multi-hot),NVIDIA "
      "H100-SXM5-80GB,8,,55296,,hugectr,"
      "0.00353801,dlrm_dcnv2,v4.0,closed\n");
  ASSERT_EQ(rows.size(), 4U);
  for (const BenchmarkRow& row : rows) {
    ASSERT_TRUE(row.error().has_value()) << row.id << " " << row.skipped_reason;
    EXPECT_LT(std::abs(*row.error()), 0.2) << row.id;
    EXPECT_TRUE(row.fits.value_or(false)) << row.id;
  }
}

// Of BERT a single node of either generation, and the most of two rounds: gradients of one block,
// of five, in 16 bits on 434 nodes.
TEST(Workloads, OfBertArePredictedFromOneNodeToHundreds) {
  const auto rows = rows_of(
      "a,mlperf_training_v2.0,BERT-large pretraining,NVIDIA A100-SXM4-80GB,8,,448,seq 512,PyTorch,"
      "0.186195,bert,v2.0,closed\n"
      "b,mlperf_training_v4.0,BERT-large pretraining,NVIDIA H100-SXM5-80GB,8,,768,seq 512,PyTorch,"
      "0.094795,bert,v4.0,closed\n"
      "c,mlperf_training_v2.0,BERT-large pretraining,NVIDIA A100-SXM4-80GB,4096,,16384,seq 512,"
      "PyTorch,0.037027,bert,v2.0,closed\n"
      "d,mlperf_training_v3.1,BERT-large pretraining,NVIDIA H100-SXM5-80GB,3472,,13888,seq 512,"
      "PyTorch,0.018111,bert,v3.1,closed\n");
  ASSERT_EQ(rows.size(), 4U);
  for (const BenchmarkRow& row : rows) {
    ASSERT_TRUE(row.error().has_value()) << row.id << " " << row.skipped_reason;
    EXPECT_LT(std::abs(*row.error()), 0.15) << row.id;
  }
  EXPECT_EQ(rows[1].format, "fp8");
  EXPECT_EQ(rows[3].format, "fp16");
}

TEST(Workloads, ThatCannotBePredictedSayWhy) {
  const auto rows = rows_of(
      "a,mlperf_training_v2.0,Minigo,NVIDIA A100-SXM4-80GB,8,,3264,,MXNet,0.1,x,v2.0,closed\n"
      "b,mlperf_training_v2.0,ResNet-50 v1.5,Graphcore Bow IPU,16,,3264,,MXNet,0.1,x,v2.0,closed\n"
      "c,mlperf_training_v2.0,ResNet-50 v1.5,NVIDIA A100-SXM4-80GB,8,,,,MXNet,0.1,x,v2.0,closed\n"
      "d,mlperf_training_v2.0,ResNet-50 v1.5,NVIDIA A100-SXM4-80GB,8,,4,,MXNet,0.1,x,v2.0,closed\n"
      "e,mlperf_training_v2.0,ResNet-50 v1.5,NVIDIA A100-SXM4-80GB,8,int4,8,,MXNet,0.1,x,v2.0,\n"
      "g,mlperf_training_v2.0,ResNet-50 v1.5,NVIDIA A100-SXM4-80GB,8,,3264,384x384,MXNet,0.1,x,"
      "v2.0,closed\n"
      "f,mlperf_training_v1.1,BERT-large pretraining,NVIDIA A100-SXM4-80GB,8,,8,,MXNet,0.1,x,v1.1,"
      "open\n");
  const char* reasons[] = {
      "no model is known by this name", "no cluster is known of this accelerator",
      "cell missing: global_batch",     "a sample lies on several accelerators",
      "no word for this precision",     "the network is known for other samples",
      "the open division: other models"};
  ASSERT_EQ(rows.size(), 7U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].skipped_reason, reasons[i]) << rows[i].id;
    EXPECT_FALSE(rows[i].predicted.has_value());
  }
}

// Eleven rows of two rounds, measured e^-0.5, e^-0.4 ... e^0.5 times what is predicted; of their
// order statistics the second is the quantile 0.1, the tenth the quantile 0.9. Those at most e^0.1
// away lie inside.
TEST(Workloads, SpreadsAreQuantilesOfBothRoundsTogether) {
  std::vector<BenchmarkRow> rows;
  for (int i = -5; i <= 5; ++i) {
    BenchmarkRow row;
    row.source_key = i < 0 ? "mlperf_training_v2.0" : "mlperf_training_v2.1";
    row.ranks = 8;
    row.predicted = Seconds(1);
    row.measured = Seconds(std::exp(0.1 * i));
    row.least = Seconds(std::exp(-0.101));
    row.most = Seconds(std::exp(0.101));
    rows.push_back(row);
  }
  rows.emplace_back();  // neither measured nor predicted
  const auto spreads = workload_spreads(rows);
  ASSERT_EQ(spreads.size(), 1U);
  EXPECT_EQ(spreads[0].source, "mlperf_training");
  EXPECT_TRUE(spreads[0].node);
  EXPECT_EQ(spreads[0].rows, 11U);
  EXPECT_NEAR(spreads[0].below, 0.4, 1e-12);
  EXPECT_NEAR(spreads[0].above, 0.4, 1e-12);
  EXPECT_NEAR(spreads[0].inside, 3.0 / 11, 1e-12);
}

BenchmarkRow entry(const char* round, std::int64_t ranks, double measured, double predicted = 1) {
  BenchmarkRow row;
  row.source_key = std::string("mlperf_training_") + round;
  row.maker = round;
  row.op = "bert-large";
  row.machine = "h100-sxm";
  row.ranks = ranks;
  row.samples = 10 * static_cast<double>(ranks);
  row.measured = Seconds(measured);
  row.predicted = Seconds(predicted);
  return row;
}

// Of one round ln(measured / predicted) is -0.5 ... 0.5, quantiles -0.4 and 0.4; of the other 0,
// 0.3, 0.45 and 0.6: two of four lie within, and the errors are e^-x - 1.
TEST(Workloads, ARoundIsHeldAgainstWhatTheOthersSay) {
  std::vector<BenchmarkRow> rows;
  for (int i = -5; i <= 5; ++i) rows.push_back(entry("v1.0", 8, std::exp(0.1 * i)));
  for (const double log : {0.0, 0.3, 0.45, 0.6}) rows.push_back(entry("v2.0", 8, std::exp(log)));
  rows.push_back(entry("v3.0", 16, 2));  // on more than a node nothing stands beside it
  const auto left = workloads_left_out(rows);
  ASSERT_EQ(left.size(), 4U);  // each round, and each maker
  EXPECT_EQ(left[3].what, "round v2.0");
  EXPECT_EQ(left[3].error.rows, 4U);
  EXPECT_NEAR(left[3].inside, 0.5, 1e-12);
  EXPECT_NEAR(left[3].error.median, 1 - 0.5 * (std::exp(-0.3) + std::exp(-0.45)), 1e-12);
  EXPECT_EQ(left[1].what, "maker v2.0");
  EXPECT_NEAR(left[1].inside, left[3].inside, 1e-12);
}

// Ten samples an accelerator in a second among eight, in 1.25 s among 64: four fifths are kept,
// where all of it was predicted. A round whose most are sixteen says nothing.
TEST(Workloads, WhatIsKeptOfARateIsThatAmongTheMost) {
  const auto kept = workload_scaling(std::vector{entry("v1.0", 8, 1), entry("v1.0", 64, 1.25),
                                                 entry("v1.0", 32, 9), entry("v2.0", 8, 1),
                                                 entry("v2.0", 16, 2)});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].round, "v1.0");
  EXPECT_EQ(kept[0].ranks, 64);
  EXPECT_NEAR(kept[0].measured, 0.8, 1e-12);
  EXPECT_NEAR(kept[0].predicted, 1, 1e-12);
}

}  // namespace
}  // namespace headway
