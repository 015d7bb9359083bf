#include "clock.hpp"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

namespace headway::recorder {

bool counter_is_clock = false;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The kernel takes the counter for its clock where it is even and the same on all cores.
void choose_clock() {
  char name[64] = {};
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t got = ::read(file, name, sizeof name - 1);
  ::close(file);
  counter_is_clock = got > 0 && ::strcmp(name, "tsc\n") == 0;
}

// Of several tries the one that nothing came between.
Moment this_moment() {
  Moment best;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = ticks(), ns = now_ns(), after = ticks();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, ns};
  }
  return best;
}

}  // namespace headway::recorder
