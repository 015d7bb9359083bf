// The events of every rank beside those of the classes of ranks, and beside the times of the ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "simulate/ranks/drawn_run_for_test.hpp"
#include "simulate/timeline/events.hpp"
#include "simulate/timeline/piped_run_for_test.hpp"

namespace headway {
namespace {

using testing::Drawn;

using testing::piped;

std::vector<TimelineTrack> of_every_rank(const Drawn& drawn) {
  return timeline_of(drawn.step(0, {.spans = true}), drawn.work);
}

TEST(TimelineOfEveryRank, IsThatOfItsClassWhereNoneDiffers) {
  for (const std::int64_t vpp : {1, 2}) {
    const testing::Case c = piped(vpp);
    const Drawn drawn(c, {});
    std::map<std::pair<std::int64_t, std::string>, const TimelineTrack*> of_stage;
    const std::vector<TimelineTrack> stages = timeline_of(drawn.alike);
    for (const TimelineTrack& track : stages) of_stage[{track.rank, track.name}] = &track;
    const std::vector<TimelineTrack> ranks = of_every_rank(drawn);
    EXPECT_EQ(ranks.size(), 4 * stages.size());  // ranks of a stage: dp x tp
    for (const TimelineTrack& track : ranks) {
      const std::int64_t stage = track.rank / 4;  // pipelines outside
      const auto like = of_stage.find({stage, track.name});
      ASSERT_NE(like, of_stage.end()) << track.name;
      const auto& expected = like->second->events;
      ASSERT_EQ(track.events.size(), expected.size()) << track.name;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (track.name == "slots") {
          EXPECT_EQ(track.events[i].name, expected[i].name);
        }
        EXPECT_LE(std::abs(track.events[i].begin - expected[i].begin), 2) << track.name << " " << i;
        EXPECT_LE(std::abs(track.events[i].end - expected[i].end), 2) << track.name << " " << i;
      }
    }
  }
}

TEST(TimelineOfEveryRank, HasArrowsThatBeginAndEndOnceAndGoForwardInTime) {
  Perturbations differ;
  differ.slow_ranks = {5};
  differ.slow_factor = 1.3;
  differ.slot_noise = 0.02;
  const Drawn drawn(piped(2), differ);
  std::map<std::uint64_t, std::int64_t> sent, received;
  for (const TimelineTrack& track : of_every_rank(drawn)) {
    for (const TimelineEvent& event : track.events) {
      for (const std::uint64_t arrow : event.sends)
        EXPECT_TRUE(sent.emplace(arrow, event.end).second);
      if (event.receives == 0) continue;
      EXPECT_TRUE(received.emplace(event.receives, event.begin).second);
    }
  }
  // Both ways between 8 stages of the model, 16 micro-batches of each of 2 replicas, by 2 ranks.
  EXPECT_EQ(sent.size(), 2U * 7 * 16 * 2 * 2);
  ASSERT_EQ(sent.size(), received.size());
  for (const auto& [arrow, end] : sent) EXPECT_GE(received.at(arrow), end);
}

TEST(TimelineOfEveryRank, EndsWithEachRankAndIsCountedBeforeItIsMade) {
  Perturbations differ;
  differ.step_noise = 0.05;
  differ.pause = Seconds(0.01);
  differ.pause_every = 5;
  const Drawn drawn(piped(1), differ);
  const RankedStep step = drawn.step(3, {.spans = true});
  std::map<std::int64_t, std::int64_t> ends;
  std::int64_t events = 0;
  bool paused = false;
  for (const TimelineTrack& track : timeline_of(step, drawn.work)) {
    std::int64_t free = 0;
    for (const TimelineEvent& event : track.events) {
      EXPECT_GE(event.begin, free);
      free = event.end;
      ++events;
      paused |= event.name == "pause";
    }
    ends[track.rank] = std::max(ends[track.rank], free);
  }
  EXPECT_TRUE(paused);
  ASSERT_EQ(ends.size(), step.ranks.size());
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    EXPECT_NEAR(static_cast<double>(ends[static_cast<std::int64_t>(r)]),
                step.ranks[r].end.value() * 1e9, 2);
  }
  EXPECT_GE(count_events(step), events);
  EXPECT_GE(events, count_slots(drawn.work));
}

}  // namespace
}  // namespace headway
