// Finds the space. Internal to src/study/plan/space.
#pragma once

#include <vector>

#include "study/plan/space/fields.hpp"
#include "study/plan/space/space.hpp"

namespace headway {

/// The legal layouts over so many ranks that pass the filters; none may be.
PlanSpace build_space(const Run& run, std::int64_t ranks, const std::vector<PlanLimit>& filters);
/// Whether there is one, in less time.
bool has_any_layout(const Run& run, std::int64_t ranks, const std::vector<PlanLimit>& filters);

}  // namespace headway
