// Schedules that run weight gradients by themselves, where a rank would be idle: ZB-H1 and ZB-H2 of
// arXiv 2401.10241, ZB-V of 2405.15362 §4 (as PyTorch's ScheduleZBVZeroBubble has it).
#include <algorithm>

#include "step/schedule/families.hpp"

namespace headway {

RankOrder zero_bubble(std::int64_t m, std::int64_t ahead, std::int64_t behind) {
  ahead = std::min(ahead, m);
  behind = std::min(behind, m);
  constexpr Slot kForward{SlotWork::forward}, kInput{SlotWork::input_gradient},
      kWeight{SlotWork::weight_gradient};
  const std::int64_t pairs = m - ahead;  // forward passes that an input gradient follows
  RankOrder out;
  out.add({kForward}, ahead);
  out.add({kForward, kInput}, std::min(behind, pairs));
  out.add({kInput}, behind - pairs);
  out.add({kForward, kInput, kWeight}, pairs - behind, true);
  out.add({kInput, kWeight}, m - std::max(behind, pairs));
  out.add({kWeight}, behind);
  return out;
}

RankOrder zero_bubble_v(std::int64_t p, std::int64_t r, std::int64_t m) {
  constexpr Slot kF0{SlotWork::forward, 0}, kB0{SlotWork::input_gradient, 0},
      kW0{SlotWork::weight_gradient, 0};
  constexpr Slot kF1{SlotWork::forward, 1}, kB1{SlotWork::input_gradient, 1},
      kW1{SlotWork::weight_gradient, 1};
  RankOrder out;
  out.add({kF0}, 2 * (p - r) - 1);
  out.add({kF1, kF0}, r);
  out.add({kF1, kB1, kW1}, p - r);
  out.add({kF0, kB0, kW0, kF1, kB1, kW1}, m - 2 * p + r + 1, true);
  out.add({kB0, kW0, kF1, kB1, kW1}, p - 1 - r);
  out.add({kB0, kB1}, r);
  out.add({kB0, kW0}, p - r);
  out.add({kW1}, r);
  out.add({kW0}, r);
  return out;
}

}  // namespace headway
