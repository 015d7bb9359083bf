// What is to be looked at as a level rises, the lowest first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace headway::network {

/// A queue whose front only rises: what lies well above it waits unsorted in buckets 1/256 of an
/// octave wide, so that most is sorted late or, as it moved up meanwhile, never. Equal levels: the
/// least `who` first.
class Levels {
 public:
  struct Entry {
    double level;
    std::uint32_t who;
  };

  void put(double level, std::uint32_t who) {
    if (!started_) return sorted_.push_back({level, who});
    const std::uint32_t at = bucket(level);
    if (at <= current_) {
      sorted_.push_back({level, who});
      std::push_heap(sorted_.begin(), sorted_.end(), later);
    } else {
      buckets_[at].push_back({level, who});
      filled_[at / 64] |= std::uint64_t{1} << (at % 64);
    }
  }

  /// Takes the lowest; false: there is none, and the queue is as new. `stands(entry)`: whether one
  /// out of a bucket is to be sorted; it may put others in.
  template <typename Stands>
  bool take(Entry& lowest, const Stands& stands) {
    if (!started_) start();
    while (sorted_.empty()) {
      if (!next_bucket()) {
        started_ = false;
        return false;
      }
      std::vector<Entry> entries;
      entries.swap(buckets_[current_]);
      for (const Entry& each : entries) {
        if (stands(each)) put(each.level, each.who);
      }
      entries.clear();
      if (buckets_[current_].empty()) buckets_[current_].swap(entries);
    }
    lowest = sorted_.front();
    std::pop_heap(sorted_.begin(), sorted_.end(), later);
    sorted_.pop_back();
    return true;
  }

 private:
  // What was put in before the first is taken, in its places.
  void start() {
    double lowest = std::numeric_limits<double>::infinity();
    for (const Entry& each : sorted_) {
      if (each.level > 0) lowest = std::min(lowest, each.level);
    }
    base_ = std::bit_cast<std::uint64_t>(lowest) >> kShift;
    current_ = 0;
    started_ = true;
    std::vector<Entry> entries;
    entries.swap(sorted_);
    for (const Entry& each : entries) put(each.level, each.who);
    if (sorted_.empty()) {
      entries.clear();
      sorted_.swap(entries);
    }
  }

  static constexpr std::uint32_t kBuckets = 4096;  // 16 octaves; the last holds all above
  static constexpr int kShift = 44;                // of the bits of a level: 8 of its fraction stay

  static bool later(const Entry& a, const Entry& b) {
    return a.level != b.level ? a.level > b.level : a.who > b.who;
  }
  std::uint32_t bucket(double level) const {
    const std::uint64_t at = std::bit_cast<std::uint64_t>(level) >> kShift;
    return at <= base_
               ? 0
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(at - base_, kBuckets - 1));
  }
  bool next_bucket() {
    std::size_t word = current_ / 64;
    std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << (current_ % 64));
    while (bits == 0) {
      if (++word == filled_.size()) return false;
      bits = filled_[word];
    }
    filled_[word] &= ~(bits & (~bits + 1));
    current_ =
        static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
    return true;
  }

  std::vector<Entry> sorted_;  // a heap: what lies no higher than the current bucket
  std::vector<std::vector<Entry>> buckets_ = std::vector<std::vector<Entry>>(kBuckets);
  std::array<std::uint64_t, kBuckets / 64> filled_ = {};
  std::uint64_t base_ = 0;
  std::uint32_t current_ = 0;
  bool started_ = false;
};

}  // namespace headway::network
