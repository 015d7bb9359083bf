// A recorded program placed in time, with calls that take what they are said to.
#pragma once

#include <span>
#include <vector>

#include "simulate/recorded/program.hpp"

namespace headway {

struct RunAgain {
  std::vector<Nanoseconds> begins, ends;  // of each item
  std::vector<Nanoseconds> met;           // of each meeting, when its last rank came
  Nanoseconds time = 0;                   // until the last end
};

/// [SIM-43] Every item as soon as what it needs is done, with its lag. A call begins when the last
/// of its ranks is there and takes what `transfers` has for it; a rank goes on as much later (or
/// sooner, but not before it came) than the transfer's end as it did when it was recorded.
/// Problems: the calls that wait for each other, where some never begin.
Result<RunAgain> run_again(const RecordedProgram& program, const Recording& recording,
                           std::span<const Nanoseconds> transfers);

}  // namespace headway
