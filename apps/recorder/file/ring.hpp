// A bounded queue of records from many threads: who writes never waits; where it is full the record
// is lost and counted. After Dmitry Vyukov's bounded queue of many producers.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "trace/recording/record_file.hpp"

namespace headway::recorder {

class Ring {
 public:
  /// 2^`power` records; false where there is no memory for them.
  bool make(unsigned power) {
    // It is there from an earlier file: turns go on where the records did.
    if (slots_ != nullptr) return true;
    mask_ = (std::uint64_t{1} << power) - 1;
    slots_ = static_cast<Slot*>(std::aligned_alloc(64, sizeof(Slot) << power));
    for (std::uint64_t i = 0; slots_ != nullptr && i <= mask_; ++i) {
      new (&slots_[i].turn) std::atomic<std::uint64_t>(i);
    }
    return slots_ != nullptr;
  }

  /// The number of the record in all that came, or kLost.
  std::uint64_t put(const record_file::Record& record) {
    std::uint64_t at = next_in_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at & mask_];
      const std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (!next_in_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        slot.record = record;
        slot.turn.store(at + 1, std::memory_order_release);
        show(at + 1);
        return at;
      }
      if (turn < at) {  // the record of a round ago is still there
        lost_.fetch_add(1, std::memory_order_relaxed);
        show(at);
        return kLost;
      }
      at = next_in_.load(std::memory_order_relaxed);
    }
  }

  /// Takes the oldest; false where there is none. One thread at a time.
  bool take(record_file::Record& record) {
    Slot& slot = slots_[next_out_ & mask_];
    if (slot.turn.load(std::memory_order_acquire) != next_out_ + 1) return false;
    record = slot.record;
    slot.turn.store(next_out_ + mask_ + 1, std::memory_order_release);
    ++next_out_;
    return true;
  }

  /// Where it is told how many records came, those included that were lost here. A word that
  /// outlives the process says what it took with it; of threads that write at once it may miss the
  /// last of each but one.
  void show_in(std::atomic<std::uint64_t>* word) {
    shown_.store(word, std::memory_order_release);
    show(next_in_.load(std::memory_order_relaxed));
  }

  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  std::uint64_t size() const { return mask_ + 1; }

  static constexpr std::uint64_t kLost = ~std::uint64_t{0};

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn;  // whose turn it is: a writer's `at`, or a reader's plus 1
    record_file::Record record;
  };
  void show(std::uint64_t in) {
    shown_.load(std::memory_order_relaxed)
        ->store(in + lost_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  Slot* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  alignas(64) std::atomic<std::uint64_t> next_in_{0};
  alignas(64) std::uint64_t next_out_ = 0;
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> nowhere_{0};
  std::atomic<std::atomic<std::uint64_t>*> shown_{&nowhere_};
};

}  // namespace headway::recorder
