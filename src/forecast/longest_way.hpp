// The longest way through the slots of 1F1B and GPipe, of stages that differ: how long a step takes
// without placing its slots [FORECAST-1].
#pragma once

#include <cstdint>
#include <span>

#include "base/quantity.hpp"

namespace headway {

/// Neighbouring ranks of a pipeline that are alike. Seconds of one micro-batch in one of a rank's
/// chunks, with what the rank waits for of its transfers.
struct RankClass {
  std::int64_t ranks = 1;
  Seconds forward, backward;
  Seconds hop;  // until a transfer from the rank before, or back, is there; both go on meanwhile
};

/// From the first slot of any rank to the end of the last, 1F1B with `chunks` on each rank. With
/// one it is what the slots placed in time come to; with several, whose micro-batches are a
/// multiple of the ranks, it is never more, and at most 1 % less (of stages that are alike but for
/// the ends: 99 in 100 to the digit).
Seconds one_f_one_b_time(std::span<const RankClass> ranks, std::int64_t chunks,
                         std::int64_t micro_batches);

/// The same of all forward passes and then all backward passes, with one chunk on each rank: what
/// the slots come to.
Seconds gpipe_time(std::span<const RankClass> ranks, std::int64_t micro_batches);

}  // namespace headway
