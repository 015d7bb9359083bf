// A part of a plan as lines of text.
#pragma once

#include "platform/shard.hpp"
#include "study/plan/plan.hpp"

namespace headway {

PartLines plan_part_lines(const PlanPart& part);
Result<PlanPart> read_plan_part(const PartLines& lines);

}  // namespace headway
