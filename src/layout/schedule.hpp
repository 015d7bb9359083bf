// The schedules of a pipeline: their names, and how they place chunks of layers on ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headway {

/// Pipeline schedules. one_f_one_b becomes interleaved where vpp > 1. zero_bubble and
/// zero_bubble_h2: ZB-H1 and ZB-H2 of arXiv 2401.10241; zero_bubble_v: ZB-V of 2405.15362;
/// dual_pipe: 2412.19437 §3.2.1, dual_pipe_v its half of one model copy; breadth_first: 2211.05953;
/// chimera: 2107.06925.
enum class Schedule : std::uint8_t {
  one_f_one_b,
  gpipe,
  breadth_first,
  zero_bubble,
  zero_bubble_h2,
  zero_bubble_v,
  dual_pipe,
  dual_pipe_v,
  chimera
};
constexpr std::array<std::string_view, 9> kScheduleNames = {
    "1f1b",          "gpipe",     "breadth-first", "zero-bubble", "zero-bubble-2",
    "zero-bubble-v", "dual-pipe", "dual-pipe-v",   "chimera"};
/// What papers and earlier releases say for some of them: 1F1B with vpp > 1, and ZB-H2.
constexpr std::string_view kInterleaved = "interleaved", kZeroBubbleH2 = "zero-bubble-h2";

/// Whether chunks of layers lie on the ranks down and back up again: rank r has the stages r and
/// 2p - 1 - r of 2p.
constexpr bool is_folded(Schedule schedule) {
  return schedule == Schedule::zero_bubble_v || schedule == Schedule::dual_pipe_v;
}
/// 2 where micro-batches enter at both ends of the pipeline, half at each: rank r has the stages r
/// of one copy of the model and p - 1 - r of another.
constexpr std::int64_t copies_of_model(Schedule schedule) {
  return schedule == Schedule::dual_pipe || schedule == Schedule::chimera ? 2 : 1;
}
/// Chunks of layers on each rank of a pipeline, in all copies.
constexpr std::int64_t chunks_of_rank(Schedule schedule, std::int64_t virtual_stages) {
  return is_folded(schedule) || copies_of_model(schedule) == 2 ? 2 : virtual_stages;
}
/// Whether `vpp` is a choice; other schedules place their chunks themselves.
constexpr bool takes_virtual_stages(Schedule schedule) {
  return schedule == Schedule::one_f_one_b || schedule == Schedule::breadth_first;
}
/// Whether a forward pass may run under the backward pass of another micro-batch.
constexpr bool joins_pairs(Schedule schedule) {
  return schedule == Schedule::dual_pipe || schedule == Schedule::dual_pipe_v;
}
/// Whether the idle time of a schedule is that of its slots, placed in time, delays by transfers
/// among them; of others a closed form says it.
constexpr bool is_placed(Schedule schedule) {
  return schedule != Schedule::one_f_one_b && schedule != Schedule::gpipe;
}
/// Whether a rank waits for less than a pass of all others: what it has besides fills the bubble.
constexpr bool fills_bubble(Schedule schedule) {
  return schedule != Schedule::one_f_one_b && schedule != Schedule::gpipe &&
         schedule != Schedule::breadth_first;
}

}  // namespace headway
