// Properties of every forecast (DESIGN §4.8), over random legal runs.
#include "forecast/forecast.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "forecast/random_run_for_test.hpp"
#include "run/run.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::testing {
namespace {

std::array<double, 9> values(const Parts& p) {
  return {p.compute.value(), p.tp.value(),     p.cp.value(),        p.ep.value(),   p.pp.value(),
          p.dp.value(),      p.bubble.value(), p.optimizer.value(), p.other.value()};
}

// Rounding in sums of some hundred terms.
bool not_above(double a, double b) {
  return a <= b * (1 + 1e-12);
}

RC_GTEST_PROP(Forecast, PartsAreFiniteNotNegativeAndSumToTheStepTime, ()) {
  const Forecast f = random_case().priced();
  double sum = 0;
  for (const double part : values(f.parts)) {
    RC_ASSERT(std::isfinite(part));
    RC_ASSERT(part >= 0);
    sum += part;
  }
  RC_ASSERT(std::abs(sum - f.step_time.value()) <= 1e-12 * sum);
  RC_ASSERT(f.step_time.value() > 0);
  RC_ASSERT(std::isfinite(f.memory.total().value()));
  RC_ASSERT(f.fits || f.memory.total() > f.capacity);
  for (const PricedCall& call : f.calls) {
    RC_ASSERT(call.exposed >= Seconds(0));
    RC_ASSERT(call.exposed.value() <= call.each.value() * call.call.count * (1 + 1e-12));
  }
}

RC_GTEST_PROP(Forecast, TheStagesItNamesMakeItsBubbleAndTakeNoLongerThanTheStep, ()) {
  const Case c = random_case();
  const Forecast f = c.priced();
  const PipelineTimes& pipeline = f.pipeline;
  std::int64_t stages = 0;
  for (const StageTime& stage : pipeline.stages) {
    stages += stage.stages;
    // Where a framework balances weights, the loss may have a stage that no time is known of.
    const bool balanced = habits(c.job).pipeline.balances_stages;
    RC_ASSERT(stage.forward > Seconds(0) || (balanced && stage.total() == Seconds(0)));
    RC_ASSERT(stage.weight_gradient <= stage.backward);
    RC_ASSERT(stage.total() + stage.transfers <=
              pipeline.stages[pipeline.pace].total() + pipeline.stages[pipeline.pace].transfers);
  }
  RC_ASSERT(stages == c.layout.pp);
  const StageTime& pace = pipeline.stages[pipeline.pace];
  const double times = static_cast<double>(micro_batches(c.job, c.layout));
  const Seconds busy = times * (pace.total() + pace.transfers);
  RC_ASSERT(not_above((busy + f.parts.bubble).value(), f.step_time.value()));
  if (c.layout.pp == 1 || c.layout.vpp > 1 || is_placed(c.layout.schedule)) return;
  if (!c.layout.split_vocabulary) {
    // [FORECAST-1] Plain 1F1B and GPipe: what the slots come to whose senders wait.
    Seconds last(0);
    for (const PlacedSlot& slot :
         pipeline_slots(pipeline.stages, c.layout, micro_batches(c.job, c.layout), pipeline.send)) {
      last = std::max(last, slot.free);
    }
    RC_ASSERT(std::abs((last - busy - f.parts.bubble).value()) <= 1e-9 * f.step_time.value());
    return;
  }
  // [FORECAST-19] The others' share of one micro-batch, there and back; parts of the vocabulary run
  // at the same time; a pass more of the pace's waits.
  Seconds way = 2.0 * static_cast<double>(c.layout.pp - 1) * pipeline.send;
  for (const StageTime& stage : pipeline.stages) {
    RC_ASSERT(stage.vocabulary > Seconds(0));
    way += static_cast<double>(stage.stages) * (stage.total() - stage.vocabulary);
  }
  RC_ASSERT(std::abs((way - f.parts.bubble).value()) <= 1e-9 * f.step_time.value());
}

TEST(Forecast, AtTheAllocatorsLimitTheCacheIsTakenAnewInEveryMicroBatch) {  // [FORECAST-15]
  Case c = case_of("mpt-1b", "dgx-a100-40gb");
  c.job.framework = framework_from("fsdp").value();
  c.job.sequence = 2048;
  c.job.global_batch = 8 * 4 * 3;
  c.layout.dp = 8;
  c.layout.zero = 3;
  c.layout.micro_batch = 4;
  c.job.software = 2023;
  c.calibration.shared = {};
  FrameworkConstants& own =
      c.calibration.frameworks[static_cast<std::size_t>(framework_from("fsdp").value())];
  own.fragmentation = 0.1;
  own.reclaim = BytesPerSecond(20e9);
  ASSERT_TRUE(c.legal());
  const Forecast roomy = c.priced();
  const Bytes gaps = 0.1 * (roomy.memory.activations + roomy.memory.buffers);
  ASSERT_GT(gaps.value(), 0);
  // Room for all but half of the gaps: three micro-batches give back and take all memory.
  Bytes& memory = c.cluster.accelerator.memory;
  memory = roomy.memory.total() - gaps * 0.5;
  const Forecast tight = c.priced();
  EXPECT_TRUE(tight.fits);
  EXPECT_NEAR((tight.step_time - roomy.step_time).value(), 3 * memory.value() / 20e9, 1e-9);
  EXPECT_EQ(tight.notes.size(), 1u);
  // Segments that grow in place leave no gaps.
  c.job.software = 2024.5;
  EXPECT_DOUBLE_EQ(c.priced().step_time.value(), roomy.step_time.value());
  c.job.software = 2023;
  // Too small for the live tensors: it does not run, and no time is added.
  memory = roomy.memory.total() - gaps * 1.5;
  EXPECT_FALSE(c.priced().fits);
  EXPECT_DOUBLE_EQ(c.priced().step_time.value(), roomy.step_time.value());
}

// All parts are those of the stage that sets the pace: where another one takes over, whose update
// is longer, the step jumps (docs/models/forecast.md, known error).
bool never_slower(const Forecast& before, const Forecast& after) {
  return before.pipeline.pace != after.pipeline.pace ||
         not_above(after.step_time.value(), before.step_time.value());
}

RC_GTEST_PROP(Forecast, MoreBandwidthIsNeverSlower, ()) {
  Case c = random_case();
  const Forecast before = c.priced();
  for (Level& level : c.cluster.levels) {
    level.bandwidth *= 2;
    level.port_bandwidth *= 2;
  }
  // Where hosts pace micro-batches of a pipeline, they take what calls leave: a slot is as long as
  // before, and what is forward in it and what backward shifts. The bubble moves by some millionths
  // of a step.
  const Forecast after = c.priced();
  const bool hosts_pace = c.layout.pp > 1 && after.parts.other > before.parts.other;
  const double slack = hosts_pace ? 1.0001 : 1;
  RC_ASSERT(before.pipeline.pace != after.pipeline.pace ||
            not_above(after.step_time.value(), slack * before.step_time.value()));
}

RC_GTEST_PROP(Forecast, LowerLatencyIsNeverSlower, ()) {
  Case c = random_case();
  const Forecast before = c.priced();
  for (Level& level : c.cluster.levels) level.latency *= 0.5;
  RC_ASSERT(never_slower(before, c.priced()));
}

// The time in which the host issues and checks is a habit, not a rate of the machine: a
// recomputation that it paces hides less than it could. And the bubble of schedules that fill it
// falls with the weight gradient's share of the work [FORECAST-2]: where communication sets the
// pace, faster kernels lengthen it by more than they save.
Case without_pace_of_hosts() {
  Case c = random_case([](Case& made) {
    if (is_placed(made.layout.schedule)) {
      made.layout.schedule = Schedule::one_f_one_b;
      made.layout.vpp = 1;
    }
  });
  for (FrameworkConstants& each : c.calibration.frameworks) {
    each.host_launch = each.host_call = each.near_check = each.far_check = Seconds(0);
  }
  return c;
}

RC_GTEST_PROP(Forecast, AHigherPeakIsNeverSlower, ()) {
  Case c = without_pace_of_hosts();
  const Forecast before = c.priced();
  for (FlopsPerSecond& peak : c.cluster.accelerator.peak) peak *= 2;
  RC_ASSERT(never_slower(before, c.priced()));
}

RC_GTEST_PROP(Forecast, MoreMemoryBandwidthIsNeverSlower, ()) {
  Case c = without_pace_of_hosts();
  const Forecast before = c.priced();
  c.cluster.accelerator.memory_bandwidth *= 2;
  RC_ASSERT(never_slower(before, c.priced()));
}

RC_GTEST_PROP(Forecast, DoublingEveryRateHalvesTheTime, ()) {
  Case c = random_case();
  const Forecast slow = c.priced();
  Accelerator& a = c.cluster.accelerator;
  for (FlopsPerSecond& peak : a.peak) peak *= 2;
  a.memory_bandwidth *= 2;
  a.host_bandwidth *= 2;
  a.launch_overhead *= 0.5;
  for (Level& level : c.cluster.levels) {
    level.bandwidth *= 2;
    level.port_bandwidth *= 2;
    level.latency *= 0.5;
  }
  KernelParameters& kernels = c.calibration.kernels;
  kernels.shortest_kernel *= 0.5;
  kernels.matmul_start *= 0.5;
  for (ProductParameters& product : kernels.products) product.loop_step *= 0.5;
  kernels.grouped_start *= 0.5;
  for (NetworkParameters& network : c.calibration.levels) {
    network.base_latency *= 0.5;
    network.ring_step *= 0.5;
    network.ring_step_through *= 0.5;
    network.ring_gap *= 0.5;
    network.tree_fill *= 0.5;
  }
  for (FrameworkConstants& f : c.calibration.frameworks) {
    for (Seconds* time : {&f.host_launch, &f.host_call, &f.grouped_overhead, &f.step_overhead,
                          &f.host_piece, &f.near_check, &f.far_check, &f.transfer_wait}) {
      *time *= 0.5;
    }
    f.reclaim *= 2;
  }
  const Forecast fast = c.priced();
  RC_ASSERT(std::abs(2 * fast.step_time.value() / slow.step_time.value() - 1) < 1e-9);
  for (std::size_t i = 0; i < values(slow.parts).size(); ++i) {
    RC_ASSERT(std::abs(2 * values(fast.parts)[i] - values(slow.parts)[i]) <=
              1e-9 * slow.step_time.value());
  }
}

RC_GTEST_PROP(Forecast, OnOneLevelTheOrderOfTheDimensionsChangesNothing, ()) {
  Case c = random_case();
  c.cluster.levels.resize(1);
  c.cluster.levels[0].size = c.cluster.accelerators;
  c.cluster.levels[0].usable = 0;
  c.layout.ep = c.layout.etp = 1;
  const double before = c.priced().step_time.value();
  const int times = *rc::gen::inRange(1, 24);
  for (int i = 0; i < times; ++i) {
    std::next_permutation(c.layout.order.begin(), c.layout.order.end());
  }
  RC_ASSERT(c.priced().step_time.value() == before);
}

RC_GTEST_PROP(Forecast, MoreMicroBatchesShrinkTheBubblesShare, ()) {
  Case c = random_case();
  const Forecast few = c.priced();
  c.job.global_batch *= 2;
  const Forecast many = c.priced();
  // Blocking transfers outlast the work that they wait for: fewer of them in a group wait longer.
  if (c.job.blocking_transfers) return;
  RC_ASSERT(many.step_time > few.step_time);
  // In a fixed order ranks that differ wait for each other in every micro-batch [FORECAST-18]:
  // there the bubble grows with them.
  if (is_placed(c.layout.schedule)) return;
  // The last group of an interleaved schedule may be smaller, and hide more or less.
  if (c.layout.vpp > 1 && micro_batches(c.job, c.layout) % (2 * c.layout.pp) != 0) return;
  // Ranks that wait for a slower one do so in each micro-batch too, and what comes once a step is a
  // smaller share of more: w m of p m + k is at most a share k of the longer step more. Where the
  // first stage is the slowest no rank waits for it: what rounding leaves is no bubble.
  const auto share = [](const Forecast& of) { return of.parts.bubble / of.step_time; };
  const Seconds once = many.parts.optimizer + many.parts.dp + many.parts.other;
  RC_ASSERT(share(many) <= share(few) * (1 + once / many.step_time) + 1e-12);
}

RC_GTEST_PROP(Forecast, RatesAndUtilisationFollowFromTheTime, ()) {
  Case c = random_case();
  for (const AttentionFlops convention : {AttentionFlops::full, AttentionFlops::causal}) {
    c.convention = convention;
    const Forecast f = c.priced();
    // Frozen weights have no gradient of their own.
    const double model = (c.job.task == Task::lora ? 2 : 3) *
                         static_cast<double>(c.job.global_batch) *
                         forward_flops(c.model, c.job.sequence, convention).value();
    const double ranks = static_cast<double>(c.layout.ranks());
    const double peak = c.cluster.accelerator.peak_of(c.job.recipe->matmul).value();
    RC_ASSERT(std::abs(f.mfu * peak * f.step_time.value() * ranks / model - 1) < 1e-9);
    RC_ASSERT(f.hfu >= f.mfu);
    // Scores that documents leave out are counted, not computed.
    RC_ASSERT(f.hfu < 1 || c.job.document > 0);
    const double tokens = static_cast<double>(c.job.global_batch * c.job.sequence);
    RC_ASSERT(std::abs(f.tokens_per_second * f.step_time.value() / tokens - 1) < 1e-12);
  }
}

// Idle power, what all work draws above it, and the rest for the share of the step that products
// take at the rate that they sustain.
RC_GTEST_PROP(Forecast, EnergyIsThatOfTimeAndOfArithmetic, ()) {  // [FORECAST-6]
  const Case c = random_case();
  const Forecast f = c.priced();
  const Accelerator& a = c.cluster.accelerator;
  const double waiting = c.calibration.power.waiting;
  const double ranks = static_cast<double>(c.layout.ranks());
  const double span = (a.tdp - a.idle_power).value();
  const Recipe& recipe = *c.job.recipe;
  const ProductFormat format = format_of(recipe.matmul, scaling_of(recipe));
  const double rate = a.peak_of(recipe.matmul).value() * c.calibration.kernels.of(format).ceiling *
                      c.calibration.kernels.sustained;
  const Step step = lower(c);
  const double flops = (step.model_flops_full + step.recomputed_flops_full).value();
  const double time = f.step_time.value() * ranks;
  const double wanted = time * (a.idle_power.value() + waiting * span) +
                        (1 - waiting) * span * std::min(time, flops / rate);
  RC_ASSERT(std::abs(f.energy.value() / wanted - 1) < 1e-12);
}

TEST(Forecast, EnergyDoesNotHangOnHowAttentionIsCounted) {  // [FORECAST-6]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  const auto by = [&](AttentionFlops convention) {
    c.convention = convention;
    return c.priced();
  };
  EXPECT_LT(by(AttentionFlops::causal).hfu, by(AttentionFlops::full).hfu);
  EXPECT_EQ(by(AttentionFlops::causal).energy, by(AttentionFlops::full).energy);
}

RC_GTEST_PROP(Forecast, FullRecomputationIsSlowerAndNeedsNoMoreMemory, ()) {
  Case c = random_case();
  // What is computed again need not go to the host and come back.
  c.layout.offload_activations = false;
  // Selective recomputation of experts computes their last product, too.
  c.layout.recompute_early_stop = Choice::off;
  // The host checks calls while the accelerator computes: a longer pass hides more of that.
  c.job.checked_collectives = false;
  // An allocator at its limit costs time that recomputation saves [FORECAST-15].
  for (FrameworkConstants& each : c.calibration.frameworks) each.reclaim = BytesPerSecond(1e30);
  std::array<Forecast, 3> f;
  for (int i = 0; i < 3; ++i) {
    c.layout.recompute = static_cast<Recompute>(i);
    f[static_cast<std::size_t>(i)] = c.priced();
  }
  RC_ASSERT(not_above(f[2].memory.total().value(), f[0].memory.total().value()));
  RC_ASSERT(not_above(f[1].memory.total().value(), f[0].memory.total().value()));
  // Where the slowest of placed ranks changes, their bubble jumps [FORECAST-18].
  if (is_placed(c.layout.schedule)) return;
  RC_ASSERT(f[2].step_time > f[0].step_time || f[2].pipeline.pace != f[0].pipeline.pace);
  RC_ASSERT(never_slower(f[1], f[0]));
  // One in some layers in full may be less than the pieces of all.
  RC_ASSERT(c.layout.recompute_one_in > 1 || never_slower(f[2], f[1]));
}

// Documents of a sixteenth of the sequence have a sixteenth of its scores; nothing else changes.
TEST(Forecast, PackedDocumentsAttendToThemselvesOnly) {
  Case c = case_of("llama-3-70b", "dgx-h100");
  c.job.sequence = 32768;
  c.job.global_batch = 1;
  c.layout.tp = 8;
  ASSERT_TRUE(c.legal());
  const Step whole = lower(c);
  c.job.document = 2048;
  const Step packed = lower(c);
  const auto attention = [](const Step& step) {
    double out = 0;
    for (const Op& op : only<Op>(step.blocks[0].items)) {
      if (std::holds_alternative<AttentionShape>(op.shape)) out += work(op).value();
    }
    return out;
  };
  EXPECT_NEAR(attention(packed) * 16, attention(whole), 1e-2 * attention(whole));
  EXPECT_EQ(packed.held.memory.activations, whole.held.memory.activations);
  // 20,000 of 32,768 tokens are the mean of two documents that lie there, of 16,384 each: no token
  // is left out.
  c.job.document = 20'000;
  EXPECT_NEAR(attention(lower(c)) * 2, attention(whole), 1e-2 * attention(whole));
}

// [FORECAST-10] A step waits for the slowest of its ranks, and each takes a constant longer. The
// mean of the largest of n normal values by Blom's approximation of order statistics (1958), which
// is within 1.5 % from four values on.
RC_GTEST_PROP(Forecast, AStepWaitsForTheSlowestOfItsRanks, ()) {
  Case c = random_case();
  Seconds& overhead =
      c.calibration.frameworks[static_cast<std::size_t>(c.job.framework)].step_overhead;
  c.calibration.shared.straggling = 0;
  overhead = Seconds(0);
  const double ideal = c.priced().step_time.value();
  c.calibration.shared.straggling = 0.01;
  overhead = Seconds(0.5);
  const auto n = static_cast<double>(c.layout.ranks());
  // Where the normal distribution reaches (n - 0.375)/(n + 0.25), by halving.
  double low = 0, high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double reached = 0.5 * std::erfc(-middle / std::sqrt(2.0));
    (reached < (n - 0.375) / (n + 0.25) ? low : high) = middle;
  }
  const double slowest = n == 1 ? 0 : low;
  RC_ASSERT(std::abs(c.priced().step_time.value() / ((ideal + 0.5) * (1 + 0.01 * slowest)) - 1) <
            0.0006);
}

bool same_bytes(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

RC_GTEST_PROP(Forecast, TheSameInputGivesTheSameBytes, ()) {
  const Case c = random_case();
  const Case copy = c;
  const Forecast a = c.priced(), b = copy.priced();
  for (std::size_t i = 0; i < values(a.parts).size(); ++i) {
    RC_ASSERT(same_bytes(values(a.parts)[i], values(b.parts)[i]));
  }
  RC_ASSERT(same_bytes(a.memory.total().value(), b.memory.total().value()));
  RC_ASSERT(same_bytes(a.energy.value(), b.energy.value()));
  RC_ASSERT(a.calls.size() == b.calls.size());
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    RC_ASSERT(a.calls[i].call.op == b.calls[i].call.op);
    RC_ASSERT(same_bytes(a.calls[i].each.value(), b.calls[i].each.value()));
    RC_ASSERT(same_bytes(a.calls[i].exposed.value(), b.calls[i].exposed.value()));
    RC_ASSERT(same_bytes(a.calls[i].call.count, b.calls[i].call.count));
  }
  RC_ASSERT(a.notes == b.notes);
}

// [FORECAST-21] A step waits for its readers, and for no more.
TEST(Forecast, IsNoShorterThanItsSamplesTakeToBeFed) {
  const auto made = make_run({{"model", "resnet-50"},
                              {"cluster", "dgx-a100-80gb"},
                              {"gpus", "8"},
                              {"global-batch", "1024"}});
  ASSERT_TRUE(made.ok());
  headway::Run c = *made;
  const Calibration calibration = *calibration_for(c);
  const Forecast plain = forecast(c, calibration);
  c.job.input_rate = 1024 / (2 * plain.step_time.value());
  const Forecast fed = forecast(c, calibration);
  EXPECT_NEAR(fed.step_time.value(), 2 * plain.step_time.value(), 1e-9 * plain.step_time.value());
  EXPECT_NEAR((fed.parts.other - plain.parts.other).value(), plain.step_time.value(),
              1e-9 * plain.step_time.value());
  c.job.input_rate = 1024 / (0.5 * plain.step_time.value());
  EXPECT_EQ(forecast(c, calibration).step_time, plain.step_time);
}

}  // namespace
}  // namespace headway::testing
