// How long it takes to find the best layout of published runs, with and without bounds, and to
// answer all that `plan` says of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

struct PlanTiming {
  struct Bounded {  // medians of the repetitions
    std::string name;
    std::uint64_t layouts = 0;
    Seconds best, ten_best;  // of finding one; ten of different kind
    Seconds answer;          // of all that `plan` says
    std::uint64_t priced = 0;
    Bytes memory;                 // the most that the process has held
    std::optional<Seconds> step;  // of the best; nothing where none fits
  };
  struct Whole {  // once
    std::string name;
    std::uint64_t layouts = 0, legal = 0, fitting = 0;
    Seconds time;
    bool same_best = false;
  };
  std::vector<Bounded> bounded;
  std::vector<Whole> whole;
  std::size_t repetitions = 0, threads = 0;
};

/// On `threads` threads; 0: all cores.
Result<PlanTiming> time_plans(int threads);

}  // namespace headway
