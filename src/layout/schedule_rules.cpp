#include "layout/schedule_rules.hpp"

namespace headway {
namespace {

// Slots of ZB-V grow with the square of the ranks [FORECAST-3]; no published pipeline has half as
// many.
constexpr std::int64_t kMostPlacedRanks = 256;

}  // namespace

std::vector<ScheduleProblem> schedule_problems(const ScheduledPipeline& pipeline) {
  std::vector<ScheduleProblem> out;
  const auto& [schedule, pp, vpp, count] = pipeline;
  const std::string name(kScheduleNames[static_cast<std::size_t>(schedule)]);
  const auto fail = [&](const char* field, std::string message) {
    out.push_back({field, std::move(message)});
  };
  if (vpp > 1 && !takes_virtual_stages(schedule)) {
    fail("vpp", "virtual stages are for --schedule 1f1b and breadth-first; " + name +
                    " places its chunks itself");
  }
  if (is_placed(schedule) && pp > kMostPlacedRanks) {
    fail("pp", std::to_string(pp) + " ranks; " + name + " is placed slot by slot, for at most " +
                   std::to_string(kMostPlacedRanks));
  }
  const std::string there = "; there are " + std::to_string(count);
  if (copies_of_model(schedule) == 2 && pp % 2 != 0) {
    fail("schedule", name + " needs an even --pp");
  }
  if (joins_pairs(schedule) && count < 2 * pp) {
    fail("schedule",
         name + " needs at least 2 x pp = " + std::to_string(2 * pp) + " micro-batches" + there);
  } else if (schedule == Schedule::dual_pipe && count % 2 != 0) {
    fail("schedule", name + " needs an even number of micro-batches" + there);
  }
  if (schedule == Schedule::chimera && count % pp != 0) {
    fail("schedule",
         name + " needs a multiple of pp = " + std::to_string(pp) + " micro-batches" + there);
  }
  return out;
}

}  // namespace headway
