#include "fit/corpus/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fit/corpus/forecast.hpp"
#include "fit/corpus/run_for_test.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

TEST(CorpusRun, AStatedRowIsTakenAsItStands) {
  const auto run = run_with({{"tp", "2"}, {"sp", "0"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.dp, 2);  // 8 / (tp 2 x cp 2)
  EXPECT_EQ(run->layout.tp, 2);
  EXPECT_EQ(run->layout.zero, 1);
  EXPECT_FALSE(run->layout.sequence_parallel);
  EXPECT_EQ(run->job.global_batch, 128);
  EXPECT_EQ(run->job.framework, framework_from("megatron").value());
  EXPECT_EQ(run->cluster.name, "dgx-h100");
  EXPECT_EQ(parameters(run->model).total, 8030261248);  // the published count of Llama 3 8B
  EXPECT_EQ(run->assumed, std::vector<std::string>{});
}

TEST(CorpusRun, EagerFrameworksRunUnfusedKernels) {
  const auto eager = run_with({{"framework", "llm-foundry/Composer (PyTorch FSDP)"}});
  EXPECT_FALSE(eager->job.fused);
  EXPECT_TRUE(assumes(eager, "fused=0"));
  EXPECT_FALSE(run_with({{"framework", "PaddlePaddle"}})->job.fused);
  EXPECT_FALSE(run_with({{"framework", "InternEvo"}})->job.fused);
  EXPECT_TRUE(run_with({{"framework", "fms-fsdp (PyTorch FSDP1 + compile)"}})->job.fused);
  EXPECT_TRUE(run_with({})->job.fused);
}

// NeMo, pull request 5684 (December 2022): its own optimiser overlaps gradients and weights, which
// Megatron-LM does since September 2023 and January 2024.
TEST(CorpusRun, NvidiasRecipesOverlapBeforeMegatronDid) {
  const auto overlaps = [](const char* framework) {
    const auto run = run_with({{"framework", framework}, {"date", "2023-05"}});
    const OverlapHabits& habit = habits(run->job).overlap;
    return std::pair(chosen(run->layout.overlap_gradients, habit.gradients),
                     chosen(run->layout.overlap_parameters, habit.parameters));
  };
  EXPECT_EQ(overlaps("NeMo"), std::pair(true, true));
  EXPECT_EQ(overlaps("Megatron-LM"), std::pair(false, false));
}

// Nothing is known in favour of a framework that no rule names, and the row says what was taken.
TEST(CorpusRun, AnUnknownFrameworkIsEagerAndOverlapsNothing) {
  const auto unknown = run_with({{"framework", "our own trainer"}});
  ASSERT_TRUE(unknown.ok());
  EXPECT_FALSE(unknown->job.fused);
  EXPECT_EQ(unknown->layout.overlap_gradients, Choice::off);
  EXPECT_EQ(unknown->layout.overlap_parameters, Choice::off);
  for (const char* taken : {"fused=0", "overlap_gradients=off", "overlap_parameters=off"}) {
    EXPECT_TRUE(assumes(unknown, taken)) << taken;
  }
  for (const char* known : {"Megatron-LM core_v0.16.1", "NeMo", "Primus/Megatron-LM",
                            "NGC PyTorch 23.09", "NVIDIA PyTorch 24.03"}) {
    const auto run = run_with({{"framework", known}});
    EXPECT_TRUE(run->job.fused) << known;
    EXPECT_NE(run->layout.overlap_gradients, Choice::off) << known;
  }
}

TEST(CorpusRun, MegatronDeepSpeedAndPaddleReduceGradientsAfterTheBackwardPass) {
  for (const char* framework : {"Megatron-DeepSpeed + BF16", "PaddlePaddle"}) {
    const auto run = run_with({{"framework", framework}});
    EXPECT_EQ(run->layout.overlap_gradients, Choice::off);
    EXPECT_TRUE(assumes(run, "overlap_gradients=off"));
  }
}

TEST(CorpusRun, InternEvoReducesSixteenBitGradientsUnderTheBackwardPass) {
  const auto run = run_with({{"framework", "InternEvo"}});
  EXPECT_TRUE(run->job.small_gradients);
  EXPECT_EQ(run->layout.overlap_gradients, Choice::framework);
}

TEST(CorpusRun, FrameworksAreToldByTheirNames) {
  const std::pair<const char*, Framework> names[] = {
      {"nanotron", framework_from("nanotron").value()},
      {"llm-foundry/Composer (PyTorch FSDP)", framework_from("fsdp").value()},
      {"fms-fsdp (PyTorch FSDP1 + compile)", framework_from("fsdp").value()},
      {"MaxText (JAX)", framework_from("jax").value()},
      {"Paxml (JAX)", framework_from("jax").value()},
      {"DeepSpeed", framework_from("deepspeed").value()},
      {"Megatron-DeepSpeed", framework_from("megatron").value()},
      {"NeMo (Megatron)", framework_from("megatron").value()}};
  for (const auto& [name, framework] : names) {
    CorpusRow row;
    row.framework = name;
    EXPECT_EQ(framework_of(row), framework) << name;
  }
}

TEST(CorpusRun, AttentionFollowsDateHardwareAndFramework) {
  const auto kernel = [](const CorpusCells& cells) { return run_with(cells)->job.attention; };
  const CorpusCells a100 = {{"accelerator", "A100"}, {"flash_attention", ""}};
  const auto on_a100 = [&](const char* date, const char* framework) {
    CorpusCells cells = a100;
    cells["date"] = date;
    cells["framework"] = framework;
    return kernel(cells);
  };
  EXPECT_EQ(on_a100("2023", "Megatron-DeepSpeed"), AttentionKernel::unfused);
  EXPECT_EQ(on_a100("2022-12-21", "PyTorch FSDP"), AttentionKernel::flash1);
  EXPECT_EQ(on_a100("2024-01", "PyTorch FSDP"), AttentionKernel::flash2);
  EXPECT_EQ(kernel({}), AttentionKernel::flash3);
  EXPECT_EQ(kernel({{"framework", "nanotron"}}), AttentionKernel::flash2);
  EXPECT_EQ(kernel({{"flash_attention", "0"}}), AttentionKernel::unfused);
}

TEST(CorpusRun, AStatedNetworkReplacesTheReferenceSystems) {
  const auto run = run_with({{"n_accel", "16"}, {"inter_node_network_gbps_per_accel", "50"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->cluster.levels.back().bandwidth.value(), 50e9 / 8);
  EXPECT_EQ(run->cluster.levels.front().bandwidth.value(), 450e9);
}

TEST(CorpusRun, ProxiesHaveTheRowsLayersOfTheBuiltInModel) {
  const auto run = run_with({{"model_name", "DEEPSEEK-V3"},
                             {"layers", "4"},
                             {"d_model", "7168"},
                             {"n_experts", "256"},
                             {"d_ff", "2048"},
                             {"ep", "4"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->model.layers(), 4);
  EXPECT_EQ(run->model.hidden, 7168);
  // The first three layers are dense, the fourth has experts.
  EXPECT_EQ(run->model.kinds[run->model.pattern[2]].feed_forward->width, 18432);
  EXPECT_EQ(run->model.kinds[run->model.pattern[3]].experts->count, 256);
}

TEST(CorpusRun, UnknownModelsAreBuiltFromTheColumns) {
  const CorpusCells shape = {{"model_name", "Own 1"}, {"layers", "10"},   {"d_model", "512"},
                             {"n_heads", "8"},        {"n_kv_heads", ""}, {"d_ff", "1024"},
                             {"vocab", "1000"},       {"n_params", ""}};
  const auto run = run_with(shape);
  ASSERT_TRUE(run.ok());
  // Embedding and head 2·1000·512; a layer 4·512² + 3·512·1024 + 2 norms of 512; a last norm.
  EXPECT_EQ(parameters(run->model).total, 1024000 + 10 * (1048576 + 1572864 + 1024) + 512);
  EXPECT_TRUE(assumes(run, "n_kv_heads=8"));
  CorpusCells without = shape;
  without["layers"] = "";
  EXPECT_EQ(reason_with(without), "cell missing: layers");
}

TEST(CorpusRun, SelectiveRecomputationOfWholeLayersIsToldByItsUtilisation) {
  const auto with = [](const char* hfu) {
    return run_with({{"recompute", "selective"}, {"mfu_reported", "55"}, {"notes", hfu}});
  };
  EXPECT_EQ(with("HFU=74%")->layout.recompute, Recompute::full);
  EXPECT_TRUE(assumes(with("HFU=74%"), "recompute=full"));
  EXPECT_EQ(with("HFU=61%")->layout.recompute, Recompute::selective);
  EXPECT_EQ(with("")->layout.recompute, Recompute::selective);
}

TEST(CorpusRun, ReasonsSayWhichCellOrFeature) {
  EXPECT_EQ(reason_with({{"n_accel", ""}}), "cell missing: n_accel");
  EXPECT_EQ(reason_with({{"seq_len", ""}}), "cell missing: seq_len");
  EXPECT_EQ(reason_with({{"dp", "x"}}), "bad cell: dp");
  EXPECT_EQ(reason_with({{"accelerator", "Abacus"}}), "unsupported: accelerator");
  EXPECT_EQ(reason_with({{"precision", "int3"}}), "unsupported: precision");
  EXPECT_EQ(reason_with({{"model_name", "NEMOTRONH-56B"}}), "unsupported: hybrid Mamba layers");
  EXPECT_EQ(reason_with({{"tp", "16"}}), "illegal layout: tp x cp x pp");
  EXPECT_EQ(reason_with({{"global_batch_sequences", "3"}}), "illegal layout: --global-batch");
}

TEST(CorpusRun, VendorRecipesSwitchOnWhatTheirTablesDoNotSay) {
  const auto split = run_with({{"tp", "2"}});
  EXPECT_EQ(split->layout.overlap_tensor, Choice::on);
  EXPECT_EQ(run_with({{"tp", "2"}, {"framework", "Megatron-LM"}})->layout.overlap_tensor,
            Choice::framework);
  const auto lora = run_with({{"task", "lora"}});
  EXPECT_EQ(lora->job.adapters, Adapters::query_key_value);
  EXPECT_TRUE(assumes(lora, "document=256"));
  // 32 layers on 4 stages, interleaving not stated; "VP n/a" states that there is none.
  const CorpusCells pipeline = {{"pp", "4"}, {"cp", "1"}, {"vpp", ""}};
  EXPECT_EQ(run_with(pipeline)->layout.vpp, 8);
  CorpusCells none = pipeline;
  none["notes"] = "VP n/a; more";
  EXPECT_EQ(run_with(none)->layout.vpp, 1);
  EXPECT_EQ(run_with({{"recompute", ""}})->remedies.size(), 4U);
}

TEST(CorpusRun, ExpertsRunInGraphsOfAWholeStepFromTheirReleaseOn) {
  CorpusCells cells = {{"framework", "Megatron-Bridge/Megatron-Core"},
                       {"model_name", "QWEN3-30B-A3B"},
                       {"accelerator", "GB200"},
                       {"accel_memory_gb", "186"},
                       {"precision", "fp8"},
                       {"layers", "48"},
                       {"d_model", "2048"},
                       {"n_heads", "32"},
                       {"n_kv_heads", "4"},
                       {"d_ff", "768"},
                       {"vocab", "151936"},
                       {"n_experts", "128"},
                       {"top_k", "8"},
                       {"cp", "1"},
                       {"ep", "8"},
                       {"notes", "NeMo container 26.04; precision cell \"MXFP8\""}};
  const auto before = run_with(cells);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->job.graphs, Graphs::dense);
  EXPECT_EQ(before->layout.dispatch, Dispatch::once);
  EXPECT_FALSE(before->job.fused_experts);
  cells["notes"] = "NeMo container 26.06; precision cell \"MXFP8\"";
  const auto after = run_with(cells);
  EXPECT_EQ(after->job.graphs, Graphs::step);
  EXPECT_EQ(after->layout.overlap_experts, Choice::on);
  EXPECT_TRUE(after->job.fused_experts);
}

// The scripts of NVIDIA's recipes of DeepSeek-V3 and Qwen3 state 1; Megatron's default is tp.
TEST(CorpusRun, ExpertsAreSplitAsTheRecipeOrTheFrameworkDoes) {
  const auto degree = [](const char* framework, const char* model, const char* tp) {
    const auto run = run_with({{"framework", framework},
                               {"model_name", model},
                               {"n_experts", "8"},
                               {"top_k", "2"},
                               {"tp", tp},
                               {"cp", "1"},
                               {"layers", "2"},
                               {"ep", "4"},
                               {"sp", "1"}});
    EXPECT_TRUE(run.ok()) << run.problems().front().message;
    return run.ok() ? run->layout.etp : 0;
  };
  EXPECT_EQ(degree("NeMo", "GROK1-314B", "2"), 2);
  EXPECT_EQ(degree("Megatron-LM", "MIXTRAL-8X7B", "2"), 2);
  EXPECT_EQ(degree("Megatron-LM", "MIXTRAL-8X7B", "4"), 1);  // 4 x 4 on 8
  EXPECT_EQ(degree("NeMo", "Qwen3-like", "2"), 1);
  EXPECT_EQ(degree("torchtitan", "MIXTRAL-8X7B", "2"), 1);
}

// [INTERVAL-3] How many virtual stages there are is a guess: between one and as many as a stage has
// layers.
TEST(CorpusRun, VirtualStagesThatWereGuessedMayBeOneOrTheMost) {
  const auto stages = [](const CorpusCells& changed) {
    CorpusCells cells = {{"pp", "4"}, {"cp", "1"}, {"framework", "Megatron-LM"}};
    for (const auto& [name, text] : changed) cells[name] = text;
    const auto run = run_with(cells);
    EXPECT_TRUE(run.ok()) << run.problems().front().message;
    std::vector<std::int64_t> out;
    for (const CorpusRun& other : stages_in_question(*run)) out.push_back(other.layout.vpp);
    return out;
  };
  using Stages = std::vector<std::int64_t>;
  EXPECT_EQ(stages({}), Stages{8});                       // 32 layers on 4, guessed 1
  EXPECT_EQ(stages({{"framework", "NeMo"}}), Stages{1});  // guessed 8, by its recipes
  EXPECT_EQ(stages({{"vpp", "2"}}), Stages{});            // stated
  EXPECT_EQ(stages({{"pp", "1"}, {"cp", "2"}}), Stages{});
}

TEST(CorpusRun, SelectiveByOperatorIsOfEverySecondProduct) {
  for (const char* said : {"op", "every-second-product", "selective op"}) {
    const auto run = run_with({{"recompute", said}, {"framework", "torchtitan"}});
    ASSERT_TRUE(run.ok()) << said;
    EXPECT_EQ(run->layout.recompute, Recompute::every_second) << said;
    EXPECT_TRUE(run->remedies.empty()) << said;
  }
  // torchtitan's own files for Llama ask for it; that is a guess where a row does not say which.
  const auto run = run_with({{"recompute", "selective"}, {"framework", "torchtitan"}});
  EXPECT_EQ(run->layout.recompute, Recompute::every_second);
  EXPECT_TRUE(assumes(run, "recompute=every-second-product"));
}

}  // namespace
}  // namespace headway
