// Recordings of runs with one known fault each: every rank placed in time call by call.
#include "study/advise/advise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/source_dir_for_test.hpp"
#include "cost/calibration/calibration.hpp"
#include "study/advise/made_recording_for_test.hpp"
#include "study/advise/parts.hpp"
#include "study/reconcile/synthetic_recording_for_test.hpp"

namespace headway {
namespace {

using testing::asked;
using testing::end_of;
using testing::Faults;
using testing::recording_of_run;
using testing::two_nodes;

// What a step says of its setup, taken as it stands.
OwnSetup as_measured(const Setup& setup, double residual) {
  return {.setup = setup,
          .runs = 1,
          .factor = std::exp(std::clamp(residual, -1.0, 1.0)),
          .interval = 0.5,
          .agree = true,
          .looks = {}};
}

Advised advised(const testing::Case& c, const Recording& recording) {
  auto out = advise(asked(c), recording, as_measured, {.layouts = false});
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.problems().front().message);
  return out.ok() ? std::move(out).value() : Advised();
}

TEST(Advise, NamesNoFaultWhereThereIsNone) {
  const testing::Case c = two_nodes();
  ASSERT_TRUE(c.legal());
  for (const Advice& advice : advised(c, recording_of_run(c, {})).advice) {
    EXPECT_EQ(advice.kind, AdviceKind::setting) << advice.what;
  }
}

// [ADVISE-3] The gain is that of the same ranks without the fault, and never more.
TEST(Advise, NamesTheSlowRankFirstWithWhatTheRunGainsWithoutIt) {
  const testing::Case c = two_nodes();
  const double sound = end_of(recording_of_run(c, {}, 2));
  for (const std::int64_t rank : {std::int64_t{0}, c.layout.ranks() / 3, c.layout.ranks() - 1}) {
    for (const double slow : {1.3, 1.7, 2.5}) {
      SCOPED_TRACE(std::to_string(rank) + " " + std::to_string(slow));
      Faults faults;
      faults.slow_rank = rank;
      faults.slow = slow;
      const Recording recording = recording_of_run(c, faults, 2);
      const Advised out = advised(c, recording);
      ASSERT_FALSE(out.advice.empty());
      const Advice& first = out.advice.front();
      EXPECT_EQ(first.kind, AdviceKind::late_rank);
      EXPECT_EQ(first.ranks, std::vector<std::int64_t>{rank});
      const double truth = 1 - sound / end_of(recording);
      EXPECT_LE(first.gain, truth + 1e-3);
      EXPECT_GE(first.gain, 0.9 * truth);
      EXPECT_LE(first.interval.low, first.gain);
      EXPECT_LE(first.gain, first.interval.high);
    }
  }
}

// [ADVISE-5] With the links as the model has them the step takes what is said.
TEST(Advise, NamesSlowLinksFirst) {
  const testing::Case c = two_nodes();
  Faults faults;
  faults.network = 12;
  const Advised out = advised(c, recording_of_run(c, faults));
  ASSERT_FALSE(out.advice.empty());
  EXPECT_EQ(out.advice.front().kind, AdviceKind::slow_link) << out.advice.front().what;
  EXPECT_NEAR(out.step_time * (1 - out.advice.front().gain) / out.advice.front().step_time, 1,
              1e-9);
  ASSERT_EQ(out.links.size(), 2u);
  EXPECT_NEAR(out.links.back().slower.value(), faults.network, 0.01 * faults.network);
}

// [ADVISE-4]
TEST(Advise, NamesGradientsThatNothingHidesFirst) {
  const testing::Case c = two_nodes();
  Faults faults;
  faults.exposed = true;
  const Advised out = advised(c, recording_of_run(c, faults));
  ASSERT_FALSE(out.advice.empty());
  EXPECT_EQ(out.advice.front().kind, AdviceKind::exposed) << out.advice.front().what;
  EXPECT_EQ(out.advice.front().flags, std::vector<std::string>{"--overlap-gradients on"});
}

TEST(Advise, NamesRanksInABadOrderFirst) {
  const testing::Case said = two_nodes();
  testing::Case real = said;
  const FieldRow& order = *field_row("order");
  for (const std::string_view name : order.field.form.names) {
    if (!name.starts_with("dp")) continue;
    set_number(real, order, *number_of(order.field.form, name));
    break;
  }
  ASSERT_TRUE(real.legal());
  ASSERT_NE(number_of(real, order), number_of(said, order));
  const Advised out = advised(said, recording_of_run(real, {}));
  ASSERT_FALSE(out.advice.empty());
  EXPECT_EQ(out.advice.front().kind, AdviceKind::order) << out.advice.front().what;
}

TEST(Advise, NamesSmallBucketsFirst) {
  testing::Case said = testing::case_of(source_dir() + "/examples/small-llama.toml", "dgx-h100");
  said.job.framework = framework_from("fsdp").value();
  said.job.sequence = 512;
  said.job.global_batch = 16;
  said.layout.dp = 16;
  said.layout.zero = 0;
  testing::Case real = said;
  set_number(real, *field_row("bucket-size"), 1024.0 * 1024);
  ASSERT_TRUE(said.legal());
  ASSERT_TRUE(real.legal());
  const Advised out = advised(said, recording_of_run(real, {}, 2));
  ASSERT_FALSE(out.advice.empty());
  EXPECT_EQ(out.advice.front().kind, AdviceKind::buckets) << out.advice.front().what;
}

TEST(Advise, RefusesATraceOfAnotherRunWithTheReason) {
  const testing::Case c = two_nodes();
  const auto refusal = [&](std::int64_t tp, std::int64_t dp) {
    testing::Case other = c;
    other.layout.tp = tp;
    other.layout.dp = dp;
    const auto out =
        advise(asked(other), recording_of_run(c, {}, 1), as_measured, {.layouts = false});
    return out.ok() ? std::string() : out.problems().front().message;
  };
  EXPECT_EQ(refusal(2, 8), "");
  EXPECT_NE(refusal(4, 4).find("is of another run: its group"), std::string::npos);
  // [ADVISE-6] In another order its groups are the run's, but not what they send.
  EXPECT_NE(refusal(8, 2).find("is of another run:"), std::string::npos) << refusal(8, 2);
  Recording nothing;
  nothing.format = "made";
  EXPECT_FALSE(advise(asked(c), nothing, as_measured).ok());
}

// Two marks that are said to be four steps are twice as many of half the time.
TEST(Advise, TakesTheStepsThatItIsTold) {
  const testing::Case c = two_nodes();
  const Recording recording = recording_of_run(c, {}, 2);
  const auto told = advise(asked(c), recording, as_measured, {.steps = 4, .layouts = false});
  const auto marked = advise(asked(c), recording, as_measured, {.layouts = false});
  ASSERT_TRUE(told.ok() && marked.ok() && told->measured && marked->measured);
  EXPECT_NEAR(*told->measured / *marked->measured, 0.5, 1e-9);
  // Each part takes half as long, too: by the trace, not by the step.
  const auto trace_of = [](const Advised& advised, Part part, Seconds forecast) {
    return advised.factors[static_cast<std::size_t>(part)] * forecast;
  };
  const auto compute_of = [&](const Advised& advised) {
    const Parts& parts = advised.forecast.parts;
    return trace_of(advised, Part::compute, parts.compute + parts.optimizer);
  };
  EXPECT_NEAR(compute_of(*told) / compute_of(*marked), 0.5, 1e-9);
  EXPECT_NEAR(trace_of(*told, Part::tp, told->forecast.parts.tp) /
                  trace_of(*marked, Part::tp, marked->forecast.parts.tp),
              0.5, 1e-9);
}

// Nothing is marked, and what repeats is a micro-batch: by the counts of its calls four of them are
// a step.
TEST(Advise, TakesMicroBatchesThatRepeatForPartsOfAStep) {
  testing::Case micro = two_nodes();
  micro.layout.tp = 8;
  micro.layout.dp = 1;
  micro.layout.zero = 0;
  micro.job.global_batch = micro.layout.micro_batch;
  Recording recording = recording_of_run(micro, {}, 4);
  recording.steps.clear();
  recording.marked_steps = 0;
  testing::Case said = micro;
  said.job.global_batch *= 4;
  ASSERT_TRUE(micro.legal() && said.legal());
  const Advised out = advised(said, recording);
  EXPECT_EQ(out.reconciliation.steps.evidence, StepEvidence::counts);
  EXPECT_EQ(out.reconciliation.steps.steps, 1);
  ASSERT_TRUE(out.measured);
  EXPECT_NEAR(out.measured->value() / (end_of(recording_of_run(micro, {}, 4)) * 1e-9), 1, 0.01);
}

// [ADVISE-8] What late ranks cost is in no part: parts that the trace does not tell are as the step
// without it.
TEST(Advise, LatenessIsScaledIntoNoPart) {
  const testing::Case c = two_nodes();
  Faults faults;
  faults.slow_rank = 3;
  faults.slow = 1.5;
  const Advised out = advised(c, recording_of_run(c, faults, 2));
  EXPECT_GT(out.late_share, 0.1);
  ASSERT_TRUE(out.measured);
  EXPECT_NEAR(out.factors[static_cast<std::size_t>(Part::bubble)],
              *out.measured * (1 - out.late_share) / out.forecast.step_time, 1e-9);
}

// A level that short calls alone cross may be fitted, too.
TEST(Advise, TellsEveryLevelThatWasFitted) {
  testing::Case c = two_nodes();
  c.layout.dp = 4;  // on one node
  c.job.global_batch = 16;
  ASSERT_TRUE(c.legal());
  const auto all = [](Cluster& cluster, const Recording&, const Alignment&) {
    return std::vector<bool>(cluster.levels.size(), true);
  };
  const auto out =
      advise(asked(c), recording_of_run(c, {}, 1), as_measured, {.network = all, .layouts = false});
  ASSERT_TRUE(out.ok());
  ASSERT_EQ(out->links.size(), c.cluster.levels.size());
  EXPECT_TRUE(out->links.front().slower);
  EXPECT_FALSE(out->links.back().slower);
  EXPECT_TRUE(out->links.back().fitted);
}

// Own runs would say how far the model is off, and the trace's own step says it.
TEST(Advise, RefusesOwnRunsBesideATraceWithSteps) {
  const testing::Case c = two_nodes();
  RequestedRun run = asked(c);
  run.own = std::make_shared<const OwnRuns>();
  const auto out = advise(run, recording_of_run(c, {}, 1), as_measured, {.layouts = false});
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.problems().front().message.find("leave it out"), std::string::npos);
}

// [ADVISE-7] No setting alone of a run that is split badly brings as much as another split, and
// what its flags say is what was forecast.
TEST(Advise, PlansAnotherLayoutOfWhichNoSettingAloneBringsAsMuch) {
  testing::Case c = testing::case_of(source_dir() + "/examples/small-llama.toml", "dgx-h100");
  c.job.sequence = 512;
  c.job.global_batch = 16;
  c.layout.tp = 2;
  c.layout.dp = 2;
  ASSERT_TRUE(c.legal());
  const auto out = advise(asked(c), recording_of_run(c, {}, 1), as_measured, {.most = 100});
  ASSERT_TRUE(out.ok());
  EXPECT_GT(out->layouts, 100u);
  const auto layout =
      std::find_if(out->advice.begin(), out->advice.end(),
                   [](const Advice& advice) { return advice.kind == AdviceKind::layout; });
  ASSERT_NE(layout, out->advice.end());
  EXPECT_GE(layout->flags.size(), 2u);
  EXPECT_TRUE(std::any_of(layout->flags.begin(), layout->flags.end(),
                          [](const std::string& flag) { return flag.starts_with("--tp "); }));
  for (const Advice& advice : out->advice) {
    if (is_fault(advice.kind)) continue;
    EXPECT_LE(advice.gain, layout->gain + 1e-9) << advice.what;
  }
}

// [ADVISE-7] The stages of a run with a bubble hold several pieces each: one field, which no
// setting tries.
TEST(Advise, TellsABestLayoutOfOneOtherFieldAsASetting) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 16;
  c.layout.pp = 2;
  ASSERT_TRUE(c.legal());
  const auto out = advise(asked(c), recording_of_run(c, {}, 1), as_measured, {.most = 100});
  ASSERT_TRUE(out.ok()) << out.problems().front().message;
  const auto advice = std::find_if(out->advice.begin(), out->advice.end(), [](const Advice& found) {
    return found.flags.size() == 1 && found.flags.front().starts_with("--vpp ");
  });
  ASSERT_NE(advice, out->advice.end());
  EXPECT_EQ(advice->kind, AdviceKind::setting);
  EXPECT_TRUE(advice->what.starts_with("planned again, vpp ")) << advice->what;
}

// The best layout has micro-batches of another size alone, which are tried, too.
TEST(Advise, ASettingThatWasTriedIsNotToldAgainAsALayout) {
  testing::Case c = testing::case_of(source_dir() + "/examples/small-llama.toml", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 8;
  c.layout.dp = 2;
  c.layout.zero = 1;
  ASSERT_TRUE(c.legal());
  const auto out = advise(asked(c), recording_of_run(c, {}, 1), as_measured, {.most = 100});
  ASSERT_TRUE(out.ok()) << out.problems().front().message;
  EXPECT_EQ(std::count_if(out->advice.begin(), out->advice.end(),
                          [](const Advice& found) {
                            return found.flags.front().starts_with("--micro-batch ");
                          }),
            1);
  EXPECT_TRUE(std::none_of(out->advice.begin(), out->advice.end(),
                           [](const Advice& found) { return found.kind == AdviceKind::layout; }));
}

// A step cannot lose more than what is not its products at the peak, whatever the trace has of its
// parts.
TEST(Advise, NoGainIsMoreThanTheStepsProductsLeave) {
  Advised as_is;
  as_is.step_time = Seconds(10);
  as_is.factors.fill(4);
  as_is.spread = {0.8, 1.25};
  as_is.forecast.parts.compute = Seconds(8);
  Forecast to;
  to.parts.compute = Seconds(4);
  to.least_time = Seconds(2);
  const Gain gain = gain_of(as_is, to);
  EXPECT_NEAR(gain.share, 0.8, 1e-12);
  EXPECT_NEAR(gain.interval.high, 0.8, 1e-12);
  EXPECT_LE(gain.interval.low, gain.share);
}

// [ADVISE-1] [ADVISE-2] Of any fault the gains are shares of the step, each within its interval,
// what brings most first.
TEST(Advise, GainsStandInOrderWithinTheirIntervals) {
  const testing::Case c = two_nodes();
  std::mt19937 random(1);
  for (int draw = 0; draw < 8; ++draw) {
    Faults faults;
    faults.slow_rank = static_cast<std::int64_t>(random() % c.layout.ranks()) - 1;
    faults.slow = 1 + 0.01 * static_cast<double>(random() % 100);
    faults.network = 1 + 0.1 * static_cast<double>(random() % 100);
    faults.exposed = random() % 2 == 0;
    SCOPED_TRACE(draw);
    const Advised out = advised(c, recording_of_run(c, faults, 2));
    double last = 1;
    bool set = false;  // faults stand before settings
    EXPECT_LE(out.advice.size(), kMostAdvice);
    for (const Advice& advice : out.advice) {
      const bool setting = !is_fault(advice.kind);
      EXPECT_TRUE(setting || !set);
      EXPECT_LE(advice.gain, setting && !set ? 1 : last);
      set = setting;
      EXPECT_GE(advice.gain, kLeastGain);
      EXPECT_LE(advice.interval.low, advice.gain);
      EXPECT_LE(advice.gain, advice.interval.high);
      EXPECT_FALSE(advice.says.empty());
      EXPECT_TRUE(!advice.flags.empty() || !advice.remedy.empty());
      EXPECT_NEAR(advice.step_time / out.step_time, 1 - advice.gain, 1e-9);
      last = advice.gain;
    }
  }
}

}  // namespace
}  // namespace headway
