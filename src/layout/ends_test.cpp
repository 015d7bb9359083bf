#include "layout/ends.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "layout/frameworks/framework.hpp"
#include "model/count.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

Job job_of(std::string_view framework) {
  Job job;
  job.framework = framework_from(framework).value();
  job.sequence = 4096;
  job.global_batch = 1024;
  return job;
}

Layout pipeline(std::int64_t pp, std::int64_t vpp = 1) {
  Layout layout;
  layout.pp = pp;
  layout.vpp = vpp;
  return layout;
}

std::vector<std::int64_t> chunks(std::int64_t layers, Layout layout, const EndSlots& ends) {
  apply(ends, layout);
  std::vector<std::int64_t> out;
  for (std::int64_t chunk = 0; chunk < layout.pp * layout.vpp; ++chunk) {
    out.push_back(chunk_begin(layers, layout, chunk + 1) - chunk_begin(layers, layout, chunk));
  }
  return out;
}

// The least that the stage with most to do has, over every way to cut the layers into stages that
// follow one another: an end may have none. In work of a layer.
double least_of_any_cut(std::int64_t layers, std::int64_t stages, double head) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> before(static_cast<std::size_t>(layers) + 1, kNone);
  before[0] = 0;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const bool last = stage + 1 == stages, inner = stage > 0 && !last;
    std::vector<double> now(before.size(), kNone);
    for (std::size_t begin = 0; begin < before.size(); ++begin) {
      for (std::size_t end = begin + (inner ? 1 : 0); end < before.size(); ++end) {
        const double own = static_cast<double>(end - begin) + (last ? head : 0);
        now[end] = std::min(now[end], std::max(before[begin], own));
      }
    }
    before = now;
  }
  return before.back();
}

// [STEP-25] Layers of one kind: no cut is better than the one that slots make.
RC_GTEST_PROP(BalancedEnds, are_as_good_as_the_best_cut_of_the_layers, ()) {
  Model model = load_model("llama-2-7b").value();
  model.pattern.resize(*rc::gen::inRange<std::size_t>(2, 40));
  model.vocabulary = *rc::gen::inRange<std::int64_t>(1'000, 400'000);
  const Job job = job_of("megatron");
  const std::int64_t stages = *rc::gen::inRange<std::int64_t>(2, model.layers() + 1);
  const double layer =
      layer_forward_flops(model, model.kinds[0], job.sequence, AttentionFlops::causal).value();
  const double head = 2.0 * static_cast<double>(model.hidden * model.vocabulary * job.sequence);
  Layout layout = pipeline(stages);
  const auto most = [&] {
    const std::vector<double> work = work_of_ranks(model, job, layout);
    return *std::max_element(work.begin(), work.end()) / layer;
  };
  const double even = most();
  apply(balanced_ends(model, job, layout), layout);
  RC_ASSERT(fills_chunks(model, layout));
  const double least = least_of_any_cut(model.layers(), stages, head / layer);
  RC_ASSERT(most() >= least * (1 - 1e-9));
  RC_ASSERT(most() <= least * (1 + 1e-9));
  // Slots there are only where they help.
  if (even <= least * (1 + 1e-9)) {
    RC_ASSERT(layout.embedding_slots + layout.head_slots == 0);
  }
}

RC_GTEST_PROP(BalancedEnds, leave_the_busiest_rank_no_more_than_an_even_spread, ()) {
  const char* const name = *rc::gen::element("deepseek-v3", "llama-3.1-405b", "mixtral-8x7b");
  const Model model = load_model(name).value();
  const Job job = job_of("megatron");
  Layout layout = pipeline(*rc::gen::inRange<std::int64_t>(2, 17));
  layout.schedule =
      *rc::gen::element(Schedule::one_f_one_b, Schedule::zero_bubble_v, Schedule::dual_pipe);
  if (takes_virtual_stages(layout.schedule)) {
    layout.vpp = *rc::gen::inRange<std::int64_t>(1, model.layers() / layout.pp + 1);
  }
  const auto most = [&] {
    const std::vector<double> work = work_of_ranks(model, job, layout);
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    const double whole = forward_flops(model, job.sequence, AttentionFlops::causal).value();
    RC_ASSERT(std::abs(all - whole) < 1e-9 * whole);
    return *std::max_element(work.begin(), work.end());
  };
  const double even = most();
  apply(balanced_ends(model, job, layout), layout);
  RC_ASSERT(fills_chunks(model, layout));
  RC_ASSERT(most() <= even * (1 + 1e-9));
}

// Of 10 layers and a place for the head over four chunks the first of two ranks holds 3 and 1, with
// the head, the second one 3 and 3 between them.
TEST(BalancedEnds, FoldedPipelinesHaveTheLastChunkOnTheFirstRank) {
  Layout layout = pipeline(2);
  layout.schedule = Schedule::zero_bubble_v;
  EXPECT_EQ(chunks_of_model(layout), 4);
  std::vector<std::int64_t> begins, ranks;
  layout.head_slots = 1;
  for (std::int64_t chunk = 0; chunk < 4; ++chunk) {
    begins.push_back(chunk_begin(10, layout, chunk));
    ranks.push_back(stage_of_chunk(layout, chunk));
  }
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(chunk_begin(10, layout, 4), 10);
}

// [STEP-25] Published: Llama 3.1 405B, 126 layers in 128 chunks of 16 ranks, the first holding the
// embedding and the last the head alone; DeepSeek-V3, 61 layers on 16 stages as
// "Et*4|(t*4|)*14tmL".
TEST(UsualEnds, AreThoseOfPublishedPipelines) {
  const Job job = job_of("megatron");
  const Model llama = load_model("llama-3.1-405b").value();
  const EndSlots each{1, 1};
  EXPECT_EQ(usual_ends(llama, job, pipeline(16, 8)), each);
  std::vector<std::int64_t> expected(128, 1);
  expected.front() = expected.back() = 0;
  EXPECT_EQ(chunks(126, pipeline(16, 8), each), expected);

  const Model deepseek = load_model("deepseek-v3").value();
  expected.assign(16, 4);
  expected.back() = 1;
  EXPECT_EQ(chunks(61, pipeline(16), usual_ends(deepseek, job, pipeline(16))), expected);
}

TEST(UsualEnds, AreEachFrameworksHabit) {
  const Model model = load_model("llama-3.1-8b").value();  // a head of 2.4 layers' work
  const auto ends = [&](const char* framework, const Layout& layout) {
    return usual_ends(model, job_of(framework), layout);
  };
  for (const char* framework : {"megatron", "fsdp"}) {
    EXPECT_EQ(ends(framework, pipeline(4)), EndSlots{}) << framework;  // 32 = 4 · 8
    EXPECT_EQ(ends(framework, pipeline(5)), balanced_ends(model, job_of(framework), pipeline(5)));
    EXPECT_NE(ends(framework, pipeline(5)), EndSlots{}) << framework;
  }
  for (const char* framework : {"deepspeed", "nanotron", "jax"}) {
    EXPECT_EQ(ends(framework, pipeline(5)), EndSlots{}) << framework;
  }
}

TEST(UsualEnds, AreNoneWhereThereIsNothingToSpread) {
  const Model model = load_model("deepseek-v3").value();
  const Job job = job_of("megatron");
  EXPECT_EQ(usual_ends(model, job, Layout()), EndSlots{});
  Layout stated = pipeline(16);
  stated.last_stage_layers = 2;
  EXPECT_EQ(usual_ends(model, job, stated), EndSlots{});
  EXPECT_EQ(usual_ends(model, job, pipeline(1'000'000, 1'000'000)), EndSlots{});
}

}  // namespace
}  // namespace headway
