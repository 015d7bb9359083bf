// What methods of training send, keep and leave out, by hand.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "method/methods.hpp"
#include "step/case_for_test.hpp"
#include "step/frameworks/habits.hpp"
#include "step/methods/waiting.hpp"

namespace headway::testing {
namespace {

// Llama-2-7B in bf16 whose gradients travel in fp32.
Case run_with(const std::string& method, Sharding sharding = {.dp = 8}, std::int64_t pp = 1) {
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("megatron").value();
  c.job.global_batch = 64;
  c.layout = {{}, {.pp = pp}, sharding};
  c.job.method = method_from(method, FieldName("method")).value();
  follow(c.job.method, c.layout);
  return c;
}
Case legal_run(const std::string& method, Sharding sharding = {.dp = 8}, std::int64_t pp = 1) {
  Case c = run_with(method, sharding, pp);
  expect_legal(c);
  return c;
}

std::vector<Call> once_a_step(const Step& step) {
  return calls_in(step.stages.front().items);
}
double held(const Step& step) {
  return step.stages.front().parameters;
}
double sent(const Step& step, CollectiveOp op, Group group) {
  return bytes_of(once_a_step(step), op, group) / held(step);
}

constexpr double kNear = 1e-9;

// [METHOD-1] 4 bytes of each of N parameters once in H steps; nothing in the steps between.
TEST(Meet, DilocoSendsItsWeightsChangesOnceInACycle) {
  const Step step = legal_run("diloco:every=50").lowered();
  EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp_meeting), 4.0 / 50, kNear);
  EXPECT_EQ(sent(step, CollectiveOp::all_reduce, Group::dp), 0);
  EXPECT_EQ(step.spans.meeting.ranks, 8);
  EXPECT_EQ(step.spans.dp.ranks, 1);
}

// Two replicas of four ranks: gradients are added within each; a rank exchanges its quarter of the
// weights with the other replica, and they are gathered within, in 16 bit.
TEST(Meet, ReplicasOfSeveralRanksShareTheExchange) {
  const Step step = legal_run("diloco:every=50,replicas=2").lowered();
  EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp), 4, kNear);
  EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp_meeting), 4.0 / 4 / 50, kNear);
  EXPECT_NEAR(sent(step, CollectiveOp::all_gather, Group::dp), 2.0 / 50, kNear);
  EXPECT_EQ(step.spans.dp.ranks, 4);
  EXPECT_EQ(step.spans.meeting.ranks, 2);
}

// With sharded states each rank exchanges what it owns, before the gather that a step has anyway.
TEST(Meet, ShardedReplicasExchangeWhatEachRankOwns) {
  const Step step = legal_run("diloco:every=50,replicas=2", {.dp = 8, .zero = 1}).lowered();
  EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp_meeting), 4.0 / 4 / 50, kNear);
  EXPECT_NEAR(sent(step, CollectiveOp::all_gather, Group::dp), 2, kNear);
}

// In F fragments of N/F in 4 bit, there and back, each beside t steps of the H/F from one to the
// next: t F/H of all time.
TEST(Meet, StreamingExchangesFragmentsBesideTheSteps) {
  const Step step = legal_run("streaming-diloco:every=40,fragments=4,delay=5").lowered();
  int calls = 0;
  for (const Call& call : once_a_step(step)) {
    if (call.group != Group::dp_meeting) continue;
    ++calls;
    EXPECT_EQ(call.hidden_by, HiddenBy::next_steps);
    EXPECT_NEAR(call.room, 5 * 4.0 / 40, kNear);
    EXPECT_NEAR(call.bytes.value() / held(step), 0.5 / 4, kNear);
    EXPECT_NEAR(call.count, 4.0 / 40, kNear);
  }
  EXPECT_EQ(calls, 2);  // parts to who adds them up, and the sums back
  const Step always = legal_run("streaming-diloco:every=40,fragments=20,delay=30").lowered();
  for (const Call& call : once_a_step(always)) {
    if (call.group == Group::dp_meeting) {
      EXPECT_EQ(call.room, 1);
    }
  }
}

// A share k of N values, each with its place, 4 bytes each, from all M ranks: M k N 8.
TEST(Meet, TopKGathersValuesAndPlaces) {
  const Step step = legal_run("top-k:share=0.001").lowered();
  EXPECT_NEAR(sent(step, CollectiveOp::all_gather, Group::dp), 8 * 0.001 * 8, kNear);
  EXPECT_EQ(sent(step, CollectiveOp::all_reduce, Group::dp), 0);
  EXPECT_NEAR(sent(legal_run("masked:share=0.001").lowered(), CollectiveOp::all_reduce, Group::dp),
              0.004, kNear);
}

TEST(Meet, BitsOfGradientsTravelThereAndBack) {
  for (const auto& [method, bits] :
       {std::pair("qsgd", 4.0), std::pair("fp4-exchange", 4.0), std::pair("fp8-exchange", 8.0),
        std::pair("signs", 1.0), std::pair("one-bit-adam", 1.0), std::pair("terngrad", 2.0)}) {
    const Step step = legal_run(method).lowered();
    EXPECT_NEAR(sent(step, CollectiveOp::all_to_all, Group::dp), bits / 8, kNear) << method;
    EXPECT_NEAR(sent(step, CollectiveOp::all_gather, Group::dp), bits / 8, kNear) << method;
  }
}

// Both: one bit, once in 16 steps.
TEST(Meet, ZeroOneAdamSendsOneBitOnceInSomeSteps) {
  const Step step = legal_run("zero-one-adam").lowered();
  EXPECT_NEAR(sent(step, CollectiveOp::all_to_all, Group::dp_meeting), 1.0 / 8 / 16, kNear);
}

// Whatever the number of replicas, to each of k neighbours 4 bytes a weight.
RC_GTEST_PROP(Meet, gossipSendsAsMuchWhateverTheReplicas, ()) {
  const std::int64_t dp = std::int64_t{1} << *rc::gen::inRange(1, 7);
  const int neighbours = *rc::gen::inRange(1, 4);
  const Step step =
      legal_run("gossip:neighbours=" + std::to_string(neighbours), {.dp = dp}).lowered();
  const double told = std::min<double>(neighbours, static_cast<double>(dp - 1));
  RC_ASSERT(std::abs(sent(step, CollectiveOp::send_receive, Group::dp_meeting) - 4 * told) < kNear);
}

// The same bytes as synchronous training, beside the next step.
TEST(Meet, LateGradientsAreTheSameBesideTheNextStep) {
  const Step late = legal_run("stale").lowered();
  const Step in_step = legal_run("synchronous").lowered();
  EXPECT_NEAR(sent(late, CollectiveOp::all_reduce, Group::dp),
              sent(in_step, CollectiveOp::all_reduce, Group::dp), kNear);
  for (const Call& call : once_a_step(late)) {
    const bool gradients = call.phase == Phase::gradient && call.group == Group::dp;
    if (gradients) {
      EXPECT_EQ(call.hidden_by, HiddenBy::next_steps);
    }
  }
}

TEST(Meet, AnEnsembleSendsNothingBetweenItsMembers) {
  const Step step = legal_run("ensemble:replicas=2").lowered();
  EXPECT_EQ(sent(step, CollectiveOp::all_reduce, Group::dp_meeting), 0);
  EXPECT_EQ(step.spans.dp.ranks, 4);
}

// [METHOD-3] A copy and a momentum in fp32 a parameter; what one bit lost; late gradients as sent.
TEST(Meet, MethodsKeepWhatTheyAreMadeOf) {
  const Memory plain = legal_run("synchronous").lowered().held.memory;
  const Step diloco = legal_run("diloco").lowered();
  const double p = held(diloco);
  EXPECT_NEAR((diloco.held.memory.optimizer - plain.optimizer).value() / p, 8, kNear);
  EXPECT_NEAR((legal_run("signs").lowered().held.memory.gradients - plain.gradients).value() / p, 4,
              kNear);
  EXPECT_NEAR((legal_run("stale").lowered().held.memory.buffers - plain.buffers).value() / p, 4,
              kNear);
  // States are shared within a replica alone: those of four ranks are twice those of eight.
  const Sharding sharded{.dp = 8, .zero = 1};
  const Bytes of_eight = legal_run("synchronous", sharded).lowered().held.memory.optimizer;
  const Bytes of_four = legal_run("local-sgd:replicas=2", sharded).lowered().held.memory.optimizer;
  EXPECT_NEAR(of_four / of_eight, 2, kNear);
}

// [METHOD-2] Activations go forward and nothing comes back; every stage has a head, and holds one
// micro-batch.
TEST(Meet, StagesWithLossesOfTheirOwnSendForwardAlone) {
  const Step own = legal_run("local-updates", {.dp = 1}, 4).lowered();
  const Step all = legal_run("synchronous", {.dp = 1}, 4).lowered();
  const auto transfers = [](const Step& step, std::size_t stage) {
    return bytes_of(calls_in(step.stages[stage].items), CollectiveOp::send_receive, Group::pp);
  };
  EXPECT_NEAR(transfers(own, 1), transfers(all, 1) / 2, 1);
  EXPECT_EQ(transfers(own, 2), 0);  // the last
  EXPECT_GT(transfers(all, 2), 0);
  for (const StageClass& stage : own.stages) {  // nothing asks all stages
    for (const Call& call : calls_in(stage.items)) {
      EXPECT_TRUE(call.group != Group::model && call.group != Group::world);
    }
  }
  const double head = 32000.0 * 4096;
  EXPECT_NEAR(own.stages[1].parameters - all.stages[1].parameters, head + 4096,
              1);  // with its norm
  EXPECT_NEAR(own.stages[2].parameters, all.stages[2].parameters, 1);
  EXPECT_EQ(own.held.memory.in_flight, Bytes(0));
  EXPECT_GT(all.held.memory.in_flight, Bytes(0));
}

// Several losses in a stage: a head for each, activations of one block of layers at a time; in one
// stage, too. 32 layers in 2 stages of 4 blocks are blocks of 4 layers.
TEST(Meet, BlocksInAStageHaveHeadsAndHoldOneBlocksActivations) {
  const Step one = legal_run("local-updates", {.dp = 1}, 2).lowered();
  const Step four = legal_run("local-updates:blocks=4", {.dp = 1}, 2).lowered();
  const double head = 32000.0 * 4096 + 4096;
  for (std::size_t stage = 0; stage < 2; ++stage) {
    EXPECT_NEAR(four.stages[stage].parameters - one.stages[stage].parameters, 3 * head, 1);
  }
  const Bytes of_layer = one.blocks.front().saved;
  EXPECT_NEAR((one.held.memory.activations - four.held.memory.activations) / of_layer, 12, 1);
  const Step alone = legal_run("local-updates:blocks=8", {.dp = 1}).lowered();
  const Step whole = legal_run("synchronous", {.dp = 1}).lowered();
  EXPECT_NEAR(alone.stages[0].parameters - whole.stages[0].parameters, 7 * head, 1);
  EXPECT_NEAR((whole.held.memory.activations - alone.held.memory.activations) / of_layer, 28, 1);
  EXPECT_FALSE(check(run_with("local-updates:blocks=17", {.dp = 1}, 2)).empty());
}

// [METHOD-6] Of K parts each is held in its turn, with one of the ends; all but the last run
// forward once more, in E passes over the data a part of it.
TEST(Meet, PartsAreHeldOneAtATimeAndRunForwardOnceMore) {
  const Step whole = legal_run("synchronous").lowered();
  const double layer = whole.blocks.front().held.dense, end = 32000.0 * 4096;
  for (const auto& [text, parts, epochs] :
       {std::tuple("synthetic-labels", 2, 1),
        std::tuple("synthetic-labels:parts=4,epochs=3", 4, 3)}) {
    const Step step = legal_run(text).lowered();
    // 2 bytes of weights, 4 of gradients; beside the layers one of embedding and head.
    EXPECT_NEAR(step.held.memory.parameters.value(), 2 * (32.0 / parts * layer + end + 4096), 1e4);
    const auto forward = [](const Step& of) {
      Flops out(0);
      for (const Op& op : only<Op>(of.blocks.front().items)) {
        if (op.phase == Phase::forward) out += work(op);
      }
      return out;
    };
    const double again = (parts - 1.0) / parts / epochs;
    EXPECT_NEAR(forward(step) / forward(whole), 1 + again, kNear);
    EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp), 4, kNear);  // as ever
    EXPECT_NEAR(step.held.memory.activations / whole.held.memory.activations, 1.0 / parts, 0.1);
  }
  EXPECT_FALSE(check(run_with("synthetic-labels", {.dp = 4}, 2)).empty());
  EXPECT_FALSE(check(run_with("synthetic-labels:parts=64")).empty());
}

// [METHOD-7] Of keys and values of other ranks the share that attention selects goes round, with
// places of 4 bytes, and is attended to beside one's own quarter of the sequence.
TEST(Meet, SelectedKeysAloneGoRoundARing) {
  const auto on_four = [](const std::string& method) {
    Case c = run_with(method, {.dp = 2});
    c.layout.cp = 4;
    expect_legal(c);
    return c.lowered();
  };
  const Step all = on_four("synchronous"), some = on_four("semantic-exchange:selected=0.25");
  const auto sent_of = [](const Step& step) {
    return bytes_of(calls_in(step.blocks.front().items), CollectiveOp::send_receive, Group::cp);
  };
  // Keys and values of 4096 columns each in 2 bytes; forward, and gradients backward twice that.
  const double a_token = 2 * 2 * 4096;
  EXPECT_NEAR(sent_of(some) / sent_of(all), 0.25 * (a_token + 4) / a_token, 1e-6);
  const auto attention = [](const Step& step) {
    Flops out(0);
    for (const Op& op : only<Op>(step.blocks.front().items)) {
      if (std::holds_alternative<AttentionShape>(op.shape)) out += work(op);
    }
    return out;
  };
  EXPECT_NEAR(attention(some) / attention(all), 0.25 + 0.25 * 0.75, 1e-3);
  EXPECT_FALSE(check(run_with("semantic-exchange")).empty());  // cp is 1
}

// [METHOD-8] By hand: 2:4 halves forward products and gradients of inputs, not those of weights;
// blocks shorten all; anywhere none. Gradients of a share d; with masks a bit each of 32.
TEST(Meet, SparseProductsAreAsShortAsTheHardwareCanUseIt) {
  const auto products = [](const Step& step, Phase phase, bool of_weight) {
    Flops out(0);
    for (const Op& op : only<Op>(step.blocks.front().items)) {
      const bool is = std::holds_alternative<Matmul>(op.shape);
      if (is && op.phase == phase && op.weight_gradient == of_weight) out += work(op);
    }
    return out;
  };
  const Step dense = legal_run("synchronous").lowered();
  for (const auto& [text, reads, gradient, sends] :
       {std::tuple("sparse:density=0.5,zeros=2:4", 0.5, 1.0, 0.5),
        std::tuple("sparse:density=0.25,zeros=blocks", 0.25, 0.25, 0.25),
        std::tuple("sparse:density=0.25,zeros=none,masks-sent=1", 1.0, 1.0, 0.25 + 1.0 / 32)}) {
    const Step step = legal_run(text).lowered();
    const auto ratio = [&](Phase phase, bool of_weight) {
      return products(step, phase, of_weight) / products(dense, phase, of_weight);
    };
    EXPECT_NEAR(ratio(Phase::forward, false), reads, kNear) << text;
    EXPECT_NEAR(ratio(Phase::backward, false), reads, kNear) << text;
    EXPECT_NEAR(ratio(Phase::backward, true), gradient, kNear) << text;
    EXPECT_NEAR(sent(step, CollectiveOp::all_reduce, Group::dp), 4 * sends, kNear) << text;
  }
  EXPECT_FALSE(method_from("sparse:density=0.7,zeros=2:4", FieldName("method")).ok());
  EXPECT_TRUE(check(run_with("sparse", {.dp = 1})).empty());
}

// Pairs of stages: a layer's backward kernels run twice, and their gradients go back.
TEST(Meet, OverlappingUpdatesGoBackTwice) {
  const Step pairs = legal_run("overlapping-updates", {.dp = 1}, 4).lowered();
  const Step all = legal_run("synchronous", {.dp = 1}, 4).lowered();
  const auto backward = [](const Step& step) {
    Flops out(0);
    for (const Op& op : only<Op>(step.blocks.front().items)) {
      if (op.phase == Phase::backward) out += work(op);
    }
    return out;
  };
  EXPECT_NEAR(backward(pairs) / backward(all), 2, kNear);
  EXPECT_NEAR(bytes_of(calls_in(pairs.stages[1].items), CollectiveOp::send_receive, Group::pp),
              bytes_of(calls_in(all.stages[1].items), CollectiveOp::send_receive, Group::pp), 1);
}

// [METHOD-4] No backward pass, no gradients, no states; 4 bytes of each member.
TEST(Meet, EvolutionComparesForwardPasses) {
  const Step step = legal_run("evolution:population=32").lowered();
  for (const Block& block : step.blocks) {
    for (const Op& op : only<Op>(block.items)) EXPECT_EQ(op.phase, Phase::forward);
    EXPECT_EQ(block.saved, Bytes(0));
  }
  EXPECT_EQ(step.held.memory.gradients, Bytes(0));
  EXPECT_EQ(bytes_of(once_a_step(step), CollectiveOp::all_gather, Group::world), 32 * 4);
  EXPECT_EQ(sent(step, CollectiveOp::all_reduce, Group::dp), 0);
  const Step plain = legal_run("synchronous").lowered();
  EXPECT_NEAR(plain.model_flops_full / step.model_flops_full, 3, kNear);
}

TEST(Meet, WhatAMethodCannotBeIsRefused) {
  const auto field = [](const std::string& method, Sharding sharding, std::int64_t pp = 1) {
    const Problems problems = check(run_with(method, sharding, pp));
    return problems.empty() ? std::string() : problems.front().fields.front().name;
  };
  EXPECT_EQ(field("diloco", {.dp = 1}), "method");
  EXPECT_EQ(field("diloco:replicas=3", {.dp = 8}), "method");
  EXPECT_EQ(field("top-k", {.dp = 8, .zero = 3}), "zero");
  EXPECT_EQ(field("stale", {.dp = 8, .zero = 3}), "zero");
  EXPECT_EQ(field("powersgd", {.dp = 8, .zero = 1}), "method");
  EXPECT_EQ(field("local-updates", {.dp = 8}), "method");
  EXPECT_EQ(field("diloco:replicas=2", {.dp = 8, .zero = 3, .shard = 8}), "shard");
  EXPECT_EQ(field("diloco:replicas=2", {.dp = 8, .zero = 3}), "");
}

// [SIM-53] Sums of H steps vary by sqrt(H) of one; who is never waited for costs nothing; a looser
// bound waits no longer.
TEST(Waiting, FollowsWhenReplicasMeet) {
  Method method;
  EXPECT_EQ(waiting_part(method, 64), 1);
  method.meeting = Meeting::seldom;
  method.every = 25;
  EXPECT_DOUBLE_EQ(waiting_part(method, 64), 0.2);
  method.meeting = Meeting::never;
  EXPECT_EQ(waiting_part(method, 64), 0);
  method.meeting = Meeting::late;
  double before = 1;
  for (const int delay : {1, 2, 4, 8, 16}) {
    method.delay = delay;
    const double now = waiting_part(method, 64);
    EXPECT_LE(now, before + 0.03);
    before = now;
  }
  EXPECT_LT(before, 0.3);
}

}  // namespace
}  // namespace headway::testing
