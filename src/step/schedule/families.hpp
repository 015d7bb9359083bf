// Internal to src/step/schedule: a function for each family of schedules. Symbols: p ranks, r the
// rank, m micro-batches (of one copy of the model), v chunks of a rank.
#pragma once

#include "step/schedule/order.hpp"

namespace headway {

RankOrder fill_and_drain(std::int64_t m, std::int64_t v);
/// What of it is left where nothing goes back.
RankOrder all_forward(std::int64_t m, std::int64_t v);
RankOrder one_f_one_b(std::int64_t p, std::int64_t r, std::int64_t m);
RankOrder interleaved(std::int64_t p, std::int64_t r, std::int64_t m, std::int64_t v);
/// ZB-H1 and ZB-H2: `ahead` forward passes before the first that a gradient follows, weight
/// gradients `behind` micro-batches late.
RankOrder zero_bubble(std::int64_t m, std::int64_t ahead, std::int64_t behind);
RankOrder zero_bubble_v(std::int64_t p, std::int64_t r, std::int64_t m);
/// DualPipe and DualPipeV: `way` ranks from the first to the one where the directions meet, `from`
/// of them before this one; `near` is the chunk of the direction that reaches the rank first.
struct DualRank {
  std::int64_t way, from;
  std::uint8_t near;
};
RankOrder dual_pipe(const DualRank& rank, std::int64_t m);
RankOrder chimera(std::int64_t p, std::int64_t r, std::int64_t m);

}  // namespace headway
