// Each rule of check(): one wrong layout that yields exactly that problem, with the flag and what
// would be legal.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cluster/load.hpp"
#include "layout/layout.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

struct Case {
  Model model;
  Job job;
  Layout layout;
  Cluster cluster;

  Problems problems() const { return check(model, job, layout, cluster); }
};

std::string listed(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
  return out;
}

Case run_of(const char* model, const char* cluster) {
  Case run;
  run.model = load_model(model).value();
  run.cluster = load_cluster(cluster).value();
  return run;
}

// Llama-2-7B (32 layers, 32 heads, feed-forward width 11,008), legal.
Case dense() {
  Case run = run_of("llama-2-7b", "dgx-h100");
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  run.layout.dp = 4;
  run.layout.tp = 2;
  run.layout.pp = 2;
  return run;
}

// Mixtral-8x7B (32 layers, 8 experts of width 14,336), legal.
Case mixture() {
  Case run = run_of("mixtral-8x7b", "dgx-h100");
  run.job.sequence = 4096;
  run.job.global_batch = 120;
  run.layout.dp = 8;
  run.layout.ep = 8;
  return run;
}

struct Wrong {
  const char* what;
  std::function<void(Case&)> make;
  const char* where;
  const char* legal;  // stands in the message
};

void expect_one_problem(const Case& legal, const std::vector<Wrong>& cases) {
  ASSERT_EQ(listed(legal.problems()), "");
  for (const Wrong& wrong : cases) {
    Case run = legal;
    wrong.make(run);
    const Problems problems = run.problems();
    ASSERT_EQ(problems.size(), 1u) << wrong.what << "\n" << listed(problems);
    EXPECT_EQ(where_text(problems[0]), wrong.where) << wrong.what;
    EXPECT_NE(problems[0].message.find(wrong.legal), std::string::npos)
        << wrong.what << ": " << problems[0].message;
  }
}

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

TEST(Check, PipelineStages) {
  expect_one_problem(
      dense(),
      {
          {"virtual stages without a pipeline",
           [](Case& r) {
             r.layout.pp = 1;
             r.layout.vpp = 2;
           },
           "--vpp", "--pp must be at least 2"},
          {"more stages than layers", [](Case& r) { r.layout.pp = 64; }, "--pp",
           "at most the layers"},
          {"more chunks than layers", [](Case& r) { r.layout.vpp = 32; }, "--pp",
           "pp x vpp = 64 stages for 32 layers"},
          {"ends without a pipeline",
           [](Case& r) {
             r.layout.pp = 1;
             r.layout.first_stage_layers = 16;
           },
           "--first-stage-layers, --last-stage-layers", "--pp of at least 2"},
          {"ends and virtual stages",
           [](Case& r) {
             r.layout.vpp = 2;
             r.layout.last_stage_layers = 15;
           },
           "--first-stage-layers, --last-stage-layers", "--vpp 1"},
          {"ends that leave too few",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.first_stage_layers = 16;
             r.layout.last_stage_layers = 15;
           },
           "--first-stage-layers, --last-stage-layers", "leave 1 of 32 layers to 2 other stages"},
          {"ends that leave layers to nobody",
           [](Case& r) {
             r.layout.first_stage_layers = 15;
             r.layout.last_stage_layers = 15;
           },
           "--first-stage-layers, --last-stage-layers", "leave 2 of 32 layers to 0 other stages"},
          {"slots of the head that fill two chunks",  // 32 + 16 over 8: 6 each
           [](Case& r) {
             r.layout.pp = 8;
             r.layout.head_slots = 16;
           },
           "--embedding-slots, --head-slots", "leave chunk 7 of 8 without a layer"},
          {"slots of the embedding that fill two virtual chunks",  // 32 + 12 over 8: 6 each
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.vpp = 2;
             r.layout.embedding_slots = 12;
           },
           "--embedding-slots, --head-slots", "leave chunk 2 of 8 without a layer"},
          {"slots of the head on the last rank of ZB-V, which has none",  // 32 + 4 over 9
           [](Case& r) {
             r.cluster.accelerators = 1024;
             r.layout.pp = 9;
             r.layout.head_slots = 4;
             r.layout.schedule = Schedule::zero_bubble_v;
           },
           "--embedding-slots, --head-slots", "chunk 9 of 9 without a layer; zero-bubble-v"},
          {"slots beside explicit ends",
           [](Case& r) {
             r.layout.head_slots = 1;
             r.layout.first_stage_layers = 15;
             r.layout.last_stage_layers = 17;
           },
           "--embedding-slots, --head-slots", "spread layers evenly"},
          {"slots where nanotron balances weights",
           [](Case& r) {
             r.job.framework = framework_from("nanotron").value();
             r.layout.head_slots = 1;
           },
           "--embedding-slots, --head-slots", "nanotron, which balances"},
          {"interleaving in groups of pp",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.vpp = 2;
             r.job.global_batch = 4 * 6;
           },
           "--vpp", "micro-batches (6) to be a multiple of pp = 4"},
          {"interleaving in rounds that differ, in PyTorch",  // 9 over pp = 4: two rounds
           [](Case& r) {
             r.job.framework = framework_from("fsdp").value();
             r.layout.pp = 4;
             r.layout.vpp = 2;
             r.job.global_batch = 4 * 9;
           },
           "--vpp", "micro-batches (9) to be below pp = 4, or to split into equal rounds"},
          {"a pipeline in MaxText whose stages do not divide the micro-batches",
           [](Case& r) {
             r.job.framework = framework_from("jax").value();
             r.layout.pp = 4;
             r.job.global_batch = 4 * 2;
           },
           "--pp", "micro-batches (2) to be a multiple of pp = 4"},
          {"ZB-V on more ranks than slots are placed for",
           [](Case& r) {
             r.model.pattern.assign(512, 0);
             r.layout.pp = 512;
             r.layout.schedule = Schedule::zero_bubble_v;
           },
           "--pp", "at most 256"},
          {"overlapped tensor-parallel calls over two nodes",
           [](Case& r) {
             r.layout.tp = 16;
             r.layout.overlap_tensor = Choice::on;
           },
           "--overlap-tensor", "one domain of 8 accelerators (node)"},
          {"virtual stages of another schedule",
           [](Case& r) {
             r.layout.vpp = 2;
             r.layout.schedule = Schedule::gpipe;
           },
           "--vpp", "--schedule 1f1b"},
          {"dual-pipe on an odd pipeline",
           [](Case& r) {
             r.layout.pp = 1;
             r.layout.schedule = Schedule::dual_pipe;
           },
           "--schedule", "an even --pp"},
          {"dual-pipe with few micro-batches",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.schedule = Schedule::dual_pipe;
             r.job.global_batch = 4 * 7;
           },
           "--schedule", "at least 2 x pp = 8 micro-batches; there are 7"},
          {"dual-pipe with micro-batches that two directions cannot share",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.schedule = Schedule::dual_pipe;
             r.job.global_batch = 4 * 9;
           },
           "--schedule", "an even number of micro-batches; there are 9"},
          {"dual-pipe-v with few micro-batches",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.schedule = Schedule::dual_pipe_v;
             r.job.global_batch = 4 * 7;
           },
           "--schedule", "dual-pipe-v needs at least 2 x pp = 8 micro-batches; there are 7"},
          {"chimera with part of a unit",
           [](Case& r) {
             r.layout.pp = 4;
             r.layout.schedule = Schedule::chimera;
             r.job.global_batch = 4 * 6;
           },
           "--schedule", "a multiple of pp = 4 micro-batches; there are 6"},
      });
  // Only Megatron-LM interleaves in groups of pp.
  Case run = dense();
  run.layout.pp = 4;
  run.layout.vpp = 2;
  run.job.global_batch = 4 * 6;
  run.job.framework = framework_from("nanotron").value();
  EXPECT_EQ(listed(run.problems()), "");
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
       {.dp = 64, .tp = 8, .pp = 16, .first_stage_layers = 7, .last_stage_layers = 7}},
      {"Llama 3.1 405B",
       "llama-3.1-405b",
       "dgx-h100",
       16384,
       8192,
       128 * 16,
       {.dp = 128, .tp = 8, .pp = 16, .first_stage_layers = 7, .last_stage_layers = 7}},
      {"Llama 3.1 405B, long",
       "llama-3.1-405b",
       "dgx-h100",
       16384,
       131072,
       8 * 16,
       {.dp = 8, .tp = 8, .cp = 16, .pp = 16, .first_stage_layers = 7, .last_stage_layers = 7}},
      // arXiv 2205.05198 table 3.
      {"22B", "megatron-22b", "dgx-a100-80gb", 8, 2048, 4, {.tp = 8, .micro_batch = 4}},
      {"175B", "gpt3-175b", "dgx-a100-80gb", 64, 2048, 64, {.tp = 8, .pp = 8, .vpp = 3}},
      {"530B", "mt-nlg-530b", "dgx-a100-80gb", 280, 2048, 280, {.tp = 8, .pp = 35, .vpp = 3}},
      {"1T", "megatron-1t", "dgx-a100-80gb", 512, 2048, 512, {.tp = 8, .pp = 64}},
      // arXiv 2104.04473 table 1, last row.
      {"1T on 3,072", "megatron-1t", "selene", 3072, 2048, 3072, {.dp = 6, .tp = 8, .pp = 64}},
      // arXiv 2412.19437 §3.2: 61 layers, experts over 64 ranks (8 nodes), ZeRO-1.
      {"DeepSeek-V3",
       "deepseek-v3",
       "h800-8",
       2048,
       4096,
       15360,
       {.dp = 128,
        .pp = 16,
        .ep = 64,
        .zero = 1,
        .schedule = S::dual_pipe,
        .first_stage_layers = 4,
        .last_stage_layers = 1}},
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

// 16 layers of 4·2048² + 3·2048·8192 = 67.1 M weights and a head of 131,072·2048 = 4 layers' worth.
Case small_with_a_large_head() {
  Case run = run_of("llama-2-7b", "dgx-h100");
  run.model.hidden = 2048;
  run.model.vocabulary = 131072;
  run.model.kinds.front().attention->head_dim = run.model.kinds.front().attention->value_dim = 64;
  run.model.kinds.front().feed_forward->width = 8192;
  run.model.pattern.resize(16);
  run.job.framework = framework_from("nanotron").value();
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  return run;
}

// [STEP-13] Rank 0 of nanotron's runs of this model holds 940 M parameters with two stages, 604 M
// with four and 470 M with eight: the table's 268.4 M, and 10, 5 and 3 layers. A share is 20/pp.
TEST(BalancedStages, CountTheHeadAmongTheWeights) {
  const Model model = small_with_a_large_head().model;
  EXPECT_EQ(balanced_stages(model, 2).begins, (std::vector<std::int64_t>{0, 10, 16}));
  EXPECT_EQ(balanced_stages(model, 4).begins, (std::vector<std::int64_t>{0, 5, 10, 15, 16}));
  EXPECT_EQ(balanced_stages(model, 8).begins.at(1), 3);
  EXPECT_EQ(balanced_stages(model, 8).head, 6);  // 6·2.5 = 15 of 20 are reached before layer 16
}

// An embedding or a head may have a chunk of its own: 32 + 4 + 4 over 10.
TEST(Check, SlotsMayLeaveTheFirstAndLastChunkToTheEnds) {
  Case run = dense();
  run.layout.pp = 10;
  run.layout.embedding_slots = run.layout.head_slots = 4;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
  EXPECT_EQ(chunk_begin(32, run.layout, 1), 0);
  EXPECT_EQ(chunk_begin(32, run.layout, 9), 32);
}

// [STEP-13] With eight stages the head comes on stage 6 and nothing but the loss behind it: there
// ZB-V, which has the head on the first rank, would have an empty one.
TEST(Check, ABalanceLeavesNoRankOfZbVEmpty) {
  Case run = small_with_a_large_head();
  run.layout.pp = 8;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
  run.layout.schedule = Schedule::zero_bubble_v;
  const Problems problems = run.problems();
  ASSERT_EQ(problems.size(), 1u) << listed(problems);
  EXPECT_EQ(where_text(problems.front()), "--schedule");
  run.layout.pp = 2;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
}

// With 16 stages a share is 1.25 layers: the 16th layer and the head come on stage 12, the cast on
// 13, the loss on 14, nothing on 15.
TEST(Check, NanotronRunsNoStageWithoutAnything) {
  Case run = small_with_a_large_head();
  run.layout.dp = 4;
  run.layout.pp = 16;
  ASSERT_EQ(balanced_stages(run.model, 16).head, 12);
  const Problems problems = run.problems();
  ASSERT_EQ(problems.size(), 1u) << listed(problems);
  EXPECT_EQ(where_text(problems.front()), "--pp");
  EXPECT_NE(problems.front().message.find("1 of 16 stages"), std::string::npos);
  run.job.framework = framework_from("megatron").value();
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
  run.job.framework = framework_from("nanotron").value();
  run.layout.pp = 8;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
}

// 32 layers and a place each for embedding and head fill 34 stages, one each.
TEST(Check, EmbeddingAndHeadMayFillStagesOfTheirOwn) {
  Case run = dense();
  run.layout = Layout();
  run.layout.pp = 34;
  run.layout.embedding_slots = run.layout.head_slots = 1;
  EXPECT_EQ(listed(run.problems()), "");
  EXPECT_EQ(chunk_begin(32, run.layout, 1), 0);
  EXPECT_EQ(chunk_begin(32, run.layout, 2), 1);
  EXPECT_EQ(chunk_begin(32, run.layout, 33), 32);
  run.layout.pp = 35;
  EXPECT_EQ(listed(run.problems()),
            "--pp: pp x vpp = 35 stages for 32 layers and 2 for the ends; must be at most the "
            "layers\n");
}

}  // namespace
}  // namespace headway
