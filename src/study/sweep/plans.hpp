// The points of each axis.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/question.hpp"

namespace headway {

/// A series of a sweep before its points are made.
struct SweepPlan {
  std::string name;
  std::vector<SweepCase> cases;
};
std::vector<SweepPlan> sweep_plans(const SweepQuestion& question);

}  // namespace headway
