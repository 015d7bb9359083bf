#include "api/simulate/ranks.hpp"

#include "platform/parallel.hpp"

namespace headway {
namespace {

// What is of one rank for each stage.
Problems alike_problems(const SimulateStepRequest& request) {
  Problems out;
  if (!request.algorithms.empty()) {
    out.push_back({FieldName("algorithm"),
                   "is not placed where ranks differ; legal: without it, or without options of "
                   "ranks that differ",
                   Trouble::unsupported});
  }
  for (const auto& [name, given] :
       {std::pair("perfetto", !request.perfetto.empty()),
        std::pair("chrome", !request.chrome.empty()), std::pair("chakra", !request.chakra.empty()),
        std::pair("timeline", request.timeline)}) {
    if (!given) continue;
    out.push_back({FieldName(name),
                   "shows a rank for each stage, all of them alike; not with options of ranks "
                   "that differ",
                   Trouble::unsupported});
  }
  return out;
}

}  // namespace

Result<RanksAnswer> answer_of_ranks(const Run& run, const SimulatedStep& alike,
                                    const SimulateStepRequest& request) {
  const auto asked = read_ranks(request.ranks, run);
  if (!asked) return asked.problems();
  RanksAnswer out{.asked = *asked, .drawn = {}, .useful = {}};
  if (asked->failures) out.useful = useful_share(*asked->failures);
  if (!asked->every_rank) return out;
  if (asked->differ.any() || !request.algorithms.empty()) {
    if (Problems problems = alike_problems(request); !problems.empty()) return problems;
  }
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();

  // A step for each seed; of all but the first only the times are kept.
  const RanksWork work = ranks_work(run, *calibration, asked->differ, alike);
  std::vector<RankedStep> steps(static_cast<std::size_t>(asked->seeds));
  for_each_index(
      steps.size(), request.threads,
      [&](std::size_t i, std::size_t) {
        steps[i] = place_ranks(work, asked->seed + i, asked->what_if);
        if (i == 0) return;
        steps[i].cells.clear();
        steps[i].ranks.clear();
      },
      {}, 1);
  out.drawn = summary_of(work, std::move(steps));
  return out;
}

}  // namespace headway
