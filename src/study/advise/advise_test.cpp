// Recordings of runs with one known fault each: every rank placed in time call by call.
#include "study/advise/advise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/source_dir_for_test.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/random_run_for_test.hpp"
#include "step/program/group_ranks.hpp"
#include "study/reconcile/expected.hpp"

namespace headway {
namespace {

struct Faults {
  std::int64_t slow_rank = -1;
  double slow = 1;       // what its kernels take
  double network = 1;    // what transfers beyond the first level take, over the model
  bool exposed = false;  // gradients after all computation, not under it
};

// What the ranks of a run (of one pipeline stage) record in `steps` steps: between two calls an
// equal piece of the computation; a call begins on each rank as it comes and ends on all together.
// Calls of dp go beside the computation, unless they are exposed.
Recording recording_of_run(const testing::Case& c, const Faults& faults, int steps = 3) {
  const Step step = lower(c);
  const Prices prices{c.job, c.layout, c.cluster, c.calibration, step.spans};
  const std::vector<Lane> lanes = lanes_of(c.layout, step);
  std::vector<ExpectedKind> kinds = expected_kinds(step, prices, lanes).front();
  const auto beside = [&](const ExpectedKind& kind) {
    return row_of(lanes[kind.lane].groups.front()).part == Part::dp && !faults.exposed;
  };
  std::stable_partition(kinds.begin(), kinds.end(), beside);
  double calls = 0;
  for (const ExpectedKind& kind : kinds) calls += kind.count;
  const Forecast f = c.priced();
  // Whole nanoseconds, so that what follows begins when the one before has ended.
  const double piece = std::round((f.parts.compute + f.parts.optimizer).value() * 1e9 / calls);

  Recording out;
  out.format = "made";
  const std::int64_t ranks = c.layout.ranks();
  std::vector<double> now(static_cast<std::size_t>(ranks), 0), wire = now;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    rank_index(out, "rank " + std::to_string(rank), rank);
    out.ranks.back().world_size = ranks;
  }
  std::int64_t sequence = 0;
  for (int s = 0; s < steps; ++s) {
    const std::vector<double> begins = now;
    for (const ExpectedKind& kind : kinds) {
      const Group group = lanes[kind.lane].groups.front();
      const int level = crossed_level(span_of_group(step.spans, group), c.cluster);
      const double transfer =
          std::round(kind.each.value() * 1e9 * (level > 0 ? faults.network : 1));
      for (std::int64_t i = 0; i < std::llround(kind.count); ++i) {
        ++sequence;
        for (std::size_t rank = 0; rank < now.size(); ++rank) {
          const bool slow = static_cast<std::int64_t>(rank) == faults.slow_rank;
          const double takes = std::round(piece * (slow ? faults.slow : 1));
          out.compute.push_back(
              {static_cast<std::uint32_t>(rank), 7, std::llround(now[rank]), std::llround(takes)});
          now[rank] += takes;
        }
        std::vector<bool> done(now.size());
        for (std::size_t first = 0; first < now.size(); ++first) {
          if (done[first]) continue;
          const auto members = group_ranks(c.layout, group, static_cast<std::int64_t>(first),
                                           exchanging_on_node(step));
          const auto id =
              group_index(out, std::to_string(kind.lane) + " " + std::to_string(members.front()),
                          static_cast<std::int64_t>(members.size()));
          out.groups[id].ranks = members;
          double met = 0;
          for (const std::int64_t member : members) {
            const auto at = static_cast<std::size_t>(member);
            met = std::max(met, beside(kind) ? std::max(now[at], wire[at]) : now[at]);
          }
          for (const std::int64_t member : members) {
            const auto at = static_cast<std::size_t>(member);
            const double start = beside(kind) ? std::max(now[at], wire[at]) : now[at];
            RecordedCall call;
            call.op = traced_as(kind.op);
            call.rank = static_cast<std::uint32_t>(member);
            call.group = id;
            call.bytes = kind.bytes;
            call.start_ns = std::llround(start);
            call.duration = Seconds((met + transfer - start) * 1e-9);
            call.time = TimeKind::kernel;
            call.stream = beside(kind) ? 21 : 20;
            call.sequence = sequence;
            out.calls.push_back(call);
            (beside(kind) ? wire : now)[at] = met + transfer;
            done[at] = true;
          }
        }
      }
    }
    for (std::size_t rank = 0; rank < now.size(); ++rank) {
      now[rank] = std::max(now[rank], wire[rank]);
      out.steps.push_back({static_cast<std::uint32_t>(rank), s, std::llround(begins[rank]),
                           std::llround(now[rank] - begins[rank])});
    }
  }
  out.marked_steps = steps;
  return out;
}

// Sixteen H100 in two nodes; nothing left to switch on that brings much.
testing::Case two_nodes() {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 32;
  c.layout.tp = 2;
  c.layout.dp = 8;
  c.layout.zero = 1;
  set_number(c, *field_row("overlap-gradients"),
             *number_of(field_row("overlap-gradients")->field.form, "on"));
  return c;
}

RequestedRun asked(const testing::Case& c) {
  RequestedRun out;
  static_cast<Run&>(out) = c;
  return out;
}

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
  auto out = advise(asked(c), recording, as_measured);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.problems().front().message);
  return out.ok() ? std::move(out).value() : Advised();
}

double end_of(const Recording& recording) {
  double out = 0;
  for (const RecordedStep& step : recording.steps) {
    out = std::max(out, static_cast<double>(step.start_ns + step.duration_ns));
  }
  return out;
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
  EXPECT_NEAR(out.forecast.step_time * (1 - out.advice.front().gain) / out.advice.front().step_time,
              1, 1e-9);
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
    const auto out = advise(asked(other), recording_of_run(c, {}, 1), as_measured);
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
  const auto told = advise(asked(c), recording, as_measured, 4);
  const auto marked = advise(asked(c), recording, as_measured);
  ASSERT_TRUE(told.ok() && marked.ok() && told->measured && marked->measured);
  EXPECT_NEAR(*told->measured / *marked->measured, 0.5, 1e-9);
}

// Own runs would say how far the model is off, and the trace's own step says it.
TEST(Advise, RefusesOwnRunsBesideATraceWithSteps) {
  const testing::Case c = two_nodes();
  RequestedRun run = asked(c);
  run.own = std::make_shared<const OwnRuns>();
  const auto out = advise(run, recording_of_run(c, {}, 1), as_measured);
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.problems().front().message.find("leave it out"), std::string::npos);
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
      const bool setting = advice.kind == AdviceKind::setting;
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
