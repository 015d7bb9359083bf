// What served the requests of a row: engine, formats, split.
#include <gtest/gtest.h>

#include "fit/serving/served_rows_for_test.hpp"

namespace headway {
namespace {

using testing::predicted;
using testing::table_of;

TEST(MeasuredServing, IsOfTheReleaseThatTheRowNames) {
  const std::string before = "a,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,";
  const std::string behind = ",8,500,500,,,,9,,,,0,\n";
  EXPECT_EQ(predicted(before + "0.5.4" + behind)[0].engine, "vllm-2024");
  EXPECT_EQ(predicted(before + "0.6.3" + behind)[0].engine, "vllm-0.6");
  EXPECT_EQ(predicted(before + "0.8.0" + behind)[0].engine, "vllm");
  EXPECT_EQ(predicted(before + "0.11.0" + behind)[0].engine, "vllm");
  EXPECT_EQ(predicted(before + "nightly" + behind)[0].engine, "vllm");
}

// TensorRT-LLM before 0.10 had other kernels than that of 2024.
TEST(MeasuredServing, OfAnEngineWithSeveralReleasesIsOfTheOneItSays) {
  const std::string before = "a,s,x,llama-2-7b,7,H100,1,1,,,,fp16,fp16,tensorrt-llm,";
  const std::string behind = ",8,500,500,,,,9,,,,0,\n";
  EXPECT_EQ(predicted(before + "0.9.0" + behind)[0].engine, "tensorrt-llm-2023");
  EXPECT_EQ(predicted(before + "0.17.0" + behind)[0].engine, "tensorrt-llm-2024");
  EXPECT_EQ(predicted(before + "1.2.0rc6" + behind)[0].engine, "tensorrt-llm");
}

// Checkpoints of experts in 4 bits have a cache of 8; scripts that say another one stand before
// that, a row's own cell before both. MiniMax on B200 had 16 bits before April 2026.
TEST(MeasuredServing, HasTheCacheThatItsRowItsSourceOrItsWeightsSay) {
  const auto cache_of = [](const char* model, const char* on, const char* engine, const char* said,
                           const char* day) {
    const auto cases = read_serving(
        table_of(std::string("a,inferencemax,x,") + model + ",671," + on + "," + said + "," +
                 engine + ",,16,1024,1024,,0.3,0.01,,,,,0,mode=agg; measured " + day + "\n"));
    return cases->front().asked->serving.cache->name;
  };
  const char *blackwell = "b200_sxm,8,8,1,1,1", *hopper = "h200_sxm,8,8,1,1,1";
  const char* four = "b200_sxm,4,4,1,1,1";
  EXPECT_EQ(cache_of("deepseek-r1", blackwell, "tensorrt-llm", "fp4,", "2026-02-03"), "fp8");
  EXPECT_EQ(cache_of("deepseek-r1", hopper, "sglang", "fp8,", "2026-03-25"), "bf16");
  EXPECT_EQ(cache_of("deepseek-r1", hopper, "sglang", "fp8,fp8", "2026-03-25"), "fp8");
  EXPECT_EQ(cache_of("minimax-m2.5", four, "vllm", "fp8,", "2026-03-28"), "bf16");
  EXPECT_EQ(cache_of("minimax-m2.5", four, "vllm", "fp8,", "2026-04-03"), "fp8");
}

// Checkpoints of a model in 8 bits differ: Qwen's own have a scale for each 128 x 128 weights.
TEST(MeasuredServing, HasTheScalesThatItsModelOrItsNotesSay) {
  const auto weights_of = [](const char* model, const char* notes) {
    const auto cases = read_serving(table_of(
        std::string("a,s,x,") + model +
        ",235,h200_sxm,8,8,1,1,1,fp8,,sglang,,16,1024,1024,,0.3,0.01,,,,,0," + notes + "\n"));
    return cases->front().asked->serving.weights->name;
  };
  EXPECT_EQ(weights_of("deepseek-r1", ""), "fp8-block");
  EXPECT_EQ(weights_of("qwen3-235b-a22b", "gemm fp8_block; moe fp8_block"), "fp8-block");
  EXPECT_EQ(weights_of("qwen3-235b-a22b", "gemm fp8; moe fp8"), "fp8");
}

TEST(MeasuredServing, WithoutABatchIsOfAsManyAsMemoryHolds) {
  const auto rows = predicted(
      "a,s,x,llama-2-7b,7,H100,1,1,,,,fp16,fp16,tensorrt-llm,0.17,,500,500,,,,,5000,,,0,\n");
  ASSERT_TRUE(rows[0].predicted[3]);
  ASSERT_EQ(rows[0].assumed.size(), 1U);
  EXPECT_EQ(rows[0].assumed[0].substr(0, 6), "batch=");
}

// Where experts lie over copies of attention, the published recipes send tokens by kernels of their
// own and have 32 experts twice.
TEST(MeasuredServing, OfExpertsOverCopiesApartHasTheExchangeOfItsRecipe) {
  const auto decode_of = [](const char* engine, const char* on, const char* split) {
    const auto cases = read_serving(table_of(
        std::string("a,inferencemax,x,deepseek-r1,671,") + on + ",16,8,1,8,1,fp8,," + engine +
        ",,32,8192,1024,,1.8,0.018,,,,,0,mode=disagg; prefill workers 1 x (tp 8 pp 1 dp 1 moe_tp 1 "
        "moe_ep 8); decode workers 1 x " +
        split + "\n"));
    return cases->front().asked->apart->decode;
  };
  const char *wide = "(tp 1 pp 1 dp 8 moe_tp 1 moe_ep 8)",
             *narrow = "(tp 8 pp 1 dp 1 moe_tp 1 moe_ep 8)";
  EXPECT_TRUE(decode_of("sglang", "h200_sxm", wide).own_exchange);
  EXPECT_EQ(decode_of("sglang", "h200_sxm", wide).routing.redundant, 32);
  EXPECT_FALSE(decode_of("sglang", "h200_sxm", narrow).own_exchange);
  EXPECT_EQ(decode_of("sglang", "h200_sxm", narrow).routing.redundant, 0);
  EXPECT_FALSE(decode_of("tensorrt-llm", "h200_sxm", wide).own_exchange);
  EXPECT_TRUE(decode_of("tensorrt-llm", "gb200", wide).own_exchange);
}

// Copies of each and a copy's split stand in the notes; 32 clients of all together.
TEST(MeasuredServing, OfPrefillAndDecodeApartIsPredictedWhereItsCopiesAreStated) {
  const std::string cells =
      "a,inferencemax,x,deepseek-r1,671,h200_sxm,16,8,1,8,1,fp8,,sglang,0.5.8,32,8192,1024,,1.8,"
      "0.018,,,,,0,mode=disagg; prefill ";
  const auto rows = predicted(
      cells + "workers 1 x (tp 8 pp 1 dp 1 moe_tp 1 moe_ep 8); decode workers\n" + cells +
      "workers 1 x (tp 8 pp 1 dp 1 moe_tp 1 moe_ep 8); decode workers 2 x (tp 8 pp 1 dp 1 moe_tp 1 "
      "moe_ep 8)\n" +
      cells + "worker count not stated x (tp 4 pp 1)\n");
  ASSERT_EQ(rows.size(), 3U);
  ASSERT_TRUE(rows[1].predicted[0]);
  EXPECT_GT(*rows[1].predicted[0], 0.2);
  EXPECT_LT(*rows[1].predicted[1], 0.03);
  for (const ServedRow& row : {rows[0], rows[2]}) {
    EXPECT_FALSE(row.skipped_reason.empty());
    EXPECT_FALSE(row.predicted[0]);
  }
}

// A name from a file opens no file of this machine.
// FasterTransformer's table is in GiB; llama.cpp's rows of llama-bench are of one sequence whose
// prompt is cut into pieces of `batch` tokens, over accelerators that share its layers: the pieces
// follow on each other through them. How others shared the model is not stated.
TEST(MeasuredServing, OfEnginesOfTheirOwnIsReadAsTheirSourcesHaveIt) {
  const auto rows = predicted(
      "a,fastertransformer,x,gpt-6.7b,6.7,A100-SXM4-80GB,1,1,,,,fp16,,faster-transformer,,16,512,"
      "32,"
      ",,,1.06888,,,22.17,0,static batch\n"
      "b,llm_inference_bench,x,llama-2-7b,7,Nvidia H100 "
      "GPU,1,1,,,,,,llama.cpp,,1,128,128,,,,2.17,,,"
      ",0,static batch\n"
      "c,llm_inference_bench,x,llama-2-7b,7,Nvidia H100 "
      "GPU,2,2,,,,,,llama.cpp,,1,128,128,,,,1.87,,,"
      ",0,static batch\n"
      "d,llm_inference_bench,x,llama-2-7b,7,Nvidia H100 "
      "GPU,1,1,,,,,,llama.cpp,,16,128,128,,,,1.2,,,"
      ",0,static batch; the batch factor is missing\n"
      "e,llm_inference_bench,x,llama-2-7b,7,Intel PVC "
      "GPU,2,2,,,,,,llama.cpp,,1,128,128,,,,1.87,,,"
      ",0,static batch\n"
      "f,others,x,llama-2-7b,7,Nvidia H100 "
      "GPU,2,2,,,,,,llama.cpp,,1,128,128,,,,1.87,,,"
      ",0,static batch\n");
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_NEAR(*rows[0].measured_memory_gb, 22.17 * 1.073741824, 1e-9);
  EXPECT_NEAR(*rows[0].predicted_memory_gb / *rows[0].measured_memory_gb, 1, 0.05);
  EXPECT_EQ(rows[1].engine, "llama-cpp");
  for (std::size_t i = 1; i < 4; ++i) ASSERT_TRUE(rows[i].predicted[2]) << i;
  // One by one tokens of a prompt take as long as they are decoded, 16 at a time far less; two
  // accelerators have one each under way.
  EXPECT_GT(*rows[1].predicted[2], 1.6 * *rows[3].predicted[2]);
  EXPECT_NEAR(*rows[2].predicted[2] / *rows[1].predicted[2], 0.75, 0.05);
  EXPECT_FALSE(rows[4].skipped_reason.empty());
  EXPECT_FALSE(rows[5].skipped_reason.empty());
}

// Servers about another engine are read as that; what is known to serve otherwise is skipped.
TEST(MeasuredServing, OfAServerAboutAnotherEngineIsOfThat) {
  const auto rows = predicted(
      "a,s,x,llama-3-70b,70,H100,4,4,,,,fp8,,NIM,1.0,8,500,500,,1,,,,,,0,\n"
      "b,s,x,llama-3-70b,70,H100,4,4,,,,fp8,,NIM,1.8,8,500,500,,1,,,,,,0,\n"
      "c,s,x,llama-3-8b,8,H100,1,1,,,,,,TGI,2.2,8,500,500,,1,,,,,,0,\n"
      "d,s,x,llama-3-8b,8,H100,1,1,,,,,,ollama,0.5,1,500,500,,,,9,,,,0,static batch\n"
      "e,s,x,llama-3-8b,8,H100,1,1,,,,,,HF Transformers,4.44,1,500,500,,,,9,,,,0,static batch\n");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].engine, "tensorrt-llm-2024");
  EXPECT_EQ(rows[1].engine, "tensorrt-llm");
  EXPECT_EQ(rows[2].engine, "vllm-2024");
  EXPECT_EQ(rows[3].engine, "llama-cpp");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i].skipped_reason, "") << rows[i].id;
  EXPECT_NE(rows[4].skipped_reason, "");
}

// As many as memory holds come and go, as clients.
TEST(MeasuredServing, OfAnEngineOfWholeBatchesWithoutABatchIsSkipped) {
  const auto rows = predicted(
      "a,fastertransformer,x,gpt-6.7b,6.7,A100-SXM4-80GB,1,1,,,,fp16,,faster-transformer,,,512,32,"
      ",,,,,500,,0,static batch\n");
  EXPECT_EQ(rows[0].skipped_reason, "cannot be served so");
}

TEST(MeasuredServing, WithWhatIsNotKnownIsSkippedWithItsReason) {
  const auto rows = predicted(
      "a,s,x,/etc/passwd,7,H100,1,1,,,,,,vllm,,8,500,500,,,,9,,,,0,\n"
      "b,s,x,llama-2-7b,7,Abacus,1,1,,,,,,vllm,,8,500,500,,,,9,,,,0,\n"
      "c,s,x,llama-2-7b,7,H100,1,1,,,,int3,,vllm,,8,500,500,,,,9,,,,0,\n"
      "d,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,,8,0,500,,,,9,,,,0,\n"
      "e,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,,8,500,500,1000000,,,9,,,,0,\n"
      "f,s,x,llama-2-7b,7,H100,1,3,,,,,,vllm,,8,500,500,,,,9,,,,0,\n");
  ASSERT_EQ(rows.size(), 6U);
  for (const ServedRow& row : rows) {
    EXPECT_FALSE(row.skipped_reason.empty()) << row.id;
    EXPECT_FALSE(row.fits) << row.id;
  }
  EXPECT_EQ(rows[0].skipped_reason, "no such model is built in");
}

}  // namespace
}  // namespace headway
