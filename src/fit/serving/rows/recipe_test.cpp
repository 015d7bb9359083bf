// How the source of a row ran the engine.
#include <gtest/gtest.h>

#include <algorithm>

#include "fit/serving/served_rows_for_test.hpp"

namespace headway {
namespace {

using testing::predicted;
using testing::table_of;

// Rows of the configurations with prediction layers: a pass makes more tokens than one.
TEST(MeasuredServing, OfARecipeThatGuessesIsPredictedSo) {
  const std::string row =
      "a,inferencemax,x,deepseek-r1,671,b200_sxm,8,8,1,1,1,fp8,,tensorrt-llm,,4,1024,1024,,0.2,"
      "0.006,,,,,0,mode=agg; measured 2026-02-05; image ";
  const auto rows = predicted(row + "image=nvcr.io#nvidia/tensorrt-llm/release:1.2.0rc6.post3\n" +
                              row + "nvcr.io/nvidia/tensorrt-llm/release:1.2.0rc6.post2\n");
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_TRUE(rows[0].predicted[1] && rows[1].predicted[1]);
  EXPECT_LT(*rows[0].predicted[1], 0.8 * *rows[1].predicted[1]);
  EXPECT_EQ(std::count(rows[0].assumed.begin(), rows[0].assumed.end(), "guesses=3"), 1);
  EXPECT_EQ(std::count(rows[1].assumed.begin(), rows[1].assumed.end(), "guesses=3"), 0);
}

// Rows of InferenceMAX without a date are its own where their lengths are, which are drawn from 0.8
// of the nominal ones up: prompts then come one by one. Others' are of one length, and stay
// together.
TEST(MeasuredServing, WithoutADateIsOfItsSourceWhereItsLengthsAre) {
  const auto row = [](const char* lengths, const char* date) {
    return std::string("a,inferencemax,x,llama-3-8b,8,h200,1,1,1,1,1,fp8,,vllm,0.15,16,") +
           lengths + ",,0.2,0.006,,,,,0,mode=agg; measured " + date + "\n";
  };
  const auto rows = predicted(row("1024,1024", "2026-03-01") + row("1024,1024", "date not stated") +
                              row("1000,1000", "2026-03-01") + row("1000,1000", "date not stated"));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(*rows[0].predicted[0], *rows[1].predicted[0]);
  EXPECT_NE(*rows[2].predicted[0], *rows[3].predicted[0]);
}

// [INFER-37] Two seconds of a tenth of all requests are 0.2 s of their mean first token and answer,
// and nothing of a token after it; 50 s of a step as long as steps get count where there is one. Of
// a release that is not told it is none.
TEST(MeasuredServing, OfAServerThatHasJustBeenStartedWaitsForItsFirstPasses) {
  AskedServing asked;
  asked.cold = 0.1;
  asked.start = "2025";
  Engine engine;
  engine.starts["2025"] = {Seconds(2), Seconds(50)};
  Served served;
  served.first_token = Seconds(0.5);
  served.each_token = Seconds(0.01);
  served.latency = Seconds(3);
  const ServedNumbers numbers = numbers_of(asked, served, engine);
  EXPECT_NEAR(*numbers[0], 0.7, 1e-12);
  EXPECT_NEAR(*numbers[1], 0.01, 1e-12);
  EXPECT_NEAR(*numbers[2], 3.2, 1e-12);
  asked.full = true;
  EXPECT_NEAR(*numbers_of(asked, served, engine)[0], 0.5 + 0.1 * 52, 1e-12);
  asked.start = "default";
  EXPECT_NEAR(*numbers_of(asked, served, engine)[0], 0.5, 1e-12);
}

// Rows of SGLang on B200 of a release of 2025, by their date or their number: 16 clients of 1,024
// tokens (922 in the mean) do not fill its step of 16,384, 32 do; in 8 bits it is of 32,768.
TEST(MeasuredServing, StartsAsItsReleaseDidAndFillsStepsAsItsSourceSaid) {
  const auto asked = [](const char* weights, const char* release, int clients, const char* day) {
    const auto cases =
        read_serving(table_of(std::string("a,inferencemax,x,deepseek-r1,671,b200_sxm,8,8,1,1,1,") +
                              weights + ",,sglang," + release + "," + std::to_string(clients) +
                              ",1024,1024,,0.3,0.01,,,,,0,mode=agg; measured " + day + "\n"));
    return *cases->front().asked;
  };
  EXPECT_EQ(asked("fp4", "", 16, "2025-11-10").start, "2025");
  EXPECT_EQ(asked("fp4", "0.5.6.post2", 16, "2026-03-25").start, "2025");
  EXPECT_EQ(asked("fp4", "0.5.9", 16, "2025-11-10").start, "default");
  EXPECT_EQ(asked("fp4", "", 16, "2026-03-25").start, "default");
  EXPECT_FALSE(asked("fp4", "", 16, "2025-11-10").full);
  EXPECT_TRUE(asked("fp4", "", 32, "2025-11-10").full);
  EXPECT_FALSE(asked("fp8", "", 32, "2025-11-10").full);
  EXPECT_TRUE(asked("fp8", "", 64, "2025-11-10").full);
}

// LLM-Inference-Bench gave DeepSpeed-MII one prompt sixteen times: all choose the same two experts
// of eight, whose weights alone are read. To vLLM it gave others, which hit nearly all.
TEST(MeasuredServing, OfSequencesAlikeReadsTheExpertsOfOne) {
  const auto step_of = [](const char* engine, int batch) {
    const auto rows = predicted(
        std::string("a,llm_inference_bench,x,mixtral-8x7b,46.7,Nvidia A100 GPU,4,4,,,,,,") +
        engine + ",," + std::to_string(batch) + ",512,512,,,,9,,,,0,static batch\n");
    return rows[0].predicted[2].value_or(0);
  };
  EXPECT_LT(step_of("deepspeed-mii", 16) / step_of("deepspeed-mii", 1), 1.4);
  EXPECT_GT(step_of("vllm", 16) / step_of("vllm", 1), 2);
}

// [INFER-10] Llama's prompts of 1,024 tokens wait twenty steps for others by their source's script,
// unless their answers are of another length; four clients' seldom meet any.
TEST(MeasuredServing, WaitsForAsManyPromptsAsItsSourceGathers) {
  const std::string cells =
      "a,inferencemax,x,llama-3.1-70b,70,b200_sxm,1,1,1,1,1,fp8,,tensorrt-llm,,4,1024,";
  const std::string behind = ",,0.3,0.014,,,,,0,mode=agg; measured 2025-10-29\n";
  const auto rows = predicted(cells + "1024" + behind + cells + "1025" + behind);
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_TRUE(rows[0].predicted[0] && rows[1].predicted[0]);
  const double waits = *rows[0].predicted[0] - *rows[1].predicted[0];
  EXPECT_NEAR(waits / (20 * *rows[0].predicted[1]), 1, 0.2);  // the first find nobody there
}

// TensorRT-LLM's page of its benchmark (docs/source/performance/perf-benchmarking.md, 0.17): of
// Llama 3.1 8B in 8 bits on an H200 memory holds 8,048 requests of 128 tokens in and out, for which
// it builds an engine of 4,096 sequences and 8,192 tokens. Its tables are of 30,000 such requests,
// and of 1,500 of 2,048 in and out.
TEST(MeasuredServing, OfTrtllmBenchHasTheEngineThatItBuilds) {
  const auto asked = [](const char* machine, const char* lengths) {
    const auto cases = read_serving(table_of(std::string("a,trtllm_ifb_0.17,x,llama-3-8b,8,") +
                                             machine + ",1,1,,,,fp8,fp8,tensorrt-llm,0.17,," +
                                             lengths + ",,,,,5000,,,0,\n"));
    return *cases->front().asked;
  };
  const AskedServing little = asked("H200", "128,128"), long_ones = asked("H200", "2048,2048");
  EXPECT_NEAR(static_cast<double>(little.load.batch) / 8048, 1.5, 0.2);  // half of answers cached
  EXPECT_EQ(little.serving.engine.policy.most_sequences, 4096);
  EXPECT_EQ(little.serving.engine.policy.most_tokens, 8192);
  EXPECT_EQ(little.load.count, 30'000);
  EXPECT_EQ(long_ones.load.count, 1'500);
  EXPECT_TRUE(little.serving.engine.policy.whole_prompts);
  EXPECT_FALSE(asked("GH200", "128,128").serving.engine.policy.whole_prompts);
}

// What cannot be served is skipped before an engine is sized for it.
TEST(MeasuredServing, OfTrtllmBenchIsSkippedWhereItsWeightsOrModelAreNotKnown) {
  const std::string behind = ",tensorrt-llm,0.17,,128,128,,,,,5000,,,0,\n";
  for (const char* what : {"llama-3-8b,8,H200,1,1,,,,fp5,fp8", "llama-9-8b,8,H200,1,1,,,,fp8,fp8",
                           "llama-3-8b,8,H200,7,7,,,,fp8,fp8", "llama-3-8b,8,,1,1,,,,fp8,fp8"}) {
    const auto rows = predicted("a,trtllm_ifb_1.0,x," + std::string(what) + behind);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_FALSE(rows[0].skipped_reason.empty()) << what;
  }
}

// NeMo's tables are of TensorRT-LLM of 2023, whose own sums were asked for: two sums a layer by the
// library take 12 us more of few tokens on eight H100 (15.7 and 3.4 us of 2 KB, aiconfigurator).
TEST(MeasuredServing, OfASourceWhoseRanksSumByTheLibraryTakesAsLong) {
  const auto latency = [](const std::string& source) {
    const auto rows =
        predicted("a," + source +
                  ",x,llama-2-13b,13,H100-80GB,8,8,,,,fp16,fp16,tensorrt-llm,0.12,1,200,200,,,,"
                  "1.2,,,,0,whole request\n");
    EXPECT_EQ(rows[0].engine, "tensorrt-llm-2024");
    return rows[0].predicted[2].value_or(0);
  };
  const double more = latency("optimus_nemo") - latency("another");
  EXPECT_NEAR(more / (200 * 80 * 12.3e-6), 1, 0.25);
}

}  // namespace
}  // namespace headway
