#include "forecast/zero_bubble_v.hpp"

#include <algorithm>
#include <array>

namespace headway {
namespace {

enum class Work : std::uint8_t { forward, backward, weight };  // backward: of the input alone

struct Slot {
  Work work;
  std::uint8_t chunk;  // 0: on the way down the ranks, 1: on the way back up
};

// What a rank runs, in order: rules of arXiv 2405.15362 §4 as PyTorch's ScheduleZBVZeroBubble has
// them. Micro-batches of a kind of slot come one after another.
class Order {
 public:
  Order(std::int64_t ranks, std::int64_t rank, std::int64_t micro_batches) {
    slots_.reserve(static_cast<std::size_t>(6 * micro_batches));
    const std::int64_t behind = ranks - rank;
    for (std::int64_t i = 0; i < 2 * behind - 1; ++i) add(Work::forward, 0);
    for (std::int64_t i = 0; i < rank; ++i) add(Work::forward, 1), add(Work::forward, 0);
    for (std::int64_t i = 0; i < behind; ++i) add(Work::forward, 1), add_whole_backward(1);
    while (count(Work::forward, 1) < micro_batches) {
      if (count(Work::forward, 0) < micro_batches) add(Work::forward, 0);
      add_whole_backward(0);
      add(Work::forward, 1);
      add_whole_backward(1);
    }
    for (std::int64_t i = 0; i < rank; ++i) add(Work::backward, 0), add(Work::backward, 1);
    for (std::int64_t i = 0; i < behind; ++i) add_whole_backward(0);
    for (const int chunk : {1, 0}) {
      while (count(Work::weight, chunk) < micro_batches) add(Work::weight, chunk);
    }
  }
  const std::vector<Slot>& slots() const { return slots_; }

 private:
  std::int64_t& count(Work work, int chunk) {
    return counts_[static_cast<std::size_t>(work)][static_cast<std::size_t>(chunk)];
  }
  void add(Work work, int chunk) {
    slots_.push_back({work, static_cast<std::uint8_t>(chunk)});
    ++count(work, chunk);
  }
  void add_whole_backward(int chunk) {
    add(Work::backward, chunk);
    add(Work::weight, chunk);
  }

  std::vector<Slot> slots_;
  std::array<std::array<std::int64_t, 2>, 3> counts_{};
};

// Runs each rank's slots in order, each as soon as what it needs is there.
class Placement {
 public:
  Placement(const std::vector<StageTime>& ranks, std::int64_t micro_batches, Seconds send)
      : times_(ranks),
        count_(static_cast<std::int64_t>(ranks.size())),
        micro_batches_(micro_batches),
        send_(send),
        forward_done_(static_cast<std::size_t>(2 * count_ * micro_batches), kNotYet),
        backward_done_(forward_done_) {}

  Seconds run() {
    // Fewer micro-batches than fill the pipeline run in the order of as many as do, without those
    // that are absent.
    const std::int64_t filling = std::max(micro_batches_, 2 * count_ - 1);
    for (std::int64_t r = 0; r < count_; ++r) ranks_.push_back({Order(count_, r, filling)});
    for (bool moved = true; moved;) {
      moved = false;
      for (std::int64_t r = 0; r < count_; ++r) {
        while (step(r)) moved = true;
      }
    }
    Seconds last(0);
    for (const Rank& rank : ranks_) last = std::max(last, rank.free);
    return last;
  }

 private:
  static constexpr Seconds kNotYet{-1};
  struct Rank {
    Order order;
    std::size_t next = 0;
    std::array<std::array<std::int64_t, 2>, 3> at{};  // micro-batch by kind of slot
    Seconds free{};
  };

  // Places the rank's next slot; false where it has none, or not yet what it needs.
  bool step(std::int64_t r) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    if (rank.next == rank.order.slots().size()) return false;
    const Slot slot = rank.order.slots()[rank.next];
    std::int64_t& micro_batch = rank.at[static_cast<std::size_t>(slot.work)][slot.chunk];
    if (micro_batch < micro_batches_) {
      const std::int64_t stage = slot.chunk == 0 ? r : 2 * count_ - 1 - r;
      const Seconds ready = needs(slot.work, stage, micro_batch);
      if (ready == kNotYet) return false;
      const StageTime& time = times_[static_cast<std::size_t>(r)];
      rank.free = std::max(rank.free, ready) + 0.5 * seconds(time, slot.work);
      if (slot.work == Work::forward) forward_done_[place(stage, micro_batch)] = rank.free;
      if (slot.work == Work::backward) backward_done_[place(stage, micro_batch)] = rank.free;
    }
    ++micro_batch;
    ++rank.next;
    return true;
  }

  static Seconds seconds(const StageTime& time, Work work) {
    if (work == Work::forward) return time.forward;
    return work == Work::weight ? time.weight_gradient : time.backward - time.weight_gradient;
  }

  // When what a slot needs has arrived; kNotYet while that has not run.
  Seconds needs(Work work, std::int64_t stage, std::int64_t micro_batch) const {
    if (work == Work::weight) return Seconds(0);  // its backward pass stands before it
    if (work == Work::forward) {
      return stage == 0 ? Seconds(0) : arrival(forward_done_, stage - 1, stage, micro_batch);
    }
    if (stage == 2 * count_ - 1) return forward_done_[place(stage, micro_batch)];
    return arrival(backward_done_, stage + 1, stage, micro_batch);
  }

  Seconds arrival(const std::vector<Seconds>& done, std::int64_t from, std::int64_t to,
                  std::int64_t micro_batch) const {
    const Seconds end = done[place(from, micro_batch)];
    // The last rank has the chunks on both sides of the turn.
    const bool at_home = from + to == 2 * count_ - 1;
    return end == kNotYet || at_home ? end : end + send_;
  }

  std::size_t place(std::int64_t stage, std::int64_t micro_batch) const {
    return static_cast<std::size_t>(stage * micro_batches_ + micro_batch);
  }

  const std::vector<StageTime>& times_;
  std::int64_t count_, micro_batches_;
  Seconds send_;
  std::vector<Seconds> forward_done_, backward_done_;
  std::vector<Rank> ranks_;
};

}  // namespace

Seconds zero_bubble_v_time(const std::vector<StageTime>& ranks, std::int64_t micro_batches,
                           Seconds send) {
  const auto placed = [&](std::int64_t m) { return Placement(ranks, m, send).run(); };
  // From here on each micro-batch more takes as long as the one before; within 1 % where ranks
  // differ much.
  constexpr std::int64_t kMostPlaced = 8192;  // micro-batches times ranks
  const auto count = static_cast<std::int64_t>(ranks.size());
  const std::int64_t steady = std::max(8 * count, kMostPlaced / count);
  if (micro_batches <= steady) return placed(micro_batches);
  const Seconds all = placed(steady);
  return all + static_cast<double>(micro_batches - steady) * (all - placed(steady - 1));
}

}  // namespace headway
