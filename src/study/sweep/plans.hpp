// The points of each axis.
#pragma once

#include <string>
#include <vector>

#include "study/sweep/axes.hpp"
#include "study/sweep/question.hpp"

namespace headway {

/// A series of a sweep before its points are made.
struct SweepPlan {
  std::string name;
  std::vector<SweepCase> cases;
  VirtualStages virtual_stages = VirtualStages::given;  // that its points may take
};
std::vector<SweepPlan> sweep_plans(const SweepQuestion& question);

/// What is set against pure data parallelism: each degree of `question` alone, and tensor with
/// pipeline degrees.
std::vector<Degrees> split_layouts(const SweepQuestion& question);

}  // namespace headway
