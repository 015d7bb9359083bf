// What a schedule asks of a pipeline, whatever runs in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/schedule.hpp"

namespace headway {

struct ScheduledPipeline {
  Schedule schedule = Schedule::one_f_one_b;
  std::int64_t pp = 1, vpp = 1;
  std::int64_t micro_batches = 1;
};

struct ScheduleProblem {
  const char* field;  // of a run
  std::string message;
};

/// Why the schedule has no order for the pipeline; nothing where it has one.
std::vector<ScheduleProblem> schedule_problems(const ScheduledPipeline& pipeline);

}  // namespace headway
