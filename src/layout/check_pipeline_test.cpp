// The rules of check() on pipelines: stages, schedules, ends.
#include "layout/check_for_test.hpp"

namespace headway {
namespace {

using testing::checks::Case;
using testing::checks::dense;
using testing::checks::expect_one_problem;
using testing::checks::listed;
using testing::checks::run_of;

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
          {"slots of the head that fill two chunks of ZB-V",  // 32 + 6 over 18
           [](Case& r) {
             r.cluster.accelerators = 1024;
             r.layout.pp = 9;
             r.layout.head_slots = 6;
             r.layout.schedule = Schedule::zero_bubble_v;
           },
           "--embedding-slots, --head-slots", "chunk 16 of 18 without a layer"},
          {"fewer layers than chunks of ZB-V",
           [](Case& r) {
             r.cluster.accelerators = 1024;
             r.layout.pp = 17;
             r.layout.schedule = Schedule::zero_bubble_v;
           },
           "--pp", "2 x pp = 34 stages for 32 layers; must be at most the layers"},
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
             r.model.pattern.assign(1024, 0);
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

// [STEP-13] With twelve stages, 1.67 layers each, the head comes on stage 9 and nothing but cast
// and loss behind it: of the chunks of six ranks of ZB-V the eleventh would be empty.
TEST(Check, ABalanceLeavesNoChunkOfZbVEmpty) {
  Case run = small_with_a_large_head();
  run.layout.pp = 8;
  EXPECT_TRUE(run.problems().empty()) << listed(run.problems());
  run.layout.pp = 6;
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
