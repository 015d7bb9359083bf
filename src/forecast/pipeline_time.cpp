#include "forecast/pipeline_time.hpp"

#include <algorithm>

namespace headway {

std::size_t slowest(const std::vector<StageTime>& stages) {
  std::size_t out = 0;
  for (std::size_t i = 1; i < stages.size(); ++i) {
    if (stages[i].total() + stages[i].transfers > stages[out].total() + stages[out].transfers) {
      out = i;
    }
  }
  return out;
}

Seconds bubble_time(const std::vector<StageTime>& stages, const Layout& layout, Seconds send) {
  if (layout.pp == 1) return Seconds(0);
  const std::size_t pace = slowest(stages);
  // Sum over all stages but one of the slowest.
  const auto others = [&](auto&& idle) {
    Seconds sum(0);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const std::int64_t count = stages[i].stages - (i == pace ? 1 : 0);
      sum += static_cast<double>(count) * std::max(Seconds(0), idle(stages[i]));
    }
    return sum;
  };
  // The first activation and the last gradient cross every boundary.
  const Seconds hops = 2.0 * static_cast<double>(layout.pp - 1) * send;
  switch (layout.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b:
      // [FORECAST-1] The slowest stage waits while the others pass the first micro-batch on to it
      // and the last gradient back; with vpp chunks a rank they do so with a chunk each. Equal
      // stages: (pp - 1)/(vpp · m) of the work, arXiv 2104.04473 §2.2.
      return others([](const StageTime& s) { return s.total(); }) /
                 static_cast<double>(layout.vpp) +
             hops;
    case Schedule::zero_bubble:
      // [FORECAST-2] ZB-H1: weight gradients fill the drain, arXiv 2412.19437 table 2 (ZB1P).
      return others([](const StageTime& s) { return s.total() - 2 * s.weight_gradient; }) + hops;
    case Schedule::zero_bubble_v:
      // [FORECAST-3] ZB-V: the bubble of ZB-H2 in the memory of 1F1B, arXiv 2405.15362: none where
      // forward, input gradient and weight gradient take equally long.
      return others([](const StageTime& s) { return s.total() - 3 * s.weight_gradient; }) + hops;
    case Schedule::dual_pipe:
      // [FORECAST-4] (pp/2 - 1)·(F&B + B - 3W), arXiv 2412.19437 table 2, with F&B = F + B.
      return others([](const StageTime& s) {
               return (s.total() + s.backward - 3 * s.weight_gradient) * 0.5;
             }) * (static_cast<double>(layout.pp - 2) / static_cast<double>(layout.pp - 1)) +
             hops;
  }
  return Seconds(0);
}

}  // namespace headway
