// [FORECAST-18] Many micro-batches repeat what few do. The slots of a pipeline are a system of
// maxima and sums: once every slot of a round, of all ranks, is later by the same than q rounds
// before, for as many rounds as a slot and what it needs lie apart, so is every later round until
// the first rank leaves its steady run; leaving out q of those rounds shortens the step by just
// that.
#include "forecast/schedule/placement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "forecast/schedule/interleaved_time.hpp"
#include "forecast/schedule/walk.hpp"

namespace headway {
namespace {

// A step is longer by `seconds` for `rounds` more.
struct Rate {
  std::int64_t rounds = 1;
  double seconds = 0;
};

// Sums of a few thousand terms differ in their last digits.
bool is_later_by(const std::vector<double>& ends, std::size_t at, std::size_t back, double by) {
  return std::abs(ends[at] - ends[at - back] - by) <= 1e-13 * ends[at];
}

// Whether in rounds [begin, end) every slot of every rank is `rate` behind those before.
bool repeats(const Walk& walk, const Orders& orders, const Rate& rate, std::int64_t begin,
             std::int64_t end) {
  for (const bool all : {false, true}) {  // first one slot of each rank
    for (std::size_t rank = 0; rank < orders.of_rank.size(); ++rank) {
      const std::vector<double>& ends = walk.steady_ends(rank);
      const std::size_t round = orders.round(rank);
      const std::size_t back = static_cast<std::size_t>(rate.rounds) * round;
      const std::size_t last = static_cast<std::size_t>(end) * round;
      const std::size_t first = static_cast<std::size_t>(begin + rate.rounds) * round;
      for (std::size_t i = all ? first : last - 1; i < last; ++i) {
        if (!is_later_by(ends, i, back, rate.seconds)) return false;
      }
    }
  }
  return true;
}

// How the steady runs go on; none where they have not become steady yet.
std::optional<Rate> steady_rate(const Walk& walk, const Orders& orders, std::int64_t rounds) {
  const std::vector<double>& ends = walk.steady_ends(0);
  const std::size_t round = orders.round(0);
  const auto most = static_cast<std::int64_t>(2 * orders.of_rank.size());
  for (Rate rate; rate.rounds <= most; ++rate.rounds) {
    const std::int64_t needed = 2 * orders.reach + 2 * rate.rounds;
    // The last rounds may already wait for ranks that are past theirs.
    for (const std::int64_t end : {rounds, rounds - orders.reach}) {
      if (end < needed) continue;
      const std::size_t at = static_cast<std::size_t>(end) * round - 1;
      rate.seconds = ends[at] - ends[at - static_cast<std::size_t>(rate.rounds) * round];
      if (repeats(walk, orders, rate, end - needed, end)) return rate;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<RankSpan> placed_spans(const Pipeline& pipeline, const SlotTimes& times) {
  const Orders orders(pipeline);
  Walk walk(pipeline, times, orders);
  Seconds more(0);
  std::int64_t left_out = 0;
  for (std::int64_t rounds = 4 * orders.reach + 8; left_out == 0 && rounds < orders.rounds;
       rounds *= 2) {
    walk.run_rounds(rounds);
    const std::optional<Rate> rate = steady_rate(walk, orders, walk.rounds_of_all());
    if (!rate) continue;
    const std::int64_t times_more = (orders.rounds - walk.rounds_of_any()) / rate->rounds;
    left_out = times_more * rate->rounds;
    more = Seconds(rate->seconds * static_cast<double>(times_more));
  }
  walk.run_rest(left_out);
  std::vector<RankSpan> out = walk.spans();
  for (RankSpan& span : out) span.end += more;
  return out;
}

Seconds placed_time(const Pipeline& pipeline, const SlotTimes& times) {
  if (is_interleaved_evenly(pipeline, times)) return interleaved_time(pipeline, times);
  Seconds out(0);
  for (const RankSpan& span : placed_spans(pipeline, times)) out = std::max(out, span.end);
  return out;
}

std::vector<PlacedSlot> placed_slots(const Pipeline& pipeline, const SlotTimes& times) {
  const Orders orders(pipeline);
  std::vector<PlacedSlot> out;
  Walk(pipeline, times, orders, &out).run_rest(0);
  std::stable_sort(out.begin(), out.end(),
                   [](const PlacedSlot& a, const PlacedSlot& b) { return a.rank < b.rank; });
  return out;
}

}  // namespace headway
