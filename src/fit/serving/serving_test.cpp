#include "fit/serving/serving.hpp"

#include <gtest/gtest.h>

#include "fit/benchmarks/benchmarks.hpp"
#include "fit/serving/served_rows_for_test.hpp"

namespace headway {
namespace {

using testing::predicted;
using testing::table_of;

// NVIDIA's page of NeMo inference by way of Optimus (arXiv 2407.14645): Llama 2 7B on one H100, one
// request of 200 tokens in and out, 1.44 s.
TEST(MeasuredServing, IsPredictedByItsCells) {
  const auto rows = predicted(
      "a,optimus_nemo,x,llama-2-7b,6.74,H100-80GB,1,1,,,,fp16,fp16,nemo/tensorrt-llm,,1,200,200,,,,"
      "1.44,,,,0,whole request\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].engine, "tensorrt-llm-2024");  // its source is of that time
  EXPECT_EQ(rows[0].machine, "h100-sxm");
  ASSERT_TRUE(rows[0].error());
  EXPECT_LT(std::abs(*rows[0].error()), 0.15);
}

// [INFER-29] 32 clients' first tokens wait for each other, by how much is not known well; no kernel
// multiplies 128 MiB of a prompt's products faster than the data sheet has it.
TEST(MeasuredServing, HasNoIntervalThatPeaksForbid) {
  const auto rows = predicted(
      "a,s,x,llama-2-13b,13,A100,1,1,,,,fp16,fp16,tensorrt-llm,0.9,32,3900,2,,9,,,,,,0,\n");
  ASSERT_TRUE(rows.at(0).interval()) << rows[0].skipped_reason;
  EXPECT_GE(rows[0].interval()->low, 2 * 12.7e9 * 3900 / 312e12);
  EXPECT_LE(rows[0].interval()->low, *rows[0].predicted[0]);
}

// [INFER-31] Llama 2 7B in 16 bits: 6.74e9 parameters, and of 4 sequences of 600 tokens 524,288
// bytes each; the driver's context, 2,000 tokens of activations and logits lie between none and 2
// GB. A pool is the engine's share whatever is asked.
TEST(MeasuredServing, HoldsWeightsAndTheCacheOfItsBatch) {
  const std::string row =
      "a,s,x,llama-2-7b,7,A100-80GB,1,1,,,,fp16,fp16,vllm,0.5,4,500,100,,,,9,,,16,0,";
  const auto rows = predicted(row + "\n" + row + "memory is preallocated cache pool\n");
  const double least = (6.74e9 * 2 + 4 * 600 * 524'288.0) / 1e9;
  ASSERT_TRUE(rows.at(0).predicted_memory_gb) << rows[0].skipped_reason;
  EXPECT_EQ(rows[0].measured_memory_gb, 16);
  EXPECT_GT(*rows[0].predicted_memory_gb, least);
  EXPECT_LT(*rows[0].predicted_memory_gb, least + 2);
  EXPECT_NEAR(*rows.at(1).predicted_memory_gb, 0.9 * 80 * 1.073741824, 2);
  EXPECT_EQ(summarise_serving(rows).memory.rows, 2U);
}

// One client of an engine that holds many is far from what it could answer; of as many as memory
// holds it is all of it.
TEST(MeasuredServing, TellsFirstTokensBelowCapacityApart) {
  const std::string before = "a,s,x,llama-3-8b,8,H100,1,1,,,,,,vllm,0.11,";
  const auto report = summarise_serving(predicted(before + "1,1000,200,,0.1,0.01,,,,,0,\n" +
                                                  before + "400,1000,200,,1,0.05,,,,,0,\n" +
                                                  before + ",1000,200,,1,0.05,,,,,0,\n"));
  ASSERT_EQ(report.rows.size(), 3U);
  const double one = report.rows[0].of_capacity.value_or(0);
  // In steps of its own a token takes no less than in those of all.
  EXPECT_GT(one, 1.0 / 1024);
  EXPECT_LT(one, 0.1);
  EXPECT_NEAR(report.rows[1].of_capacity.value_or(0), 1, 0.2);
  EXPECT_LE(report.rows[1].of_capacity.value_or(2), 1);
  EXPECT_EQ(report.rows[2].of_capacity, 1);
  ASSERT_EQ(report.by_capacity.size(), 2U);
  EXPECT_EQ(report.by_capacity[0].error.rows, 1U);
  EXPECT_EQ(report.by_capacity[1].error.rows, 2U);
}

// Of two that say the same 10 and 12 s, 20 % apart, and one of them twice; another says a release
// that is of the same engine to the program: 15 over 10.
TEST(MeasuredServing, TellsHowFarRepeatedRowsLieApart) {
  const std::string before = ",s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,", behind = ",8,500,500,,,,";
  const auto report = summarise_serving(predicted("a" + before + "0.11" + behind + "10,,,,0,\nb" +
                                                  before + "0.11" + behind + "12,,,,0,\nc" +
                                                  before + "0.12" + behind + "15,,,,0,\n"));
  ASSERT_EQ(report.repeats.size(), 2U);
  EXPECT_EQ(report.repeats[0].quantity, "latency_s");
  EXPECT_EQ(report.repeats[0].rows, 2U);
  EXPECT_NEAR(report.repeats[0].median, 0.2, 1e-12);
  EXPECT_EQ(report.repeats[1].rows, 3U);
  EXPECT_EQ(report.repeats[1].configurations, 1U);
  EXPECT_NEAR(report.repeats[1].median, 0.5, 1e-12);
}

// [INFER-35] The A100 of LLM-Inference-Bench have 40 GB, of which a tenth is not the engine's:
// beside 13 GB of weights and 1 GB they hold some 11 sequences of 4,096 tokens of 0.5 MB. Twice as
// many take twice as long, 16 rather more than 8.
TEST(MeasuredServing, OfABatchThatMemoryDoesNotHoldIsAnsweredInTurns) {
  const auto latency = [](const std::string& batch) {
    const auto rows =
        predicted("a,llm_inference_bench,x,llama-2-7b,7,Nvidia A100 GPU,1,1,,,,,,vllm,," + batch +
                  ",2048,2048,,,,86.7,,,,0,static batch\n");
    EXPECT_EQ(rows[0].machine, "a100-40gb");
    EXPECT_EQ(rows[0].load, "together");
    return rows[0].predicted[2].value_or(0);
  };
  EXPECT_GT(latency("16") / latency("8"), 1.6);
  EXPECT_NEAR(latency("64") / latency("32"), 2, 0.3);
}

TEST(MeasuredServing, CountsWhatRanAndWhatRanOutOfMemory) {
  const auto report =
      summarise_serving(predicted("a,s,x,llama-2-70b,70,H100,1,1,,,,,,vllm,,8,500,500,,,,,,,,1,\n"
                                  "b,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,,8,500,500,,,,9,,,,0,\n"));
  EXPECT_EQ(report.ran_out, 1U);
  EXPECT_EQ(report.ran_out_and_does_not_fit, 1U);
  EXPECT_EQ(report.ran, 1U);
  EXPECT_EQ(report.ran_and_fits, 1U);
}

TEST(MeasuredServing, IsToldFromOtherFilesByItsColumns) {
  EXPECT_EQ(corpus_kind(table_of("")), CorpusKind::serving);
}

TEST(MeasuredServing, NamesTheColumnsThatAFileLacks) {
  const auto table = parse_csv("input_len,output_len,ttft_s\n1,1,1\n", "serving.csv");
  ASSERT_TRUE(table);
  const auto out = predict_serving(*table);
  ASSERT_FALSE(out);
  EXPECT_FALSE(out.problems().empty());
}

}  // namespace
}  // namespace headway
