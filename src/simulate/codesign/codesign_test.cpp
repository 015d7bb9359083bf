// What choices about communication bring, against closed forms of what they leave.
#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics.hpp"
#include "simulate/codesign/sweep.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

RunRequest request(const Fields& more) {
  Fields all = {
      {"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"global-batch", "32"},
      {"gpus", "32"},          {"framework", "fsdp"},   {"zero", "0"},   {"tp", "8"}};
  all.insert(all.end(), more.begin(), more.end());
  RunRequest out;
  for (const auto& [name, text] : all) out.emplace_back(name, text);
  return out;
}

Design design(const Fields& more = {}) {
  return {.fields = request(more)};
}

DesignedStep step(const Design& of) {
  const auto found = step_of(of);
  EXPECT_TRUE(found.ok()) << found.problems().front().message;
  return found.ok() ? *found : DesignedStep{};
}

// Bytes of all gradient calls of the first stage.
double gradient_bytes(const Step& of, CollectiveOp op) {
  double out = 0;
  for (const Call& call : only<Call>(of.stages.front().items)) {
    if (call.phase == Phase::gradient && call.group == Group::dp && call.op == op) {
      out += call.bytes.value() * call.count;
    }
  }
  return out;
}

// [SIM-52] Bytes on the wire by the published volumes: of N elements in 4 bytes 2, 4, 8, 16, 32
// times fewer; of 1 % with places 50 times fewer, from each rank; factors of rank r.
TEST(Compression, SendsThePublishedVolumes) {
  const auto run = make_run(request({{"reduce-dtype", "fp32"}}));
  ASSERT_TRUE(run.ok()) << run.problems().front().message;
  const Step plain = lower(*run);
  const double whole = gradient_bytes(plain, CollectiveOp::all_reduce);
  ASSERT_GT(whole, 0);
  const double ranks = static_cast<double>(plain.spans.dp.ranks);
  const auto changed = [&](const Compression& by) {
    Step out = plain;
    EXPECT_EQ(compress_gradients(out, *run, by), "");
    return out;
  };
  EXPECT_NEAR(gradient_bytes(changed({Compressor::fp16}), CollectiveOp::all_reduce), whole / 2, 1);
  for (const auto& [by, factor] :
       {std::pair(Compressor::bits_8, 4.0), std::pair(Compressor::qsgd, 8.0),
        std::pair(Compressor::terngrad, 16.0), std::pair(Compressor::bits_1, 32.0)}) {
    const Step out = changed({by});
    EXPECT_EQ(gradient_bytes(out, CollectiveOp::all_reduce), 0);
    // A gather and a scatter of as much.
    EXPECT_NEAR(gradient_bytes(out, CollectiveOp::all_to_all), whole / factor, 1);
    EXPECT_NEAR(gradient_bytes(out, CollectiveOp::all_gather), whole / factor, 1);
  }
  EXPECT_NEAR(gradient_bytes(changed({Compressor::top_k, 0.01}), CollectiveOp::all_gather),
              ranks * whole / 50, 1);
  // Llama-2-7B at tp 8: of each layer query-key-value 4096 x 1536, projection 512 x 4096, gate and
  // up 4096 x 2752, down 1376 x 4096, embedding and head 4000 x 4096, 4 (a + b) · 4 bytes each;
  // norms as they are.
  const double a_layer = 4096 + 1536 + 512 + 4096 + 4096 + 2752 + 1376 + 4096;
  const double factors = 4 * (32 * a_layer + 2 * (4000 + 4096)) * 4;
  const double norms = (32 * 2 + 1) * 4096 * 4;
  EXPECT_NEAR(gradient_bytes(changed({Compressor::powersgd, 0, 4}), CollectiveOp::all_reduce),
              factors + norms, 0.01 * factors);
}

// What travels less is exposed less, and the kernels take their passes over the memory.
TEST(Compression, TradesTheWireForKernels) {
  const Fields slow = {{"reduce-dtype", "fp32"}, {"overlap-gradients", "off"}};
  const DesignedStep base = step(design(slow));
  double before = base.parts.dp.value();
  for (const Compressor by : {Compressor::bits_8, Compressor::qsgd, Compressor::bits_1}) {
    Design compressed = design(slow);
    compressed.compression = {by};
    const DesignedStep found = step(compressed);
    EXPECT_LT(found.parts.dp.value(), before);
    before = found.parts.dp.value();
    // At least three readings and writings of 4 bytes of each weight at 3.35 TB/s.
    const double pass = 6.7e9 / 8 * 4 * 3 / 3.35e12;
    EXPECT_GT((found.parts.compute - base.parts.compute).value(), pass);
    EXPECT_LT((found.parts.compute - base.parts.compute).value(), 4 * pass);
  }
}

// [SIM-53] E[max] of 8 ... 4,096 normal step times (facts: 1.4236, 2.3437, 2.8269, 3.2482, 3.6261),
// and over H steps of local SGD that over sqrt(H).
TEST(Synchronisation, WaitsForTheSlowestAsItAgrees) {
  for (const auto& [n, expected] :
       {std::pair(8, 1.4236), std::pair(64, 2.3437), std::pair(256, 2.8269),
        std::pair(1024, 3.2482), std::pair(4096, 3.6261)}) {
    EXPECT_NEAR(waiting_of({}, n), expected, 0.005 * expected) << n;
    EXPECT_NEAR(waiting_of({Agreement::local, 25}, n), expected / 5, 0.001 * expected) << n;
  }
  EXPECT_EQ(waiting_of({}, 1), 0);
  // Bounded staleness: less with a looser bound; gossip between: more than none, less than all, and
  // more with more neighbours.
  double before = waiting_of({}, 64);
  for (const std::int64_t bound : {1, 2, 4, 16}) {
    const double now = waiting_of({Agreement::stale, bound}, 64);
    EXPECT_LT(now, before) << bound;
    EXPECT_GT(now, 0) << bound;
    before = now;
  }
  const double two = waiting_of({Agreement::gossip, 2}, 64);
  EXPECT_LT(two, waiting_of({Agreement::gossip, 8}, 64));
  EXPECT_LT(waiting_of({Agreement::gossip, 8}, 64), waiting_of({}, 64));
  // All are neighbours of all: the synchronous step, drawn.
  EXPECT_NEAR(waiting_of({Agreement::gossip, 63}, 64), waiting_of({}, 64), 0.03);
}

// [SIM-53] H large: what is left is the step without gradients on the wire; the difference falls as
// 1/H but for waiting, which is that of the same straggling.
TEST(Synchronisation, OfLocalStepsPaysForOneAverageInManySteps) {
  const auto exposed = [](std::int64_t steps) {
    Design local = design();
    local.synchronisation = {Agreement::local, steps};
    return step(local).parts.dp.value();
  };
  const double none = exposed(10'000), ten = exposed(10), hundred = exposed(100);
  EXPECT_NEAR((ten - none) / (hundred - none), 0.0999 / 0.0099, 0.01);
  Design stale = design();
  stale.synchronisation = {Agreement::stale, 1};
  EXPECT_LE(step(stale).time, step(design()).time);
}

TEST(Synchronisation, IsRefusedWhereWeightsAreShared) {
  Design sharded = design({{"zero", "1"}});
  sharded.synchronisation = {Agreement::local, 16};
  const auto found = step_of(sharded);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.problems().front().message.find("--zero 0"), std::string::npos);
  Design alone = design({{"gpus", "8"}});
  alone.synchronisation = {Agreement::stale, 1};
  EXPECT_FALSE(step_of(alone).ok());
}

// [SIM-54] Four buckets of 1 s that become ready at 1, 2, 3 and 4 s of a backward pass of 4 s, a
// forward pass of 4 s: in their order the last comes at 5 s and the pass ends at 9. No bucket waits
// for another here, so that there is nothing to overtake: by priority the first part begins at 5,
// too, and all others follow it: 9. Buckets of 2 s: in order they end at 9 and the pass at 13; by
// priority they go 1 (1-3), 3 (3-5), 4 (5-7), 2 (7-9): parts 4, 3 (7-9), 2 (9-10), 1 (10-11): 11.
TEST(Priority, LetsTheNextForwardPassBegin) {
  for (const auto& [each, saved] : {std::pair(1.0, 0.0), std::pair(2.0, 2.0)}) {
    SimulatedStep made;
    made.pipeline = {Schedule::one_f_one_b, 1, 1, 1};
    RankTimeline& rank = made.ranks.emplace_back();
    const auto slot = [&](SlotWork work, double begin, double end) {
      StepSpan& span = rank.spans.emplace_back();
      span.work = work;
      span.begin = Seconds(begin);
      span.end = Seconds(end);
    };
    slot(SlotWork::forward, -4, 0);
    double free = 0;
    for (int i = 1; i <= 4; ++i) {
      StepSpan& span = rank.spans.emplace_back();
      span.kind = StepSpan::Kind::once;
      span.stream = stream_of(Group::dp);
      span.beside = true;
      span.begin = Seconds(std::max<double>(i, free));
      span.end = span.begin + Seconds(each);
      free = span.end.value();
    }
    slot(SlotWork::backward, 0, 4);
    rank.end = made.placed = Seconds(free);
    EXPECT_NEAR(saved_by_priority(made).value(), saved, 1e-12) << each;
  }
}

// The table has what each brings; those that are together are never longer than any alone, and the
// same comes out twice.
TEST(Codesign, SaysWhatEachBringsAndAllTogether) {
  const std::vector<std::string> texts = {
      "compression=8-bit",  "compression=powersgd:8",         "synchronisation=local-sgd:32",
      "bucket-size=100 MB", "algorithm=dp.all_reduce=themis", "schedule=zero-bubble",
      "in-network=node"};
  const RunRequest fields = request({{"reduce-dtype", "fp32"}});
  const auto found = codesign(fields, {}, texts);
  ASSERT_TRUE(found.ok()) << found.problems().front().message;
  ASSERT_EQ(found->tried.size(), texts.size());
  for (const TriedChoice& tried : found->tried) {
    EXPECT_NE(tried.step.has_value(), !tried.refused.empty()) << tried.text;
    if (!tried.step) continue;
    EXPECT_NEAR(tried.step->parts.total() / tried.step->time, 1, 1e-9) << tried.text;
    EXPECT_LE(found->all.step.time, tried.step->time) << tried.text;
    if (!tried.changes_result) {
      EXPECT_LE(found->keeping_result.step.time, tried.step->time) << tried.text;
    }
  }
  EXPECT_LE(found->all.step.time, found->keeping_result.step.time);
  const auto again = codesign(fields, {}, texts);
  ASSERT_TRUE(again.ok());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!found->tried[i].step) continue;
    EXPECT_EQ(found->tried[i].step->time, again->tried[i].step->time) << texts[i];
  }
}

TEST(Codesign, NamesEveryProblemAtOnce) {
  const std::vector<std::string> texts = {"compression=powersdg",         "synchronisation=stale:0",
                                          "algorithm=dp.all_reduce=rign", "bucket-sise=3",
                                          "compression=top-k:120%",       "priority=1"};
  const auto found = read_choices(texts);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.problems().size(), texts.size());
  EXPECT_NE(found.problems()[0].message.find("powersgd"), std::string::npos);
}

}  // namespace
}  // namespace headway
