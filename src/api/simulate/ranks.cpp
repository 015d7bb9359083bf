#include "api/simulate/ranks.hpp"

#include "platform/parallel.hpp"

namespace headway {
namespace {

// What is of one rank for each stage.
Problems alike_problems(const SimulateStepRequest& request) {
  Problems out;
  const auto refuse = [&](const char* name, bool given, const char* what) {
    if (!given) return;
    out.push_back(
        {FieldName(name),
         std::string(what) + "; legal: without it, or without options of ranks that differ",
         Trouble::unsupported});
  };
  constexpr const char* kShown = "shows a rank for each stage, all of them alike";
  refuse("perfetto", !request.perfetto.empty(), kShown);
  refuse("chrome", !request.chrome.empty(), kShown);
  refuse("timeline", request.timeline, kShown);
  refuse("chakra", !request.chakra.empty(), "writes ranks of a stage that are alike");
  refuse("algorithm", !request.algorithms.empty(), "is not placed where ranks differ");
  return out;
}

}  // namespace

Result<RanksQuestion> ranks_asked(const Run& run, const SimulateStepRequest& request) {
  auto asked = read_ranks(request.ranks, run);
  if (!asked) return asked;
  const bool own = asked->differ.any() || (asked->every_rank && !request.algorithms.empty());
  Problems problems = own ? alike_problems(request) : Problems();
  if (!problems.empty()) return problems;
  return asked;
}

Result<RanksAnswer> answer_of_ranks(const Run& run, const SimulatedStep& alike,
                                    const RanksQuestion& asked, int threads) {
  RanksAnswer out{.asked = asked, .drawn = {}, .useful = {}};
  if (asked.failures) out.useful = useful_share(*asked.failures);
  if (!asked.every_rank) return out;
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();

  // A step for each seed; of all but the first only the times are kept.
  const RanksWork work = ranks_work(run, *calibration, asked.differ, alike);
  std::vector<RankedStep> steps(static_cast<std::size_t>(asked.seeds));
  for_each_index(
      steps.size(), threads,
      [&](std::size_t i, std::size_t) {
        steps[i] = place_ranks(work, asked.seed + i, asked.what_if);
        if (i == 0) return;
        steps[i].cells.clear();
        steps[i].ranks.clear();
      },
      {}, 1);
  out.drawn = summary_of(work, std::move(steps));
  return out;
}

}  // namespace headway
