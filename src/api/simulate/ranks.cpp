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
  refuse("timeline", request.timeline, "shows a rank for each stage, all of them alike");
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

Problems too_many_events(std::int64_t events, const SimulateStepRequest& request) {
  Problems out;
  if (events <= kMostTimelineEvents) return out;
  const auto refuse = [&](const char* option, const std::string& file) {
    if (file.empty()) return;
    out.push_back({FieldName(option), "would have " + std::to_string(events) + " events; at most " +
                                          std::to_string(kMostTimelineEvents) +
                                          ": give fewer micro-batches (a smaller --global-batch)"});
  };
  refuse("perfetto", request.perfetto);
  refuse("chrome", request.chrome);
  return out;
}

Result<PlacedRanks> placed_ranks(const Run& run, const SimulatedStep& alike,
                                 const RanksQuestion& asked, const SimulateStepRequest& request) {
  PlacedRanks placed{.answer = {.asked = asked, .drawn = {}, .useful = {}}, .tracks = {}};
  RanksAnswer& out = placed.answer;
  if (asked.failures) out.useful = useful_share(*asked.failures);
  if (!asked.every_rank) return placed;
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();

  // A step for each seed; of all but the first only the times are kept.
  const RanksWork work = ranks_work(run, *calibration, asked.differ, alike);
  const bool shown = !request.perfetto.empty() || !request.chrome.empty();
  if (shown) {
    Problems problems = too_many_events(count_slots(work), request);
    if (!problems.empty()) return problems;
  }
  std::vector<RankedStep> steps(static_cast<std::size_t>(asked.seeds));
  for_each_index(
      steps.size(), request.threads,
      [&](std::size_t i, std::size_t) {
        steps[i] = place_ranks(work, asked.seed + i,
                               {.pipelines = asked.what_if, .spans = shown && i == 0});
        if (i == 0) return;
        steps[i].cells.clear();
        steps[i].ranks.clear();
      },
      {}, 1);
  if (shown) {
    Problems problems = too_many_events(count_events(steps.front()), request);
    if (!problems.empty()) return problems;
    placed.tracks = timeline_of(steps.front(), work);
    steps.front().spans.clear();
  }
  out.drawn = summary_of(work, std::move(steps));
  return placed;
}

}  // namespace headway
