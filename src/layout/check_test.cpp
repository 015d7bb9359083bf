// Each rule of check(): one wrong layout that yields exactly that problem, with the flag and what
// would be legal.
#include "layout/check_for_test.hpp"

namespace headway {
namespace {

using testing::checks::Case;
using testing::checks::dense;
using testing::checks::expect_one_problem;
using testing::checks::listed;
using testing::checks::mixture;
using testing::checks::run_of;

TEST(Check, EveryDegreeMustBeAtLeastOne) {
  const std::vector<std::pair<const char*, std::function<std::int64_t&(Case&)>>> fields = {
      {"--dp", [](Case& r) -> std::int64_t& { return r.layout.dp; }},
      {"--tp", [](Case& r) -> std::int64_t& { return r.layout.tp; }},
      {"--cp", [](Case& r) -> std::int64_t& { return r.layout.cp; }},
      {"--pp", [](Case& r) -> std::int64_t& { return r.layout.pp; }},
      {"--vpp", [](Case& r) -> std::int64_t& { return r.layout.vpp; }},
      {"--ep", [](Case& r) -> std::int64_t& { return r.layout.ep; }},
      {"--etp", [](Case& r) -> std::int64_t& { return r.layout.etp; }},
      {"--micro-batch", [](Case& r) -> std::int64_t& { return r.layout.micro_batch; }},
      {"--recompute-every", [](Case& r) -> std::int64_t& { return r.layout.recompute_every; }},
      {"--seq", [](Case& r) -> std::int64_t& { return r.job.sequence; }},
      {"--global-batch", [](Case& r) -> std::int64_t& { return r.job.global_batch; }},
  };
  for (const auto& [flag, field] : fields) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-3}}) {
      Case run = dense();
      field(run) = value;
      const Problems problems = run.problems();
      ASSERT_EQ(problems.size(), 1u) << flag << "\n" << listed(problems);
      EXPECT_EQ(where_text(problems[0]), flag);
      EXPECT_EQ(problems[0].message, "is " + std::to_string(value) + "; must be at least 1");
    }
  }
}

TEST(Check, NumbersOutOfRange) {
  expect_one_problem(
      dense(),
      {
          {"a degree no machine has", [](Case& r) { r.layout.dp = 20'000'000; }, "--dp",
           "at most 10^7"},
          {"ranks that cannot be counted",
           [](Case& r) {
             r.layout.dp = 10'000'000;
             r.layout.tp = 1'000;
           },
           "--dp, --tp, --cp, --pp", "10^9"},
          {"zero 4", [](Case& r) { r.layout.zero = 4; }, "--zero", "0, 1, 2, 3"},
          {"zero -1", [](Case& r) { r.layout.zero = -1; }, "--zero", "0, 1, 2, 3"},
          {"negative shard", [](Case& r) { r.layout.shard = -1; }, "--shard", "at least 1"},
          {"negative first stage", [](Case& r) { r.layout.first_stage_layers = -1; },
           "--first-stage-layers", "at least 1"},
          {"negative last stage", [](Case& r) { r.layout.last_stage_layers = -1; },
           "--last-stage-layers", "at least 1"},
          {"no adapter rank", [](Case& r) { r.job.lora_rank = 0; }, "--lora-rank", "4096"},
          {"an adapter wider than the model", [](Case& r) { r.job.lora_rank = 4097; },
           "--lora-rank", "4096"},
          {"fuller than the mean at least", [](Case& r) { r.job.expert_imbalance = 0.5; },
           "--expert-imbalance", "from 1"},
          {"everything dropped", [](Case& r) { r.job.dropout = 1; }, "--dropout",
           "not including, 1"},
      });
}

TEST(Check, RefusesTrainingWithKeysThatAnIndexerChooses) {
  Case run = run_of("glm-5", "dgx-h100");
  run.job.sequence = 4096;
  run.job.global_batch = 1;
  EXPECT_NE(listed(run.problems()).find("not in training"), std::string::npos);
}

TEST(Check, RanksBatchAndSequence) {
  expect_one_problem(
      dense(), {
                   {"more ranks than the cluster offers",
                    [](Case& r) {
                      r.layout.dp = 16'384;
                      r.job.global_batch = 16'384;
                    },
                    "--gpus", "32768"},
                   {"a batch that dp x micro-batch does not divide",
                    [](Case& r) {
                      r.layout.micro_batch = 3;
                      r.job.global_batch = 64;
                    },
                    "--global-batch", "a multiple of 12"},
                   {"a sequence that tp does not divide", [](Case& r) { r.job.sequence = 4097; },
                    "--seq", "a multiple of 2"},
                   {"a causal ring needs 2 cp tp pieces",
                    [](Case& r) {
                      r.layout.cp = 2;
                      r.job.sequence = 4100;
                    },
                    "--seq", "a multiple of 8"},
               });
  // Without a causal mask the ring needs cp pieces; without sequence parallelism not times tp.
  Case run = dense();
  run.layout.cp = 2;
  run.job.sequence = 4100;
  run.job.causal = false;
  EXPECT_EQ(listed(run.problems()), "");
  run.job.causal = true;
  run.layout.sequence_parallel = false;
  EXPECT_EQ(listed(run.problems()), "");
}

TEST(Check, BatchesAndSequencesNextToAWrongOneAreNamed) {
  const auto near = [](const auto& change) {
    Case run = dense();
    change(run);
    const Problems problems = run.problems();
    return problems.size() == 1 ? problems[0].near : std::vector<std::int64_t>{};
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(near([](Case& r) { r.job.global_batch = 1'030; }), (Numbers{1'028, 1'032}));
  EXPECT_EQ(near([](Case& r) { r.job.global_batch = 3; }), (Numbers{4}));
  EXPECT_EQ(near([](Case& r) { r.job.sequence = 4'097; }), (Numbers{4'096, 4'098}));
  EXPECT_EQ(near([](Case& r) { r.layout.zero = 4; }), (Numbers{}));
}

TEST(Check, WidthsThatTensorAndContextParallelismSplit) {
  Case legal = dense();
  legal.layout.tp = 4;
  const auto attention = [](Case& r) -> Attention& { return *r.model.kinds[0].attention; };
  expect_one_problem(
      legal, {
                 {"heads",
                  [&](Case& r) {
                    attention(r).heads = 6;
                    attention(r).kv_heads = 1;
                  },
                  "--tp", "attention heads (6); legal: 1, 2, 3, 6"},
                 {"key-value heads",
                  [&](Case& r) {
                    attention(r).heads = 24;
                    attention(r).kv_heads = 6;
                  },
                  "--tp", "legal: 1, 2, 3, 6 or a multiple of 6"},
                 {"feed-forward width", [](Case& r) { r.model.kinds[0].feed_forward->width = 10; },
                  "--tp", "feed-forward width (10); legal: 1, 2, 5, 10"},
                 {"heads traded for tokens",
                  [](Case& r) {
                    r.layout.cp = 16;
                    r.layout.context_exchange = ContextExchange::all_to_all;
                  },
                  "--cp", "legal: 1, 2, 4, 8, 16, 32"},
             });
  // Fewer key-value heads than tp are repeated: legal where tp is a multiple of them.
  Case repeated = legal;
  attention(repeated).kv_heads = 2;
  EXPECT_EQ(listed(repeated.problems()), "");
}

TEST(Check, Experts) {
  expect_one_problem(
      dense(), {
                   {"experts of a dense model", [](Case& r) { r.layout.ep = 2; }, "--ep",
                    "no experts; legal: 1"},
                   {"expert-tensor of a dense model", [](Case& r) { r.layout.etp = 2; }, "--etp",
                    "no experts; legal: 1"},
               });
  expect_one_problem(mixture(),
                     {
                         {"experts that ep does not divide",
                          [](Case& r) {
                            r.layout.dp = 3;
                            r.layout.ep = 3;
                          },
                          "--ep", "the experts (8); legal: 1, 2, 4, 8"},
                         {"more expert ranks than a stage has", [](Case& r) { r.layout.dp = 4; },
                          "--ep", "the ranks of a pipeline stage (4); legal: 1, 2, 4"},
                         {"expert width",
                          [](Case& r) {
                            r.layout.dp = 3;
                            r.layout.ep = 1;
                            r.layout.etp = 3;
                          },
                          "--etp", "the expert width (14336); legal: 1, 2, 4"},
                         {"shared expert",
                          [](Case& r) {
                            r.layout.tp = 4;
                            r.model.kinds[0].experts->shared_width = 1002;
                          },
                          "--tp", "the shared expert's width (1002); legal: 1, 2, 3, 6"},
                     });
}

TEST(Check, ShardingOffloadAndPrecision) {
  expect_one_problem(
      dense(), {
                   {"sharding groups of unequal size", [](Case& r) { r.layout.shard = 3; },
                    "--shard", "(4); legal: 1, 2, 4"},
                   {"DeepSpeed's pipeline with ZeRO-2",
                    [](Case& r) {
                      r.job.framework = framework_from("deepspeed").value();
                      r.layout.zero = 2;
                    },
                    "--zero", "ZeRO 0 or 1"},
                   {"offloaded weights that every rank needs whole",
                    [](Case& r) { r.layout.offload_parameters = true; }, "--offload", "--zero 3"},
               });
  Case ampere = dense();
  ampere.cluster = load_cluster("dgx-a100-80gb").value();
  expect_one_problem(ampere,
                     {{"fp8 before Hopper", [](Case& r) { r.job.recipe = recipe_from("fp8"); },
                       "--precision", "supported: "}});
  expect_one_problem(dense(), {{"MX formats before Blackwell",
                                [](Case& r) { r.job.recipe = recipe_from("mxfp8"); }, "--precision",
                                "does not multiply with; legal: fp8, fp8-current, fp8-block"}});
}

TEST(Check, FormatsOfTheWireAreFsdpsToSet) {
  expect_one_problem(
      dense(), {
                   {"Megatron's weights", [](Case& r) { r.job.param_dtype = WireFormat::fp32; },
                    "--param-dtype", "--framework fsdp"},
                   {"Megatron's gradients", [](Case& r) { r.job.reduce_dtype = WireFormat::bf16; },
                    "--reduce-dtype", "--framework fsdp"},
               });
  Case run = dense();
  run.job.framework = framework_from("fsdp").value();
  run.job.param_dtype = run.job.reduce_dtype = WireFormat::fp32;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
}

TEST(Check, SeveralMistakesAreReportedTogether) {
  Case run = dense();
  run.layout.tp = 3;          // neither heads, key-value heads, width nor sequence divide
  run.layout.ep = 4;          // a dense model
  run.layout.shard = 3;       // of 4
  run.layout.vpp = 20;        // 40 chunks of 32 layers
  run.job.global_batch = 63;  // by 4
  const Problems problems = run.problems();
  const auto reported = [&](const std::string& where) {
    for (const Problem& problem : problems) {
      if (where_text(problem) == where) return true;
    }
    return false;
  };
  for (const char* where : {"--tp", "--ep", "--shard", "--pp", "--global-batch", "--seq"}) {
    EXPECT_TRUE(reported(where)) << where << "\n" << listed(problems);
  }
  EXPECT_GE(problems.size(), 8u) << listed(problems);  // --tp three times
}

struct Known {
  const char* source;
  const char* model;
  const char* cluster;
  std::int64_t gpus, sequence, batch;
  Layout layout;
};

TEST(Check, RunsThatTookPlaceAreLegal) {
  using S = Schedule;
  const std::vector<Known> runs = {
      // arXiv 2407.21783 table 4: 126 layers on 16 stages, one fewer at either end.
      {"Llama 3.1 405B",
       "llama-3.1-405b",
       "dgx-h100",
       8192,
       8192,
       64 * 32,
       {{.tp = 8}, {.pp = 16, .first_stage_layers = 7, .last_stage_layers = 7}, {.dp = 64}}},
      {"Llama 3.1 405B",
       "llama-3.1-405b",
       "dgx-h100",
       16384,
       8192,
       128 * 16,
       {{.tp = 8}, {.pp = 16, .first_stage_layers = 7, .last_stage_layers = 7}, {.dp = 128}}},
      {"Llama 3.1 405B, long",
       "llama-3.1-405b",
       "dgx-h100",
       16384,
       131072,
       8 * 16,
       {{.tp = 8, .cp = 16},
        {.pp = 16, .first_stage_layers = 7, .last_stage_layers = 7},
        {.dp = 8}}},
      // arXiv 2205.05198 table 3.
      {"22B", "megatron-22b", "dgx-a100-80gb", 8, 2048, 4, {{.tp = 8, .micro_batch = 4}, {}}},
      {"175B", "gpt3-175b", "dgx-a100-80gb", 64, 2048, 64, {{.tp = 8}, {.pp = 8, .vpp = 3}}},
      {"530B", "mt-nlg-530b", "dgx-a100-80gb", 280, 2048, 280, {{.tp = 8}, {.pp = 35, .vpp = 3}}},
      {"1T", "megatron-1t", "dgx-a100-80gb", 512, 2048, 512, {{.tp = 8}, {.pp = 64}}},
      // arXiv 2104.04473 table 1, last row.
      {"1T on 3,072",
       "megatron-1t",
       "selene",
       3072,
       2048,
       3072,
       {{.tp = 8}, {.pp = 64}, {.dp = 6}}},
      // arXiv 2412.19437 §3.2: 61 layers, experts over 64 ranks (8 nodes), ZeRO-1.
      {"DeepSeek-V3",
       "deepseek-v3",
       "h800-8",
       2048,
       4096,
       15360,
       {{.ep = 64},
        {.pp = 16, .schedule = S::dual_pipe, .first_stage_layers = 4, .last_stage_layers = 1},
        {.dp = 128, .zero = 1}}},
  };
  for (const Known& known : runs) {
    Case run = run_of(known.model, known.cluster);
    run.job.sequence = known.sequence;
    run.job.global_batch = known.batch;
    run.layout = known.layout;
    EXPECT_EQ(run.layout.ranks(), known.gpus) << known.source;
    EXPECT_EQ(listed(run.problems()), "") << known.source;
  }
}

}  // namespace
}  // namespace headway
