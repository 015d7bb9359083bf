#include "fit/serving/serving.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fit/benchmarks/benchmarks.hpp"
#include "fit/serving/asked.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

const std::string kColumns =
    "id,source_key,source,model,model_params_b,accelerator,n_accel,tp,pp,ep,dp,precision_weights,"
    "precision_kv,engine,engine_version,batch,input_len,output_len,request_rate,ttft_s,tpot_s,"
    "latency_s,throughput_output_tok_s,throughput_total_tok_s,memory_gb,oom,notes\n";

Csv table_of(const std::string& rows) {
  return *parse_csv(kColumns + rows, "serving.csv");
}

std::vector<ServedRow> predicted(const std::string& rows) {
  const auto out = predict_serving(table_of(rows));
  return out ? *out : std::vector<ServedRow>();
}

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

TEST(MeasuredServing, IsOfTheReleaseThatTheRowNames) {
  const std::string before = "a,s,x,llama-2-7b,7,H100,1,1,,,,,,vllm,";
  const std::string behind = ",8,500,500,,,,9,,,,0,\n";
  EXPECT_EQ(predicted(before + "0.5.4" + behind)[0].engine, "vllm-2024");
  EXPECT_EQ(predicted(before + "0.6.3" + behind)[0].engine, "vllm-0.6");
  EXPECT_EQ(predicted(before + "0.8.0" + behind)[0].engine, "vllm");
  EXPECT_EQ(predicted(before + "0.11.0" + behind)[0].engine, "vllm");
  EXPECT_EQ(predicted(before + "nightly" + behind)[0].engine, "vllm");
}

// Its host is that of later releases, its steps those of earlier ones.
TEST(Engines, OfReleasesThatNobodyMeasuredHaveTheHostOfAnother) {
  const auto named = [](const char* name) {
    return *std::find_if(engines()->begin(), engines()->end(),
                         [&](const Engine& each) { return each.name == name; });
  };
  EXPECT_EQ(named("vllm-0.6").step, named("vllm").step);
  EXPECT_EQ(named("vllm-0.6").layer, named("vllm").layer);
  EXPECT_EQ(named("vllm-0.6").untuned.at("blackwell").blocks,
            named("vllm").untuned.at("blackwell").blocks);
  EXPECT_TRUE(named("vllm-0.6").policy.prompts_first);
  EXPECT_FALSE(named("vllm").policy.prompts_first);
}

// TensorRT-LLM before 0.10 had other kernels than that of 2024.
TEST(MeasuredServing, OfAnEngineWithSeveralReleasesIsOfTheOneItSays) {
  const std::string before = "a,s,x,llama-2-7b,7,H100,1,1,,,,fp16,fp16,tensorrt-llm,";
  const std::string behind = ",8,500,500,,,,9,,,,0,\n";
  EXPECT_EQ(predicted(before + "0.9.0" + behind)[0].engine, "tensorrt-llm-2023");
  EXPECT_EQ(predicted(before + "0.17.0" + behind)[0].engine, "tensorrt-llm-2024");
  EXPECT_EQ(predicted(before + "1.2.0rc6" + behind)[0].engine, "tensorrt-llm");
}

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

// [INFER-38] Rows of MLPerf tell neither lengths nor split: eight H200 hold a copy of Llama 2 70B
// in 8 bits each, and whoever tunes splits none. Limits of a token of 40 ms cost tokens/s.
TEST(MeasuredServing, OfATunedBenchmarkIsOfTheBestSplit) {
  const auto row = [](const std::string& notes) {
    return "a,mlperf_5.0,x,llama-2-70b,69,NVIDIA H200-SXM-141GB,8,,,,,,,,MLPerf v5.0,,,,,0.5,0.1,9,"
           "34988,,,0," +
           notes + "; a system; nodes 1\n";
  };
  const auto rows = predicted(row("llama2-70b-99 Offline") + row("llama2-70b-99 Server") +
                              row("llama2-70b-interactive-99 Server"));
  ASSERT_EQ(rows.size(), 3U);
  for (const ServedRow& each : rows) {
    EXPECT_EQ(each.load, "tuned");
    EXPECT_EQ(each.precision, "fp8");
    EXPECT_EQ(each.engine, "tensorrt-llm");
    EXPECT_FALSE(each.error(kFirstToken));  // of another load than the most
    ASSERT_TRUE(each.predicted[kOutput]);
  }
  EXPECT_LT(std::abs(*rows[0].error(kOutput)), 0.25);
  EXPECT_NEAR(*rows[1].predicted[kOutput] / *rows[0].predicted[kOutput], 0.97, 0.08);
  EXPECT_LT(*rows[2].predicted[kOutput], 0.8 * *rows[0].predicted[kOutput]);
}

TEST(MeasuredServing, OfATunedBenchmarkIsSkippedWhereItIsNotKnown) {
  const auto reason = [](const std::string& model, const char* machine, const char* notes) {
    return predicted("a,mlperf_6.0,x," + model + ",69," + machine +
                     ",8,,,,,,,,MLPerf v6.0,,,,,,,,34988,,,0," + notes + "; a system\n")[0]
        .skipped_reason;
  };
  EXPECT_EQ(reason("gpt-j-6b", "H200", "gptj-99 Offline"),
            "four beams of each answer: no way of serving has them");
  EXPECT_EQ(reason("deepseek-r1", "B200", "deepseek-r1 Interactive"),
            "its benchmark's limits are not known");
  EXPECT_EQ(reason("gpt-oss-120b", "B200", "gpt-oss-120b Offline"), "cell missing: input_len");
  EXPECT_EQ(reason("llama-2-70b", "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)",
                   "llama2-70b-99 Offline"),
            "its power was capped");
  EXPECT_EQ(reason("llama-3.1-405b", "L40S", "llama3.1-405b Offline"),
            "no split of its accelerators serves it");
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

// A name from a file opens no file of this machine.
// FasterTransformer's table is in GiB; llama.cpp's rows say neither how several accelerators share
// the model nor how many sequences a batch of them had.
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
      ",0,static batch; the batch factor is missing\n");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NEAR(*rows[0].measured_memory_gb, 22.17 * 1.073741824, 1e-9);
  EXPECT_NEAR(*rows[0].predicted_memory_gb / *rows[0].measured_memory_gb, 1, 0.05);
  EXPECT_EQ(rows[1].engine, "llama-cpp");
  EXPECT_TRUE(rows[1].predicted[2]);
  EXPECT_FALSE(rows[2].skipped_reason.empty());
  EXPECT_FALSE(rows[3].skipped_reason.empty());
}

// As many as memory holds come and go, as clients.
TEST(MeasuredServing, OfAnEngineOfWholeBatchesWithoutABatchIsSkipped) {
  const auto rows = predicted(
      "a,fastertransformer,x,gpt-6.7b,6.7,A100-SXM4-80GB,1,1,,,,fp16,,faster-transformer,,,512,32,"
      ",,,,,500,,0,static batch\n");
  EXPECT_EQ(rows[0].skipped_reason, "cannot be served so");
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
