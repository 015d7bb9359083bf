// Slots placed in time, against closed forms, published bubble rates and cases worked by hand.
#include "forecast/schedule/placement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "step/schedule/pipeline_for_test.hpp"

namespace headway {
namespace {

// What a rank takes for one micro-batch in all its chunks: forward, gradient of the input, of the
// weights. Of two copies of the model a micro-batch goes through one of its chunks.
struct RankTime {
  double forward = 1, input = 1, weight = 1;
  double total() const { return forward + input + weight; }
};

SlotTimes slot_times(const Pipeline& pipeline, const std::vector<RankTime>& ranks, double send) {
  SlotTimes out;
  const double chunks = static_cast<double>(pipeline.chunks() / pipeline.copies());
  for (const RankTime& rank : ranks) {
    for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
      out.chunks.push_back({Seconds(rank.forward / chunks),
                            Seconds((rank.input + rank.weight) / chunks),
                            Seconds(rank.weight / chunks)});
    }
  }
  out.send = Seconds(send);
  return out;
}

SlotTimes equal_times(const Pipeline& pipeline, const RankTime& rank, double send = 0) {
  return slot_times(pipeline, std::vector<RankTime>(static_cast<std::size_t>(pipeline.ranks), rank),
                    send);
}

double longest_span(const Pipeline& pipeline, const SlotTimes& times) {
  double out = 0;
  for (const RankSpan& span : placed_spans(pipeline, times)) {
    out = std::max(out, (span.end - span.begin).value());
  }
  return out;
}

double any_seconds() {
  return *rc::gen::inRange(1, 1000) / 100.0;
}
RankTime any_time() {
  return {any_seconds(), any_seconds(), any_seconds()};
}

// [FORECAST-1] to [FORECAST-4] of equal ranks without transfers, by the papers' closed forms: the
// idle time of a rank in the longest span (GPipe and 1F1B arXiv 2104.04473 §2.2, breadth-first
// 2211.05953, whatever F, B and W; ZB-H1 2401.10241 §4, W no longer than F or B).
RC_GTEST_PROP(Placement, OfEqualRanksIsIdleAsTheClosedFormsSay, ()) {
  Pipeline pipeline = testing::any_pipeline(
      {Schedule::gpipe, Schedule::one_f_one_b, Schedule::breadth_first, Schedule::zero_bubble});
  pipeline.micro_batches = pipeline.ranks * *rc::gen::inRange<std::int64_t>(1, 40);
  RankTime time = any_time();
  if (pipeline.schedule == Schedule::zero_bubble) {
    time.weight = std::min({time.forward, time.input, time.weight});
  }
  const double p = static_cast<double>(pipeline.ranks);
  const double v = static_cast<double>(pipeline.virtual_stages);
  const double idle = pipeline.schedule == Schedule::zero_bubble
                          ? (p - 1) * (time.forward + time.input - time.weight)
                          : (p - 1) * time.total() / v;
  const double work = static_cast<double>(pipeline.micro_batches) * time.total();
  const double span = longest_span(pipeline, equal_times(pipeline, time));
  RC_ASSERT(std::abs(span - work - idle) < 1e-9 * work);
}

// [FORECAST-2] ZB-H2: (p - 1)(F + B - 2W) where F and B take as long and W no longer than either;
// where nothing is idle the last rank ends (p - 1)F later than the first begins.
RC_GTEST_PROP(Placement, OfZbH2IsIdleForWhatItsWeightGradientsDoNotFill, ()) {
  Pipeline pipeline = testing::any_pipeline({Schedule::zero_bubble_h2});
  pipeline.micro_batches += 2 * pipeline.ranks;
  RankTime time;
  time.forward = time.input = any_seconds();
  time.weight = time.forward * *rc::gen::inRange(1, 101) / 100.0;
  const double p = static_cast<double>(pipeline.ranks);
  const double work = static_cast<double>(pipeline.micro_batches) * time.total();
  const double idle = (p - 1) * 2 * (time.forward - time.weight);
  const SlotTimes times = equal_times(pipeline, time);
  RC_ASSERT(std::abs(longest_span(pipeline, times) - work - idle) < 1e-9 * work);
  if (idle > 0) return;
  RC_ASSERT(std::abs(placed_time(pipeline, times).value() - work - (p - 1) * time.forward) <
            1e-9 * work);
}

// [FORECAST-4] arXiv 2412.19437 table 2: (p/2 - 1)(F&B + B - 3W), B both gradients, F&B a joined
// pair, here as long as the two apart; exact where F takes as long as the input's gradient.
// DualPipeV has twice as many stages as ranks, of half the time each.
RC_GTEST_PROP(Placement, OfDualPipeIsIdleAsItsTableSays, ()) {
  const Pipeline pipeline = testing::any_pipeline({Schedule::dual_pipe, Schedule::dual_pipe_v});
  RankTime time;
  time.forward = time.input = any_seconds();
  time.weight = time.forward * *rc::gen::inRange(1, 101) / 100.0;
  const double pairs = pipeline.schedule == Schedule::dual_pipe
                           ? static_cast<double>(pipeline.ranks) / 2 - 1
                           : static_cast<double>(pipeline.ranks - 1) / 2;
  const double whole = time.input + time.weight;
  const double idle = pairs * (time.forward + 2 * whole - 3 * time.weight);
  const double work = static_cast<double>(pipeline.micro_batches) * time.total();
  RC_ASSERT(std::abs(placed_time(pipeline, equal_times(pipeline, time)).value() - work - idle) <
            1e-9 * work);
}

TEST(Placement, OfDualPipeWithPairsThatOverlapIsShorterByWhatTheyOverlap) {  // [FORECAST-4]
  // p = 8, m = 20, F = B = W = 1; a pair alone 3, 2.5, 2: placed by another program.
  const Pipeline pipeline{Schedule::dual_pipe, 8, 1, 20};
  SlotTimes times = equal_times(pipeline, {});
  for (const auto& [joined, all] : {std::pair(3.0, 66.0), {2.5, 59.0}, {2.0, 52.0}}) {
    times.joined = joined / 3;
    EXPECT_NEAR(placed_time(pipeline, times).value(), all, 1e-9);
  }
}

TEST(Placement, OfChimeraHasPMinusTwoIdleSlotsHoweverManyUnits) {  // arXiv 2107.06925 §3.1
  for (const std::int64_t p : {4, 8, 16}) {
    for (const std::int64_t units : {1, 2, 5}) {
      const Pipeline pipeline{Schedule::chimera, p, 1, p * units};
      const SlotTimes times = equal_times(pipeline, {1, 0.5, 0.5});
      EXPECT_NEAR(placed_time(pipeline, times).value(), static_cast<double>(2 * p * units + p - 2),
                  1e-9);
    }
    // A backward pass of two slots: 16, 36 and 76 of 3p.
    const Pipeline one{Schedule::chimera, p, 1, p};
    EXPECT_NEAR(placed_time(one, equal_times(one, {1, 1, 1})).value(),
                static_cast<double>(5 * p - 4), 1e-9);
  }
}

TEST(Placement, OfUnequalStagesDependsOnWhichOneIsSlow) {  // [FORECAST-1]
  const Pipeline pipeline{Schedule::one_f_one_b, 4, 1, 8};
  const auto takes = [&](const std::vector<RankTime>& ranks, double send) {
    return placed_time(pipeline, slot_times(pipeline, ranks, send)).value();
  };
  const RankTime usual{1, 2, 0}, slow{2, 3, 0};
  // The last stage waits for the way there and the way back of one micro-batch: 8·5 + 3·3. The
  // first has sent four when the first gradient is there, 3 later: 8·5 + 3. One in between is busy
  // from its first to its last pass but for two stages behind it, and the one before: 8·6 + 2 + 3.
  EXPECT_NEAR(takes({usual, usual, usual, slow}, 0), 49, 1e-12);
  EXPECT_NEAR(takes({slow, usual, usual, usual}, 0), 43, 1e-12);
  EXPECT_NEAR(takes({usual, {2, 4, 0}, usual, usual}, 0), 53, 1e-12);
  EXPECT_NEAR(takes({usual, usual, usual, slow}, 0.25), 49 + 6 * 0.25, 1e-12);
}

// [FORECAST-1] A sender that waits for its transfers is busy with them: of two stages the first
// sends one way, the second the other.
TEST(Placement, OfBlockingTransfersHasThemInTheSendersTime) {
  const Pipeline pipeline{Schedule::gpipe, 2, 1, 3};
  SlotTimes times = equal_times(pipeline, {1, 2, 0}, 0.5);
  EXPECT_NEAR(placed_time(pipeline, times).value(), 1 + 0.5 + 3 * 1 + 3 * 2 + 0.5 + 2, 1e-12);
  times.blocking = true;
  EXPECT_NEAR(placed_time(pipeline, times).value(), 3 * 1.5 + 1 + 3 * 2.5 + 2, 1e-12);
}

// arXiv 2401.10241 tables 5 and 6: (C - m(F + B + W))/C, C the longest span, of two models with the
// times measured there (ms).
TEST(Placement, HasTheBubbleRatesThatZeroBubblePublished) {  // [FORECAST-2]
  struct Row {
    std::int64_t m, chunks;
    RankTime time;
    double send, one_f_one_b, interleaved, h1, h2;
  };
  const std::vector<Row> rows = {
      {24, 3, {18.522, 18.086, 9.337}, 0.601, 0.2431, 0.1055, 0.1585, 0.1083},
      {32, 3, {18.513, 18.086, 9.331}, 0.626, 0.1985, 0.0818, 0.1242, 0.0837},
      {64, 3, {18.546, 18.097, 9.321}, 0.762, 0.1240, 0.0443, 0.0674, 0.0444},
      {24, 4, {29.718, 29.444, 19.927}, 0.527, 0.2347, 0.0808, 0.1323, 0.0698},
      {32, 4, {29.802, 29.428, 19.530}, 0.577, 0.1898, 0.0628, 0.1045, 0.0559},
      {64, 4, {29.935, 29.621, 19.388}, 0.535, 0.1091, 0.0320, 0.0554, 0.0294},
  };
  for (const Row& row : rows) {
    const auto rate = [&](Schedule schedule, std::int64_t chunks) {
      const Pipeline pipeline{schedule, 8, chunks, row.m};
      const double span = longest_span(pipeline, equal_times(pipeline, row.time, row.send));
      return 1 - static_cast<double>(row.m) * row.time.total() / span;
    };
    EXPECT_NEAR(rate(Schedule::one_f_one_b, 1), row.one_f_one_b, 5e-5);
    EXPECT_NEAR(rate(Schedule::zero_bubble, 1), row.h1, 5e-5);
    EXPECT_NEAR(rate(Schedule::zero_bubble_h2, 1), row.h2, 5e-5);
    // Theirs has p transfers less.
    EXPECT_NEAR(rate(Schedule::one_f_one_b, row.chunks), row.interleaved, 0.004);
  }
}

// [FORECAST-3] The idle time of equal ranks once the pipeline is filled is the longest of eight
// ways through the slots; where F = B that of each rank from its own first slot on is (p - 1)(F + B
// - 2W)/2, for a chunk is half a stage.
double longest_way(double p, const RankTime& time) {
  const auto [f, b, w] = time;
  return 0.5 *
         std::max({(p - 1) * b, b + (p - 2) * w, f + (p - 2) * w, (2 * p - 3) * f - (p - 2) * b,
                   (2 * p - 2) * f - (p - 1) * b - w, (2 * p - 2) * f - (2 * p - 1) * w,
                   (2 * p - 2) * (b - w), (2 * p - 3) * f + b - (2 * p - 2) * w});
}

RC_GTEST_PROP(Placement, OfZbVOfEqualRanksIsIdleForTheLongestWay, ()) {  // [FORECAST-3]
  Pipeline pipeline = testing::any_pipeline({Schedule::zero_bubble_v});
  pipeline.micro_batches += 2 * pipeline.ranks - 2;
  const RankTime time = any_time();
  const double work = static_cast<double>(pipeline.micro_batches) * time.total();
  const double all = placed_time(pipeline, equal_times(pipeline, time)).value();
  const double idle = longest_way(static_cast<double>(pipeline.ranks), time);
  RC_ASSERT(std::abs(all - work - idle) < 1e-9 * work);
}

// Every chunk of one micro-batch follows another, with a transfer at all but the turn, where a
// weight gradient stands between the backward passes of the last rank's chunks; another is the end.
TEST(Placement, OfOneMicroBatchOfZbVTakesItsWayThroughAllChunks) {  // [FORECAST-3]
  for (const std::int64_t p : {2, 4, 8, 16}) {
    const Pipeline pipeline{Schedule::zero_bubble_v, p, 1, 1};
    const double all = static_cast<double>(p) * 3 + 2 * static_cast<double>(2 * p - 2) * 0.5;
    const double weights = 2 * 0.75 / 2;
    EXPECT_NEAR(placed_time(pipeline, equal_times(pipeline, {1, 2, 0.75}, 0.5)).value(),
                all + weights, 1e-9);
  }
}

// Times of ranks that differ as little or as much as may be, transfers of any length.
SlotTimes any_times(const Pipeline& pipeline) {
  std::vector<RankTime> ranks(static_cast<std::size_t>(pipeline.ranks), any_time());
  if (*rc::gen::arbitrary<bool>()) ranks.front() = any_time();
  if (*rc::gen::arbitrary<bool>()) ranks.back() = any_time();
  if (*rc::gen::arbitrary<bool>()) {
    for (RankTime& rank : ranks) rank = any_time();
  }
  SlotTimes out =
      slot_times(pipeline, ranks, *rc::gen::arbitrary<bool>() ? 0.0 : any_seconds() / 10);
  out.blocking = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) out.joined = *rc::gen::inRange(60, 101) / 100.0;
  return out;
}

// What repeats is left out of the walk, to the same result [FORECAST-18].
RC_GTEST_PROP(Placement, OfWhatRepeatsIsThatOfEverySlot, ()) {
  Pipeline pipeline = testing::any_pipeline();
  pipeline.micro_batches *= *rc::gen::element(1, 2, 16);
  const SlotTimes times = any_times(pipeline);
  const std::vector<RankSpan> spans = placed_spans(pipeline, times);
  std::vector<RankSpan> walked(spans.size(), {Seconds(1e30), Seconds(0)});
  for (const PlacedSlot& slot : placed_slots(pipeline, times)) {
    RankSpan& span = walked[static_cast<std::size_t>(slot.rank)];
    span.begin = std::min(span.begin, slot.begin);
    span.end = std::max(span.end, slot.free);
  }
  for (std::size_t r = 0; r < spans.size(); ++r) {
    const double all = walked[r].end.value();
    RC_ASSERT(std::abs((spans[r].begin - walked[r].begin).value()) <= 1e-9 * all);
    RC_ASSERT(std::abs((spans[r].end - walked[r].end).value()) <= 1e-9 * all);
  }
}

// Interleaved 1F1B all ranks at once is the end of its slots one by one, whatever each chunk takes
// and however many periods are left out [FORECAST-18].
RC_GTEST_PROP(Placement, OfInterleavedChunksThatDifferEndsWithTheLastSlot, ()) {
  Pipeline pipeline = testing::any_pipeline({Schedule::one_f_one_b});
  pipeline.virtual_stages = *rc::gen::inRange<std::int64_t>(2, 7);
  pipeline.micro_batches = pipeline.ranks * *rc::gen::element<std::int64_t>(1, 2, 3, 8, 40);
  const std::int64_t kinds = *rc::gen::inRange<std::int64_t>(1, 4);  // of times
  SlotTimes times;
  for (std::int64_t i = 0; i < pipeline.ranks * pipeline.virtual_stages; ++i) {
    if (i < kinds) {
      const Seconds forward(any_seconds());
      times.chunks.push_back({forward, Seconds(any_seconds()), Seconds(0)});
    } else {
      times.chunks.push_back(times.chunks[*rc::gen::inRange<std::size_t>(0, times.chunks.size())]);
    }
  }
  times.send = Seconds(*rc::gen::arbitrary<bool>() ? 0.0 : any_seconds());
  Seconds last(0);
  for (const PlacedSlot& slot : placed_slots(pipeline, times)) last = std::max(last, slot.end);
  RC_ASSERT(std::abs((placed_time(pipeline, times) - last).value()) <= 1e-11 * last.value());
}

// What a schedule must keep, whatever its times [FORECAST-18].
RC_GTEST_PROP(Placement, RunsEverySlotOnceItsNeedsAreThereAndOneAtATime, ()) {
  const Pipeline pipeline = testing::any_pipeline();
  const SlotTimes times = any_times(pipeline);
  const std::vector<PlacedSlot> slots = placed_slots(pipeline, times);
  using Key =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, int>;  // rank, chunk, micro-batch
  std::map<Key, PlacedSlot> found;
  const auto kind = [](SlotWork work) {
    return work == SlotWork::forward ? 0 : work == SlotWork::weight_gradient ? 2 : 1;
  };
  for (const PlacedSlot& slot : slots) {
    RC_ASSERT(
        found.emplace(Key(slot.rank, slot.chunk, slot.micro_batch, kind(slot.work)), slot).second);
  }
  const auto all = static_cast<std::size_t>(pipeline.ranks * pipeline.chunks() *
                                            pipeline.micro_batches_of_copy());
  const auto count = [&](auto&& of) {
    return static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), of));
  };
  RC_ASSERT(count([](const PlacedSlot& s) { return s.work == SlotWork::forward; }) == all);
  RC_ASSERT(count([&](const PlacedSlot& s) { return kind(s.work) == 1; }) == all);
  for (std::size_t i = 1; i < slots.size(); ++i) {
    const PlacedSlot &before = slots[i - 1], &slot = slots[i];
    if (before.rank != slot.rank) continue;
    const bool together = before.begin == slot.begin && before.end == slot.end;
    RC_ASSERT(together || slot.begin >= before.free);
  }
  for (const PlacedSlot& slot : slots) {
    const std::int64_t stage = pipeline.stage(slot.rank, slot.chunk);
    const std::int64_t copy = pipeline.copies() == 2 ? slot.chunk : 0;
    const auto needs = [&](std::int64_t other, int work) {
      const ChunkOfRank of = holder(pipeline, copy, other);
      const PlacedSlot& needed = found.at(Key(of.rank, of.chunk, slot.micro_batch, work));
      const Seconds there = of.rank == slot.rank ? needed.end : needed.end + times.send;
      RC_ASSERT(slot.begin >= there);
    };
    if (slot.work == SlotWork::forward && stage > 0) needs(stage - 1, 0);
    if (kind(slot.work) == 1) needs(stage, 0);
    if (kind(slot.work) == 1 && stage + 1 < pipeline.stages()) needs(stage + 1, 1);
    if (slot.work == SlotWork::weight_gradient) needs(stage, 1);
  }
}

}  // namespace
}  // namespace headway
