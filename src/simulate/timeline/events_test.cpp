// What the files of a timeline hold, read back by other means than they are written.
#include "simulate/timeline/events.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "simulate/timeline/piped_run_for_test.hpp"
#include "simulate/timeline/protobuf_for_test.hpp"

namespace headway {
namespace {

using namespace testing::protobuf;

using testing::piped;

SimulatedStep simulated(std::int64_t vpp) {
  const testing::Case c = piped(vpp);
  return simulate_step(c, c.calibration);
}
std::vector<TimelineCounter> counters(std::int64_t vpp) {
  const testing::Case c = piped(vpp);
  return counters_of(c, c.calibration, simulate_step(c, c.calibration));
}

std::size_t count(const std::vector<TimelineTrack>& tracks) {
  std::size_t out = 0;
  for (const TimelineTrack& track : tracks) out += track.events.size();
  return out;
}

TEST(Timeline, HasATrackOfSlotsForEachRankAndEventsOneAfterAnother) {
  const std::vector<TimelineTrack> tracks = timeline_of(simulated(1));
  std::set<std::int64_t> ranks;
  for (const TimelineTrack& track : tracks) {
    std::int64_t free = 0;
    for (const TimelineEvent& event : track.events) {
      EXPECT_GE(event.begin, free);
      EXPECT_GE(event.end, event.begin);
      free = event.end;
    }
    if (track.name != "slots") continue;
    ranks.insert(track.rank);
    EXPECT_EQ(track.events.size(), 2U * 16);  // forward and backward of each micro-batch
  }
  EXPECT_EQ(ranks.size(), 4U);
}

// A begin and an end for each event, in order and nested on its track; a name before it is used;
// arrows with two ends.
TEST(Timeline, OfPerfettoHasEveryEventAsABeginAndAnEnd) {
  for (const std::int64_t vpp : {1, 2}) {
    const std::vector<TimelineTrack> tracks = timeline_of(simulated(vpp));
    const std::vector<TimelineCounter> values = counters(vpp);
    const std::string bytes = perfetto_bytes(tracks, values);
    std::map<std::uint64_t, int> open;
    std::map<std::uint64_t, std::uint64_t> last;
    std::map<std::uint64_t, std::string> names;
    std::map<std::uint64_t, int> arrows;
    std::map<std::uint64_t, std::vector<std::pair<std::int64_t, double>>> counted;
    std::vector<std::pair<std::string, std::uint64_t>> counter_tracks;
    std::size_t begins = 0, ends = 0, threads = 0, processes = 0;
    for (const Field& packet : fields_of(bytes)) {
      ASSERT_EQ(packet.number, 1U);
      const std::vector<Field> fields = fields_of(packet.bytes);
      ASSERT_NE(find(fields, 10), nullptr);  // every packet names its sequence
      if (const Field* described = find(fields, 60)) {
        const std::vector<Field> of = fields_of(described->bytes);
        open[find(of, 1)->value] = 0;
        if (find(of, 8) != nullptr) {
          const std::uint64_t track = find(of, 1)->value;
          counter_tracks.emplace_back(std::string(find(of, 2)->bytes), track);
        } else {
          ++(find(of, 3) != nullptr ? processes : threads);
        }
      }
      if (const Field* interned = find(fields, 12)) {
        const std::vector<Field> entry = fields_of(fields_of(interned->bytes).front().bytes);
        names[find(entry, 1)->value] = std::string(find(entry, 2)->bytes);
      }
      const Field* event = find(fields, 11);
      if (event == nullptr) continue;
      const std::vector<Field> of = fields_of(event->bytes);
      const std::uint64_t track = find(of, 11)->value, time = find(fields, 8)->value;
      ASSERT_TRUE(open.contains(track));
      if (find(of, 9)->value == 4) {
        counted[track].emplace_back(static_cast<std::int64_t>(time),
                                    std::bit_cast<double>(find(of, 44)->value));
        continue;
      }
      EXPECT_GE(time, last[track]);
      last[track] = time;
      const bool is_begin = find(of, 9)->value == 1;
      open[track] += is_begin ? 1 : -1;
      EXPECT_TRUE(open[track] == 0 || open[track] == 1);
      ++(is_begin ? begins : ends);
      if (!is_begin) continue;
      EXPECT_TRUE(names.contains(find(of, 10)->value));
      for (const Field& field : of) {
        if (field.number == 47) ++arrows[field.value];
        if (field.number == 48) arrows[field.value] += 100;
      }
    }
    EXPECT_EQ(begins, count(tracks));
    EXPECT_EQ(ends, begins);
    EXPECT_EQ(processes, 4U);
    EXPECT_EQ(threads, tracks.size());
    ASSERT_EQ(counter_tracks.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(counter_tracks[i].first, values[i].name);
      EXPECT_EQ(counted[counter_tracks[i].second], values[i].values);
    }
    EXPECT_FALSE(arrows.empty());
    for (const auto& [arrow, both] : arrows) EXPECT_EQ(both, 101) << arrow;
  }
}

TEST(Timeline, OfChromeHasEveryEventWithItsProcessAndThread) {
  const std::vector<TimelineTrack> tracks = timeline_of(simulated(1));
  const std::vector<TimelineCounter> values = counters(1);
  const auto document = nlohmann::json::parse(chrome_json(tracks, values));
  std::map<std::string, std::size_t> kinds;
  for (const auto& event : document["traceEvents"]) {
    const std::string kind = event["ph"];
    ++kinds[kind];
    if (kind == "X") {
      EXPECT_GE(event["dur"].get<double>(), 0);
    }
  }
  EXPECT_EQ(kinds["X"], count(tracks));
  EXPECT_EQ(kinds["s"], kinds["f"]);
  EXPECT_EQ(kinds["M"], 4 + 2 * tracks.size());
  std::size_t all = 0;
  for (const TimelineCounter& counter : values) all += counter.values.size();
  EXPECT_EQ(kinds["C"], all);
}

TEST(Timeline, CountsItsEventsBeforeItIsMade) {
  const SimulatedStep step = simulated(1);
  std::size_t values = 0;
  for (const TimelineCounter& counter : counters(1)) values += counter.values.size() - 1;
  EXPECT_GE(count_events(step), static_cast<std::int64_t>(count(timeline_of(step))));
  EXPECT_GE(count_values(step, piped(1).cluster.levels.size()), static_cast<std::int64_t>(values));
}

}  // namespace
}  // namespace headway
