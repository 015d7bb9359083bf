// [FORECAST-1] The slots of a pipeline of p ranks with v chunks each are a graph: a slot follows
// the one before it on its rank, and what it needs from a neighbour. A step takes as long as its
// longest way. Rank s runs w forward chunks before its first backward one, w = min(m·v, p - s) for
// v = 1 and min(m·v, 2·(p - s - 1) + (v - 1)·p + 1) for more, then one of each in turn, then the w
// - 1 backward ones that are left. So a way comes down to some rank s and stays there, but that
//   - before the first backward chunk of s it may go on to a rank t behind it and come back: that
//     takes the forward chunks that t runs first, on whatever rank takes longest for them down to
//     t, instead of those of s;
//   - after the last forward chunk of s it may do the same with the backward ones;
//   - with several chunks it may go on from the last rank to the first one's next chunk, after as
//     many micro-batches as there are ranks.
// F, B: a chunk's passes; Max: the longest of the ranks down to there.
//   T = max over s of   sum of F + B of the ranks before s + m·v·(F + B of s) + enter + leave
//   enter = max over t >= s of   sum of F + B behind s to t + (w_t - 1)·MaxF_t   - (w_s - 1)·F_s
//   leave = the same with B for F
// A rank with as many forward chunks first as there are (m·v <= w) is passed once: the sum of F + B
// down to it, and the better of (w - 1)·MaxF + (m·v - 1)·MaxB and (m·v - 1)·MaxF + (w - 1)·MaxB.
// Among alike ranks all of it is linear but where w reaches m·v.
#include "forecast/longest_way.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace headway {
namespace {

constexpr Seconds kNever(-std::numeric_limits<double>::infinity());

// One of a class of ranks at which a way may turn.
struct Turn {
  Seconds to;  // F + B of the ranks down to it, and the hops between them
  Seconds forward, backward;
  Seconds longest_forward, longest_backward;  // of the ranks down to it
  double first = 0;                           // forward chunks before the first backward one: w - 1

  Seconds pair() const { return forward + backward; }
};

// From the last rank on to the first one's next chunk, in one direction.
struct Around {
  Seconds seconds;
  double chunks;  // of that direction, up to there
};

class Turns {
 public:
  Turns(std::span<const RankClass> classes, std::int64_t chunks, std::int64_t micro_batches)
      : chunks_(chunks), slots_(micro_batches * chunks), hop_(classes.back().hop) {
    for (const RankClass& alike : classes) ranks_ += alike.ranks;
    if (chunks > 1) {  // a rank takes a group of micro-batches through a chunk, then the next one
      const std::int64_t groups = std::max<std::int64_t>(1, micro_batches / ranks_);
      const std::int64_t group = (micro_batches + groups - 1) / groups;
      of_last_ = micro_batches == ranks_ ? slots_ : (chunks - 1) * group + 1;
      goes_round_ = micro_batches % ranks_ == 0;
    }
    list_.reserve(4 * classes.size());
    Turn turn;
    turn.to = -2.0 * classes.front().hop;  // there is none to the first rank
    std::int64_t first = 0;
    for (const RankClass& alike : classes) {
      turn.forward = alike.forward;
      turn.backward = alike.backward;
      turn.longest_forward = std::max(turn.longest_forward, alike.forward);
      turn.longest_backward = std::max(turn.longest_backward, alike.backward);
      const Seconds before = turn.to, each = turn.pair() + 2 * alike.hop;
      const std::int64_t last = first + alike.ranks - 1;
      const std::int64_t bend = std::clamp(fewer_from(), first, last);
      std::int64_t done = first - 1;
      for (const std::int64_t at : {first, bend - 1, bend, last}) {
        if (at <= done) continue;
        done = at;
        turn.to = before + static_cast<double>(at - first + 1) * each;
        turn.first = static_cast<double>(forwards_first(at) - 1);
        list_.push_back(turn);
      }
      all_forward_ += static_cast<double>(alike.ranks) * alike.forward;
      all_backward_ += static_cast<double>(alike.ranks) * alike.backward;
      first = last + 1;
    }
  }

  Seconds longest() const {
    const double all = static_cast<double>(slots_), ranks = static_cast<double>(ranks_);
    const Turn& last = list_.back();
    const auto around = [&](Seconds longest, Seconds once) {
      const double before = static_cast<double>(chunks_ - 1) * ranks;
      return Around{before * longest + once + ranks * (hop_ + last.pair()), before + 2 * ranks};
    };
    const Around down = around(last.longest_forward, all_forward_);
    const Around up = around(last.longest_backward, all_backward_);
    Seconds out(0), down_behind = kNever, up_behind = kNever;
    for (std::size_t i = list_.size(); i-- > 0;) {
      const Turn& s = list_[i];
      const Seconds in = s.first * s.longest_forward, back = s.first * s.longest_backward;
      down_behind = std::max(down_behind, s.to + in);
      up_behind = std::max(up_behind, s.to + back);
      out = std::max(out, s.to + std::max(in + (all - 1) * s.longest_backward,
                                          (all - 1) * s.longest_forward + back));
      if (all <= s.first + 1) continue;
      Seconds enter = down_behind - s.to - s.first * s.forward;
      Seconds leave = up_behind - s.to - s.first * s.backward;
      if (goes_round_ && all > down.chunks + s.first + 1) {
        const auto past = [&](const Around& way) { return way.seconds - way.chunks * s.pair(); };
        enter = std::max(enter, past(down) + s.first * s.backward);
        leave = std::max(leave, past(up) + s.first * s.forward);
      }
      out = std::max(out, s.to + (all - 1) * s.pair() + enter + leave);
    }
    return out;
  }

 private:
  // Forward chunks of a rank before its first backward one [STEP-24].
  std::int64_t forwards_first(std::int64_t rank) const {
    const std::int64_t behind = ranks_ - 1 - rank;
    return std::min(slots_, chunks_ == 1 ? behind + 1 : 2 * behind + of_last_);
  }
  // The first rank of which these are not all its chunks.
  std::int64_t fewer_from() const {
    if (chunks_ == 1) return ranks_ - slots_ + 1;
    return ranks_ - (std::max<std::int64_t>(0, slots_ - of_last_) + 1) / 2;
  }

  std::int64_t chunks_, slots_, ranks_ = 0;
  std::int64_t of_last_ = 1;  // forward chunks of the last rank before its first backward one
  bool goes_round_ = false;   // from the last rank to the first one's next chunk
  Seconds hop_;
  std::vector<Turn> list_;  // down the pipeline
  Seconds all_forward_{}, all_backward_{};
};

}  // namespace

Seconds one_f_one_b_time(std::span<const RankClass> ranks, std::int64_t chunks,
                         std::int64_t micro_batches) {
  return Turns(ranks, chunks, micro_batches).longest();
}

Seconds gpipe_time(std::span<const RankClass> ranks, std::int64_t micro_batches) {
  Seconds once = -2.0 * ranks.front().hop, forward(0), backward(0);
  for (const RankClass& alike : ranks) {
    once += static_cast<double>(alike.ranks) * (alike.forward + alike.backward + 2 * alike.hop);
    forward = std::max(forward, alike.forward);
    backward = std::max(backward, alike.backward);
  }
  return once + static_cast<double>(micro_batches - 1) * (forward + backward);
}

}  // namespace headway
