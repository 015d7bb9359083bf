// The time of calls: the counter of the processor, at half the cost of asking the clock, where the
// kernel's own clock is made of it; the writer makes nanoseconds of what it counted.
#pragma once

#include <x86intrin.h>

#include <cstdint>

namespace headway::recorder {

/// Monotonic clock.
std::uint64_t now_ns();

extern bool counter_is_clock;
/// Before the first ticks().
void choose_clock();

/// Ticks since some time: of the counter, or nanoseconds.
inline std::uint64_t ticks() {
  return counter_is_clock ? __rdtsc() : now_ns();
}

/// One moment on both.
struct Moment {
  std::uint64_t ticks = 0, ns = 0;
};
Moment this_moment();

/// Nanoseconds of ticks and back, by two moments: the rate between them, from the later one on.
/// What lies between them is off by no more than the moments are.
class Ticks {
 public:
  Ticks(Moment first, Moment last) : last_(last) {
    if (last.ticks <= first.ticks || last.ns <= first.ns) return;
    rate_ = static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
  }
  std::uint64_t ns_at(std::uint64_t ticks) const {
    const auto apart = static_cast<double>(static_cast<std::int64_t>(ticks - last_.ticks));
    return last_.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(apart * rate_));
  }
  /// At least 1 of more than none, for 0 stands for what is not known.
  std::uint64_t ns_of(std::uint64_t ticks) const {
    const auto ns = static_cast<std::uint64_t>(static_cast<double>(ticks) * rate_);
    return ns == 0 && ticks > 0 ? 1 : ns;
  }
  std::uint64_t ticks_at(std::uint64_t ns) const {
    const auto apart = static_cast<double>(static_cast<std::int64_t>(ns - last_.ns));
    return last_.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(apart / rate_));
  }
  /// At least 1.
  std::uint64_t ticks_of(double ns) const {
    const double ticks = ns / rate_;
    return ticks >= 1 ? static_cast<std::uint64_t>(ticks) : 1;
  }

 private:
  Moment last_;
  double rate_ = 1;  // ns a tick
};

}  // namespace headway::recorder
