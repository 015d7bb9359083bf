#include "step/schedule/order.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "step/schedule/in_flight_for_test.hpp"
#include "step/schedule/pipeline_for_test.hpp"

namespace headway {
namespace {

// F forward, D both gradients, B of the input, W of the weights; chunk.micro-batch; a plus joins a
// pair that runs together.
std::string text(const Pipeline& pipeline, std::int64_t rank) {
  std::map<std::pair<char, int>, int> next;
  std::string out;
  for (const Slot& slot : unrolled(rank_order(pipeline, rank))) {
    const char letter = "FDBW"[static_cast<int>(slot.work)];
    const char kind = letter == 'D' ? 'B' : letter;
    const int micro_batch = next[{kind, slot.chunk}]++;
    if (letter == 'D') ++next[{'W', slot.chunk}];
    if (micro_batch >= pipeline.micro_batches_of_copy()) continue;
    if (!out.empty()) out += slot.joined ? '+' : ' ';
    out += letter + std::to_string(slot.chunk) + "." + std::to_string(micro_batch);
  }
  return out;
}

// [STEP-24] Lists made apart from this code, by the papers' rules.
TEST(Order, IsTheOneOfItsPaper) {
  struct Named {
    Pipeline pipeline;
    std::int64_t rank;
    std::string order;
  };
  const std::vector<Named> cases = {
      {{Schedule::gpipe, 4, 1, 3}, 2, "F0.0 F0.1 F0.2 D0.0 D0.1 D0.2"},
      {{Schedule::one_f_one_b, 4, 1, 5}, 1, "F0.0 F0.1 F0.2 D0.0 F0.3 D0.1 F0.4 D0.2 D0.3 D0.4"},
      {{Schedule::one_f_one_b, 4, 2, 8},
       2,
       "F0.0 F0.1 F0.2 F0.3 F1.0 F1.1 F1.2 D1.0 F1.3 D1.1 F0.4 D1.2 F0.5 D1.3 F0.6 D0.0 F0.7 D0.1 "
       "F1.4 D0.2 F1.5 D0.3 F1.6 D1.4 F1.7 D1.5 D1.6 D1.7 D0.4 D0.5 D0.6 D0.7"},
      {{Schedule::breadth_first, 4, 2, 3},
       0,
       "F0.0 F0.1 F0.2 F1.0 F1.1 F1.2 D1.0 D1.1 D1.2 D0.0 D0.1 D0.2"},
      {{Schedule::zero_bubble, 4, 1, 8},
       1,
       "F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 W0.0 F0.4 B0.2 W0.1 F0.5 B0.3 W0.2 F0.6 B0.4 W0.3 F0.7 B0.5 "
       "W0.4 B0.6 W0.5 B0.7 W0.6 W0.7"},
      {{Schedule::zero_bubble_h2, 4, 1, 8},
       1,
       "F0.0 F0.1 F0.2 F0.3 F0.4 B0.0 F0.5 B0.1 F0.6 B0.2 W0.0 F0.7 B0.3 W0.1 B0.4 W0.2 B0.5 W0.3 "
       "B0.6 W0.4 B0.7 W0.5 W0.6 W0.7"},
      {{Schedule::zero_bubble_v, 2, 1, 4},
       1,
       "F0.0 F1.0 F0.1 F1.1 B1.0 W1.0 F0.2 B0.0 W0.0 F1.2 B1.1 W1.1 F0.3 B0.1 W0.1 F1.3 B1.2 W1.2 "
       "B0.2 B1.3 B0.3 W0.2 W1.3 W0.3"},
      {{Schedule::dual_pipe, 4, 1, 8},
       0,
       "F0.0 F0.1 F0.2 F1.0 B1.0 W1.0 F1.1 F0.3+D1.1 F1.2+D0.0 D1.2 F1.3+D0.1 D1.3 B0.2 W0.2 B0.3 "
       "W0.3"},
      {{Schedule::dual_pipe, 4, 1, 8},
       2,
       "F1.0 F0.0 F1.1 F0.1 F1.2 D0.0 F0.2+D1.0 F1.3+D0.1 F0.3+D1.1 D0.2 D1.2 B0.3 B1.3 W0.3 W1.3"},
      {{Schedule::dual_pipe_v, 2, 1, 4},
       1,
       "F0.0 F1.0 F0.1 F1.1 F0.2 D1.0 F1.2+D0.0 F0.3+D1.1 F1.3+D0.1 D1.2 D0.2 B1.3 B0.3 W1.3 W0.3"},
      {{Schedule::chimera, 4, 1, 4}, 1, "F0.0 F1.0 F0.1 F1.1 D1.0 D0.0 D1.1 D0.1"},
      // Of the next unit the first forward pass comes before the last backward pass.
      {{Schedule::chimera, 4, 1, 8},
       0,
       "F0.0 F0.1 F1.0 D1.0 F1.1 D1.1 D0.0 F0.2 D0.1 F0.3 F1.2 D1.2 F1.3 D1.3 D0.2 D0.3"},
  };
  for (const Named& each : cases) EXPECT_EQ(text(each.pipeline, each.rank), each.order);
}

RC_GTEST_PROP(Order, RunsEveryMicroBatchOnceThroughEveryChunk, ()) {  // [STEP-24]
  const Pipeline pipeline = testing::any_pipeline();
  // Micro-batches that are absent run, too (they take no time).
  const std::int64_t all = pipeline.schedule == Schedule::zero_bubble_v
                               ? std::max(pipeline.micro_batches, 2 * pipeline.ranks - 1)
                               : pipeline.micro_batches_of_copy();
  for (std::int64_t rank = 0; rank < pipeline.ranks; ++rank) {
    std::map<std::uint8_t, std::array<std::int64_t, 3>> run;  // forward, input and weight gradients
    for (const Slot& slot : unrolled(rank_order(pipeline, rank))) {
      auto& [forward, input, weight] = run[slot.chunk];
      if (slot.work == SlotWork::forward) ++forward;
      if (slot.work == SlotWork::backward || slot.work == SlotWork::input_gradient) ++input;
      if (slot.work == SlotWork::backward || slot.work == SlotWork::weight_gradient) ++weight;
      RC_ASSERT(input <= forward);
      RC_ASSERT(weight <= input);
    }
    RC_ASSERT(static_cast<std::int64_t>(run.size()) == pipeline.chunks());
    for (const auto& [chunk, counts] : run) {
      RC_ASSERT(counts == (std::array<std::int64_t, 3>{all, all, all}));
    }
  }
}

RC_GTEST_PROP(Order, HasEachStageOfEachCopyOnceAndItsHolderIsThere, ()) {  // [STEP-24]
  const Pipeline pipeline = testing::any_pipeline();
  for (std::int64_t copy = 0; copy < pipeline.copies(); ++copy) {
    for (std::int64_t stage = 0; stage < pipeline.stages(); ++stage) {
      const ChunkOfRank of = holder(pipeline, copy, stage);
      RC_ASSERT(of.rank >= 0 && of.rank < pipeline.ranks);
      RC_ASSERT(of.chunk >= 0 && of.chunk < pipeline.chunks());
      RC_ASSERT(pipeline.stage(of.rank, of.chunk) == stage);
    }
  }
}

// Of more micro-batches an order differs in its steady run alone.
RC_GTEST_PROP(Order, OfMoreMicroBatchesIsLongerInItsSteadyRunAlone, ()) {  // [STEP-24]
  Pipeline few = testing::any_pipeline();
  if (few.virtual_stages > 1) few.micro_batches *= few.ranks;
  Pipeline many = few;
  // As many as a round has.
  many.micro_batches += few.schedule == Schedule::dual_pipe                           ? 2
                        : few.schedule == Schedule::chimera || few.virtual_stages > 1 ? few.ranks
                                                                                      : 1;
  for (std::int64_t rank = 0; rank < few.ranks; ++rank) {
    const RankOrder a = rank_order(few, rank), b = rank_order(many, rank);
    const auto has_steady = [](const RankOrder& order) {
      return std::any_of(order.runs.begin(), order.runs.end(),
                         [](const SlotRun& run) { return run.steady; });
    };
    if (!has_steady(a)) return;
    RC_ASSERT(a.slots == b.slots);
    RC_ASSERT(a.runs.size() == b.runs.size());
    for (std::size_t i = 0; i < a.runs.size(); ++i) {
      RC_ASSERT(b.runs[i].times - a.runs[i].times == (a.runs[i].steady ? 1 : 0));
    }
  }
}

// [STEP-12] Published: 1F1B p - r (arXiv 2104.04473 §2.2), interleaved p·v + p - 1 chunks on the
// first rank (2205.05198 §4.2.3), GPipe and breadth-first all; until the weight gradient ZB-H1 p
// and ZB-H2 2p - 1 on every rank (2401.10241), ZB-V 2p chunks (2405.15362), DualPipe p + 1
// (2412.19437 table 2) and DualPipeV 2p + 1 chunks, Chimera between p/2 + 1 and p (2107.06925).
RC_GTEST_PROP(InFlight, IsWhatItsPaperSays, ()) {
  Pipeline pipeline = testing::any_pipeline();
  const std::int64_t p = pipeline.ranks, v = pipeline.virtual_stages;
  if (pipeline.copies() == 1) pipeline.micro_batches = p * *rc::gen::inRange<std::int64_t>(2, 9);
  const std::int64_t m = pipeline.micro_batches;
  for (std::int64_t r = 0; r < p; ++r) {
    const auto most = static_cast<std::int64_t>(testing::most_in_flight(
        rank_order(pipeline, r),
        std::vector<double>(static_cast<std::size_t>(pipeline.chunks()), 1)));
    switch (pipeline.schedule) {
      case Schedule::one_f_one_b:
        RC_ASSERT(most == (v == 1 ? p - r : 2 * (p - 1 - r) + (v - 1) * p + 1));
        break;
      case Schedule::gpipe:
      case Schedule::breadth_first:
        RC_ASSERT(most == m * v);
        break;
      case Schedule::zero_bubble:
        RC_ASSERT(most == p);
        break;
      case Schedule::zero_bubble_h2:
        RC_ASSERT(most == 2 * p - 1);
        break;
      case Schedule::zero_bubble_v:
        RC_ASSERT(most == 2 * p);
        break;
      case Schedule::dual_pipe:
        RC_ASSERT(most == p + 1);
        break;
      case Schedule::dual_pipe_v:
        RC_ASSERT(most == 2 * p + 1);
        break;
      case Schedule::chimera:
        RC_ASSERT(most >= p / 2 + 1 && most <= p);
        break;
    }
  }
}

// The same without leaving out what repeats, chunks of unequal size.
RC_GTEST_PROP(InFlight, IsTheMostOfAnyMoment, ()) {  // [STEP-12]
  const Pipeline pipeline = testing::any_pipeline();
  std::vector<double> kept;
  for (std::int64_t c = 0; c < pipeline.chunks(); ++c) kept.push_back(*rc::gen::inRange(1, 10));
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    double now = 0, most = 0;
    const RankOrder order = rank_order(pipeline, r);
    for (const Slot& slot : unrolled(order)) {
      if (slot.work == SlotWork::forward) now += kept[slot.chunk];
      most = std::max(most, now);
      if (slot.work == SlotWork::backward || slot.work == SlotWork::input_gradient) {
        now -= kept[slot.chunk];
      }
    }
    RC_ASSERT(testing::most_in_flight(order, kept, testing::KeptUntil::input_gradient) == most);
    RC_ASSERT(testing::most_in_flight(order, kept) >= most);
  }
}

}  // namespace
}  // namespace headway
