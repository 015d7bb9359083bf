// Random pipelines of every schedule. Tests only.
#pragma once

#include <rapidcheck/gtest.h>

#include <vector>

#include "step/schedule/order.hpp"

namespace headway::testing {

inline Pipeline any_pipeline(const std::vector<Schedule>& schedules) {
  Pipeline out{*rc::gen::elementOf(schedules), *rc::gen::inRange<std::int64_t>(2, 10), 1,
               *rc::gen::inRange<std::int64_t>(1, 80)};
  if (takes_virtual_stages(out.schedule))
    out.virtual_stages = *rc::gen::inRange<std::int64_t>(1, 5);
  if (out.copies() == 2) out.ranks += out.ranks % 2;
  if (out.schedule == Schedule::dual_pipe) {
    out.micro_batches = 2 * out.ranks + out.micro_batches / 2 * 2;
  } else if (out.schedule == Schedule::dual_pipe_v) {
    out.micro_batches += 2 * out.ranks - 1;
  } else if (out.schedule == Schedule::chimera) {
    out.micro_batches *= out.ranks;
  }
  return out;
}

inline Pipeline any_pipeline() {
  return any_pipeline({Schedule::one_f_one_b, Schedule::gpipe, Schedule::breadth_first,
                       Schedule::zero_bubble, Schedule::zero_bubble_h2, Schedule::zero_bubble_v,
                       Schedule::dual_pipe, Schedule::dual_pipe_v, Schedule::chimera});
}

}  // namespace headway::testing
