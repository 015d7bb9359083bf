// Internal to src/forecast/schedule: the slots of all ranks one by one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "forecast/schedule/placement.hpp"

namespace headway {

/// The orders of all ranks, and the run in each that repeats.
struct Orders {
  explicit Orders(const Pipeline& pipeline);
  /// Slots in a round of a rank.
  std::size_t round(std::size_t rank) const;

  std::vector<RankOrder> of_rank;
  std::vector<std::size_t> steady;  // the place of the steady run in each rank's runs
  std::int64_t rounds = 0;          // times that every rank runs it; 0: some rank has none
  std::int64_t reach = 0;  // rounds between a slot of a steady run and what it needs, at most
};

class Walk {
 public:
  Walk(const Pipeline& pipeline, const SlotTimes& times, const Orders& orders,
       std::vector<PlacedSlot>* slots = nullptr);
  Walk(const Walk&) = delete;  // chunks point into it
  Walk& operator=(const Walk&) = delete;

  /// Goes on until every rank has run `rounds` of its steady rounds, or waits for one that has.
  void run_rounds(std::int64_t rounds);
  /// Goes on to the end, with `left_out` of the steady rounds left out.
  void run_rest(std::int64_t left_out);

  /// Of the steady rounds those that every rank has run; those that some rank has.
  std::int64_t rounds_of_all() const;
  std::int64_t rounds_of_any() const;
  /// When the slots of a rank's steady rounds so far have ended, in seconds.
  const std::vector<double>& steady_ends(std::size_t rank) const {
    return ranks_[rank].steady_ends;
  }
  std::vector<RankSpan> spans() const;

 private:
  // When what a chunk needs of its micro-batches is there.
  struct Inbox {
    double* when = nullptr;
    std::int64_t count = 0;
  };
  struct Neighbour {
    Inbox* inbox = nullptr;  // null: there is none
    std::size_t rank = 0;
    double hop = 0;
  };
  struct Chunk {
    double forward = 0, backward = 0, input = 0, weight = 0;  // seconds
    bool is_first = false;
    Inbox activations, gradients;
    Neighbour next, previous;
    std::int64_t forwards_run = 0, gradients_run = 0, weights_run = 0;
  };
  struct Rank {
    std::size_t run = 0, slot = 0;
    std::int64_t time = 0;  // of the run
    double free = 0, begin = std::numeric_limits<double>::infinity();
    bool waits = false;
    std::vector<double> steady_ends;
  };

  void make_chunks(const Pipeline& pipeline, const SlotTimes& times);
  void run_all();
  void run(std::size_t rank);
  bool run_slots(std::size_t rank, const Slot* slots, std::size_t count);
  bool is_absent(const Slot& slot, const Chunk& chunk) const;
  void finish(std::size_t rank, const Slot& slot, double begin, double end);
  void hand_on(const Neighbour& to, double end);

  const Orders& orders_;
  std::int64_t micro_batches_;
  std::int64_t limit_ = 0;     // of steady rounds
  std::int64_t left_out_ = 0;  // of them
  bool keeps_ends_ = true;
  bool blocking_;
  double joined_;
  std::size_t chunks_of_rank_;
  std::vector<Chunk> chunks_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> runnable_;
  std::unique_ptr<double[]> arrivals_;
  std::vector<PlacedSlot>* slots_;
};

}  // namespace headway
