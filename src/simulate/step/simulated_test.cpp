// The simulated step beside the forecast's closed forms, over random runs.
#include "simulate/step/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "forecast/random_run_for_test.hpp"
#include "method/methods.hpp"
#include "simulate/step/chunks.hpp"

namespace headway {
namespace {

struct Both {
  testing::Case run;
  Step step;
  Forecast forecast;
  SimulatedStep simulated;
  double differs() const { return simulated.step_time / forecast.step_time - 1; }
};

// Whether no computation hides a call, but transfers between stages.
bool hides_nothing(const Step& step) {
  const auto plain = [](const std::vector<Item>& items) {
    for (const Call& call : only<Call>(items)) {
      if (call.hidden_by != HiddenBy::nothing && call.hidden_by != HiddenBy::pipeline) return false;
    }
    return true;
  };
  return std::all_of(step.blocks.begin(), step.blocks.end(),
                     [&](const Block& block) { return plain(block.items); }) &&
         std::all_of(step.stages.begin(), step.stages.end(),
                     [&](const StageClass& stage) { return plain(stage.items); });
}

// The legal ones of so many draws, always the same; `plain`: those in which nothing runs beside
// anything.
std::vector<Both> drawn(std::uint64_t first, std::uint64_t count, bool plain) {
  std::vector<Both> out;
  const auto draw = rc::gen::exec([] { return testing::any_case(); });
  for (std::uint64_t i = first; i < first + count; ++i) {
    testing::Case c = draw(rc::Random(i), 100).value();
    if (plain) {
      c.layout.overlap_gradients = c.layout.overlap_parameters = c.layout.overlap_tensor =
          c.layout.overlap_experts = Choice::off;
      if (i % 2 == 0) c.layout.tp = 1;  // beside gradients of weights run calls of tensor groups
    }
    if (!c.legal() || !simulation_problems(c).empty()) continue;
    Step step = lower(c);
    if (plain && !hides_nothing(step)) continue;
    out.push_back({c, std::move(step), c.priced(), simulate_step(c, c.calibration)});
  }
  return out;
}
const std::vector<Both>& drawn() {
  static const std::vector<Both> all = drawn(0, 400, false);
  return all;
}
const std::vector<Both>& plain() {
  static const std::vector<Both> all = drawn(1000, 1500, true);
  return all;
}

bool in_turn(const Layout& layout) {
  return layout.vpp == 1 && !is_placed(layout.schedule);
}

// [SIM-9] Without a pipeline, and where nothing runs beside anything, both are sums of the same
// terms.
TEST(SimulatedStep, OfOneStageWhereNothingIsHiddenIsTheForecast) {
  int tried = 0;
  for (const Both& each : plain()) {
    if (each.run.layout.pp > 1) continue;
    ++tried;
    EXPECT_LT(std::abs(each.differs()), 1e-9) << testing::flags_of(each.run);
    // Of others, what the host needs longer stands beside the calls that it issues.
    for (const Part part : {Part::compute, Part::optimizer}) {
      EXPECT_NEAR(each.simulated.parts[part].value(), each.forecast.parts[part].value(),
                  1e-9 * each.forecast.step_time.value())
          << testing::flags_of(each.run);
    }
  }
  EXPECT_GE(tried, 10);
}

// [SIM-9] 1F1B and GPipe with a chunk a rank have a closed form for stages of any length: until the
// last rank has run its slots both are equal, before what each stage does once a step.
TEST(SimulatedStep, OfStagesInTurnRunsItsSlotsInTheTimeOfTheClosedForm) {
  int tried = 0;
  for (const Both& each : plain()) {
    if (each.run.layout.pp == 1 || !in_turn(each.run.layout)) continue;
    int sends = 0;  // more calls than one a transfer: each is a part of its slot, of no closed form
    for (const Call& call : only<Call>(each.step.stages.front().items)) {
      sends += call.phase == Phase::pipeline ? 1 : 0;
    }
    if (sends != 1) continue;
    ++tried;
    Seconds slots(0);
    for (const RankTimeline& rank : each.simulated.ranks) {
      for (const StepSpan& span : rank.spans) {
        if (span.program || span.stream == stream_of(Group::pp)) slots = std::max(slots, span.end);
      }
    }
    const PipelineTimes& pipeline = each.forecast.pipeline;
    const StageTime& pace = pipeline.stages[pipeline.pace];
    const auto m = static_cast<double>(each.step.micro_batches);
    const Seconds closed = (m * (pace.total() + pace.transfers) + each.forecast.parts.bubble) /
                           each.run.calibration.own;
    EXPECT_NEAR(slots / closed, 1, 1e-9) << testing::flags_of(each.run);
  }
  EXPECT_GE(tried, 10);
}

// [SIM-9] Elsewhere: how far apart they are, by what the run has. docs/models/simulate.md says why.
TEST(SimulatedStep, IsAsNearToTheForecastAsItsPageSays) {
  struct Group {
    const char* name;
    std::function<bool(const headway::Run&)> has;
    double median, p90;
    std::size_t least = 20;
  };
  const auto placed = [](const headway::Run& r) {
    return r.layout.pp > 1 && r.layout.vpp == 1 && is_placed(r.layout.schedule);
  };
  // Transfers that wait for the host take longer than slots.
  const auto waits = [](const headway::Run& r) { return r.job.blocking_transfers; };
  const std::vector<Group> groups = {
      {"one stage", [](const headway::Run& r) { return r.layout.pp == 1; }, 0.003, 0.07},
      {"in turn", [](const headway::Run& r) { return r.layout.pp > 1 && in_turn(r.layout); }, 0.004,
       0.05},
      {"interleaved", [](const headway::Run& r) { return r.layout.pp > 1 && r.layout.vpp > 1; },
       0.05, 0.45},
      {"placed", [&](const headway::Run& r) { return placed(r) && !waits(r); }, 0.03, 0.1},
      {"placed, hosts in the way", [&](const headway::Run& r) { return placed(r) && waits(r); },
       0.1, 0.8, 10}};
  for (const Group& group : groups) {
    std::vector<double> errors;
    for (const Both& each : drawn()) {
      if (group.has(each.run)) errors.push_back(std::abs(each.differs()));
    }
    std::sort(errors.begin(), errors.end());
    ASSERT_GE(errors.size(), group.least) << group.name;
    const double median = errors[errors.size() / 2], p90 = errors[errors.size() * 9 / 10];
    std::printf("%s: %zu runs, median %.3f %%, p90 %.2f %%, largest %.1f %%\n", group.name,
                errors.size(), 100 * median, 100 * p90, 100 * errors.back());
    EXPECT_LT(median, group.median) << group.name;
    EXPECT_LT(p90, group.p90) << group.name;
  }
}

// [SIM-8] What holds of every timeline.
TEST(SimulatedStep, RunsEverySlotOnceAndItsPartsAreAllOfItsTime) {
  for (const Both& each : drawn()) {
    const SimulatedStep& s = each.simulated;
    const double time = s.step_time.value(), placed = s.placed.value();
    EXPECT_NEAR(s.parts.total().value(), time, 1e-9 * time);
    EXPECT_NEAR(s.critical.total().value(), placed, 1e-9 * placed) << testing::flags_of(each.run);
    for (const RankTimeline& rank : s.ranks) {
      EXPECT_NEAR(rank.parts.total().value(), placed, 1e-9 * placed);
      for (const PartRow& row : kParts) EXPECT_GE(rank.parts[row.part].value(), -1e-9 * placed);
      double free = 0;
      std::map<std::tuple<std::int64_t, std::int64_t, SlotWork>, int> runs;
      for (const StepSpan& span : rank.spans) {
        if (span.beside) continue;
        EXPECT_GE(span.begin.value(), free - 1e-9 * placed);
        free = span.end.value();
        EXPECT_NEAR(span.parts.total().value(), (span.end - span.begin).value(), 1e-9 * placed);
        if (span.program) ++runs[{span.chunk, span.micro_batch, span.work}];
      }
      const Pipeline& pipeline = s.pipeline;
      std::int64_t forwards = 0;
      for (const auto& [slot, count] : runs) {
        EXPECT_EQ(count, 1);
        forwards += std::get<2>(slot) == SlotWork::forward ? 1 : 0;
      }
      EXPECT_EQ(forwards, pipeline.chunks() * pipeline.micro_batches_of_copy());
    }
  }
}

// The blocks of a rank's chunks are those that the step counts for it [STEP-13].
TEST(SimulatedStep, HasTheBlocksOfTheStep) {
  for (const Both& each : drawn()) {
    const std::vector<ChunkBlocks> chunks = blocks_of_chunks(each.run, each.step);
    for (const StageClass& stage : each.step.stages) {
      BlockCounts counts{};
      const Pipeline& pipeline = each.simulated.pipeline;
      for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
        BlockCounts of_chunk{};
        for (const std::size_t block :
             chunks[static_cast<std::size_t>(pipeline.stage(stage.first, c))]) {
          ++counts[block];
          ++of_chunk[block];
        }
        if (stage.chunks.empty()) continue;
        EXPECT_EQ(of_chunk, stage.chunks[static_cast<std::size_t>(c)])
            << testing::flags_of(each.run);
      }
      EXPECT_EQ(counts, stage.counts) << testing::flags_of(each.run);
    }
  }
}

// Stages that wait for nobody: the slowest sets the pace, as [METHOD-2] has it; forward passes
// alone fill a pipeline once.
TEST(SimulatedStep, PlacesStagesThatNothingComesBackTo) {
  for (const char* method :
       {"local-updates", "local-updates:blocks=4", "overlapping-updates", "evolution"}) {
    testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
    c.layout.dp = 2;
    c.layout.pp = 4;
    c.job.sequence = 4096;
    c.job.global_batch = 32;
    c.job.method = method_from(method, FieldName("method")).value();
    follow(c.job.method, c.layout);
    ASSERT_TRUE(c.legal()) << method;
    ASSERT_TRUE(simulation_problems(c).empty()) << method;
    const SimulatedStep simulated = simulate_step(c, c.calibration);
    EXPECT_NEAR(simulated.step_time / c.priced().step_time, 1, 0.02) << method;
    const std::vector<ChunkBlocks> chunks = blocks_of_chunks(c, lower(c));
    for (const StageClass& stage : lower(c).stages) {
      BlockCounts counts{};
      for (const std::size_t block : chunks[static_cast<std::size_t>(stage.first)]) ++counts[block];
      EXPECT_EQ(counts, stage.counts) << method;
    }
    if (c.layout.losses == Losses::model) continue;
    EXPECT_EQ(simulated.parts.bubble, Seconds(0)) << method;
  }
}

TEST(SimulatedStep, OfWhatItDoesNotPlaceIsRefused) {
  testing::Case c = testing::case_of("llama-2-7b", "dgx-h100");
  c.layout.dp = 4;
  c.layout.pp = 2;
  c.job.sequence = 4096;
  c.job.global_batch = 64;
  EXPECT_TRUE(simulation_problems(c).empty());
  c.layout.split_vocabulary = true;
  c.job.global_batch = 4 * (kMostPlacedPasses / 2 + 1);
  EXPECT_EQ(simulation_problems(c).size(), 2U);
}

TEST(SimulatedStep, IsTheSameTwice) {
  const Both& each = drawn().front();
  const SimulatedStep again = simulate_step(each.run, each.run.calibration);
  EXPECT_EQ(again.step_time, each.simulated.step_time);
  EXPECT_EQ(again.ranks.front().spans.size(), each.simulated.ranks.front().spans.size());
}

}  // namespace
}  // namespace headway
