// [FORECAST-1] The longest way through the slots, beside the slots placed in time.
#include "forecast/longest_way.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "forecast/schedule/placement.hpp"

namespace headway {
namespace {

std::int64_t ranks_of(const std::vector<RankClass>& classes) {
  std::int64_t out = 0;
  for (const RankClass& alike : classes) out += alike.ranks;
  return out;
}

double placed(const std::vector<RankClass>& classes, Schedule schedule, std::int64_t chunks,
              std::int64_t micro_batches) {
  SlotTimes times;
  for (const RankClass& alike : classes) {
    times.chunks.insert(times.chunks.end(), static_cast<std::size_t>(alike.ranks * chunks),
                        {alike.forward, alike.backward, Seconds(0)});
  }
  times.send = classes.front().hop;
  Layout layout;
  layout.schedule = schedule;
  layout.pp = ranks_of(classes);
  layout.vpp = chunks;
  return placed_time(pipeline_of(layout, micro_batches), times).value();
}

Seconds some(int least, int most) {
  return Seconds(*rc::gen::inRange(least, most) / 16.0);
}

// Ranks with up to five kinds of neighbours.
std::vector<RankClass> any_classes() {
  std::vector<RankClass> out(static_cast<std::size_t>(*rc::gen::inRange(2, 6)));
  for (RankClass& alike : out) {
    alike = {*rc::gen::inRange<std::int64_t>(1, 5), some(8, 32), some(8, 64), Seconds(0)};
  }
  return out;
}

// Layers on all ranks, the ends with something besides, the last perhaps with fewer of them.
std::vector<RankClass> layers_with_ends() {
  const double layers = *rc::gen::inRange(2, 9);
  const RankClass between{*rc::gen::inRange<std::int64_t>(1, 7), Seconds(layers),
                          Seconds(2 * layers), Seconds(0)};
  RankClass first = between, last = between;
  first.ranks = last.ranks = 1;
  first.forward += some(0, 5);
  first.backward += some(0, 5);
  const Seconds head = some(-16, 24);
  last.forward += head;
  last.backward += 2 * head;
  return {first, between, last};
}

RC_GTEST_PROP(LongestWay, OfOneChunkARankIsWhatTheSlotsComeTo, ()) {
  const std::vector<RankClass> classes = any_classes();
  const auto micro_batches = *rc::gen::inRange<std::int64_t>(1, 40);
  const double way = one_f_one_b_time(classes, 1, micro_batches).value();
  const double slots = placed(classes, Schedule::one_f_one_b, 1, micro_batches);
  RC_ASSERT(way <= slots * (1 + 1e-12));
  RC_ASSERT(way >= slots * (1 - 1e-12));
}

RC_GTEST_PROP(LongestWay, OfAllForwardPassesFirstIsWhatTheSlotsComeTo, ()) {
  const std::vector<RankClass> classes = any_classes();
  const auto micro_batches = *rc::gen::inRange<std::int64_t>(1, 40);
  const double way = gpipe_time(classes, micro_batches).value();
  const double slots = placed(classes, Schedule::gpipe, 1, micro_batches);
  RC_ASSERT(way <= slots * (1 + 1e-12));
  RC_ASSERT(way >= slots * (1 - 1e-12));
}

RC_GTEST_PROP(LongestWay, OfSeveralChunksIsAtMostAHundredthBelowTheSlots, ()) {
  const std::vector<RankClass> classes = layers_with_ends();
  const auto chunks = *rc::gen::inRange<std::int64_t>(2, 5);
  const std::int64_t micro_batches = ranks_of(classes) * *rc::gen::inRange<std::int64_t>(1, 9);
  const double way = one_f_one_b_time(classes, chunks, micro_batches).value();
  const double slots = placed(classes, Schedule::one_f_one_b, chunks, micro_batches);
  RC_TAG(way >= slots * (1 - 1e-9) ? "equal" : "below");
  RC_ASSERT(way <= slots * (1 + 1e-12));
  RC_ASSERT(way >= slots * 0.99);
}

// Transfers of up to a sixth of a chunk's pass, which nobody waits for but who needs them.
RC_GTEST_PROP(LongestWay, OfSeveralChunksWithTransfersIsAtMostTwoHundredthsBelowTheSlots, ()) {
  std::vector<RankClass> classes = layers_with_ends();
  const auto chunks = *rc::gen::inRange<std::int64_t>(2, 5);
  const std::int64_t micro_batches = ranks_of(classes) * *rc::gen::inRange<std::int64_t>(1, 9);
  const Seconds hop = some(0, 6) / static_cast<double>(chunks);
  for (RankClass& alike : classes) alike.hop = hop;
  const double way = one_f_one_b_time(classes, chunks, micro_batches).value();
  const double slots = placed(classes, Schedule::one_f_one_b, chunks, micro_batches);
  RC_ASSERT(way <= slots * (1 + 1e-12));
  RC_ASSERT(way >= slots * 0.98);
}

}  // namespace
}  // namespace headway
