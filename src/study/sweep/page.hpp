// The sweeps of docs/scaling.md.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/answer.hpp"

namespace headway {

struct PageSweep {
  std::string command;  // "headway scale weak --model llama-2-7b ..."
  SweepAnswer answer;
};
/// One along each axis; seconds.
Result<std::vector<PageSweep>> page_sweeps();

}  // namespace headway
