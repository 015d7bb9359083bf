// Steps of a recording that marks none: what its ranks do again and again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// `count` times the same `period` words, from `begin` on.
struct Repetition {
  std::size_t begin = 0, period = 0, count = 0;
  friend bool operator==(const Repetition&, const Repetition&) = default;
};

/// [TRACE-13] What repeats in a sequence: of the stretches that are periodic, hold their period at
/// least twice and are at least half of the sequence, the longest; of those that are 9/10 of it the
/// one of the shortest period. What stands before and behind may be anything. Nothing where there
/// is none.
std::optional<Repetition> repetition_in(const std::vector<std::uint32_t>& words);

/// Of one rank what repeats in its calls, and the calls, as indices, in the order of their starts.
struct RankRepetition {
  std::uint32_t rank = 0;
  std::vector<std::size_t> calls;
  Repetition found;
};

/// What all ranks repeat, each its own calls.
struct RepeatedSteps {
  std::int64_t steps = 0;
  std::vector<RankRepetition> ranks;  // that have calls
  /// Means of the ranks, in calls: of a step, and what lies before and behind what repeats.
  double calls = 0, before = 0, behind = 0;
};

/// [TRACE-13] of the sequence of (operation, bytes, group) of every rank, in the order of their
/// starts. Nothing where a rank repeats nothing, or ranks do not agree how often, give or take the
/// one that another begin of the period costs.
std::optional<RepeatedSteps> repeated_steps(const Recording& recording);

}  // namespace headway
