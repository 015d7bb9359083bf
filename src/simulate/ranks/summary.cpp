#include "simulate/ranks/summary.hpp"

#include <utility>

#include "base/statistics.hpp"

namespace headway {

RanksSummary summary_of(const RanksWork& work, std::vector<RankedStep> steps) {
  RanksSummary out;
  MeasuredOps measured{.stages = steps.front().stages,
                       .micro_batches = work.usual.pipeline.micro_batches,
                       .pipelines = {}};
  const auto count = static_cast<double>(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out.step_times.push_back(steps[i].step_time.value());
    for (const PartRow& row : kParts) out.parts[row.part] += steps[i].parts[row.part] / count;
    for (MeasuredPipeline& pipeline : steps[i].pipelines) {
      pipeline.step = static_cast<std::int64_t>(i);
      measured.pipelines.push_back(std::move(pipeline));
    }
  }
  out.mean = Seconds(*mean(out.step_times));
  const auto at = [&](double q) { return Seconds(*quantile(out.step_times, q)); };
  out.p10 = at(0.1), out.p50 = at(0.5), out.p90 = at(0.9), out.p99 = at(0.99);
  if (!measured.pipelines.empty()) {
    out.what_if = replay(measured, work.usual.ranks.front().once.send);
  }
  out.first = std::move(steps.front());
  return out;
}

}  // namespace headway
