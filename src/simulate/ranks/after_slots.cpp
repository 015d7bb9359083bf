#include <algorithm>

#include "simulate/ranks/placing.hpp"

namespace headway {

Seconds LaneCalls::end(Group group, Seconds begin, Seconds work, bool flaps) const {
  const bool crosses = (work_.over_network >> stream_of(group) & 1U) != 0;
  return flaps && crosses ? cells_.outages().through(begin, work) : begin + work;
}

void LaneCalls::run(Group group, std::size_t stage, Seconds usual, Seconds slow, Times& at) const {
  const LaneSets& sets = lanes_of(group);
  sets.meet(at);
  const std::vector<bool> is_slow = sets.any(cells_.slow_links(stage));
  const std::vector<bool> flaps = sets.any(cells_.flapping(stage));
  for (std::size_t l = 0; l < at.size(); ++l) {
    at[l] = end(group, at[l], is_slow[l] ? slow : usual, flaps[l]);
  }
}

void LaneCalls::send(std::size_t from, std::size_t to, Times& at) const {
  const Seconds usual = work_.usual.ranks[from].once.send, slow = work_.slow.ranks[from].once.send;
  for (std::size_t l = 0; l < at.size(); ++l) {
    const bool is_slow = cells_.slow_links(from)[l] || cells_.slow_links(to)[l];
    const bool flaps = cells_.flapping(from)[l] || cells_.flapping(to)[l];
    at[l] = end(Group::pp, at[l], is_slow ? slow : usual, flaps);
  }
}

namespace {

// As in a step of classes: calls across stages begin when the last of them is there.
class AfterLanes {
 public:
  AfterLanes(const RanksWork& work, const Cells& cells, std::vector<Times>& at, bool with_spans,
             RankedStep& out)
      : work_(work),
        cells_(cells),
        calls_(work, cells),
        stages_(work.usual.ranks),
        at_(at),
        with_spans_(with_spans),
        out_(out),
        next_(stages_.size(), 0) {}

  void run() {
    bool runs = true;
    while (runs) {
      runs = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        while (next_[s] < stages_[s].once.after.size() && step(s)) runs = true;
      }
    }
  }

 private:
  bool step(std::size_t s) {
    const AfterSlots& item = stages_[s].once.after[next_[s]];
    if (!item.meets) {
      run_one(s);
      return true;
    }
    const std::size_t at = next_[s];
    std::vector<std::size_t> together;
    for (std::size_t other = 0; other < stages_.size(); ++other) {
      const auto there = same_call(stages_, s, at, other);
      if (!there || next_[other] > *there) continue;  // it has left already, at the same time
      if (next_[other] < *there) return false;
      together.push_back(other);
    }
    Times begin = at_[s];
    for (const std::size_t other : together) {
      for (std::size_t l = 0; l < begin.size(); ++l) begin[l] = std::max(begin[l], at_[other][l]);
    }
    for (const std::size_t other : together) {
      at_[other] = begin;
      run_one(other);
    }
    return true;
  }

  void run_one(std::size_t s) {
    const std::size_t i = next_[s]++;
    const AfterSlots& item = stages_[s].once.after[i];
    Times& at = at_[s];
    Times begin = at;
    if (is_of_calls(item.stream)) {
      const Group group = kGroups[item.stream - std::size_t{2}].group;
      const auto& slow = work_.slow.ranks[s].once.after;
      calls_.lanes_of(group).meet(begin);
      calls_.run(group, s, item.time, i < slow.size() ? slow[i].time : item.time, at);
    } else {
      for (std::size_t l = 0; l < at.size(); ++l) {
        const bool updates = item.stream == kKernels && item.part == Part::optimizer;
        at[l] += item.time * (updates ? cells_.update(s, l) : 1.0);
      }
    }
    for (std::size_t l = 0; l < at.size(); ++l) {
      out_.cells[s * at.size() + l].parts[item.part] += at[l] - begin[l];
    }
    if (with_spans_) {
      add_spans(s, {.stream = item.stream, .name = item.name}, begin, at, out_.spans);
    }
  }

  const RanksWork& work_;
  const Cells& cells_;
  LaneCalls calls_;
  const std::vector<RankWork>& stages_;
  std::vector<Times>& at_;
  bool with_spans_;
  RankedStep& out_;
  std::vector<std::size_t> next_;
};

}  // namespace

void place_after_slots(const RanksWork& work, const Cells& cells, std::vector<Times>& at,
                       bool with_spans, RankedStep& out) {
  AfterLanes(work, cells, at, with_spans, out).run();
}

}  // namespace headway
