#include "forecast/pipeline_time.hpp"

#include <algorithm>

#include "forecast/zero_bubble_v.hpp"

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

namespace {

// One entry for each rank instead of one for each class.
std::vector<StageTime> by_rank(const std::vector<StageTime>& stages) {
  std::vector<StageTime> out;
  for (const StageTime& stage : stages) {
    out.insert(out.end(), static_cast<std::size_t>(stage.stages), stage);
  }
  return out;
}

}  // namespace

Seconds bubble_time(const std::vector<StageTime>& stages, const Layout& layout,
                    std::int64_t micro_batches, Seconds send) {
  if (layout.pp == 1) return Seconds(0);
  const std::size_t pace = slowest(stages);
  const Seconds paced = stages[pace].total();
  const Seconds busy = paced + stages[pace].transfers;
  const double m = static_cast<double>(micro_batches);
  const double pp = static_cast<double>(layout.pp);
  const double vpp = static_cast<double>(layout.vpp);
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
  const Seconds hops = 2 * (pp - 1) * send;
  switch (layout.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b: {
      // [FORECAST-1] The slowest stage waits while the others pass the first micro-batch on to it
      // and the last gradient back; with vpp chunks a rank they do so with a chunk each. Equal
      // stages: (pp - 1)/(vpp · m) of the work, arXiv 2104.04473 §2.2.
      const Seconds whole = others([](const StageTime& s) { return s.total(); });
      const Seconds filled = whole / vpp + hops;
      if (layout.vpp == 1) return filled;
      // Fewer micro-batches than stages do not fill the time until the first of them comes back to
      // a rank's next chunk: it goes through all chunks of all ranks, and the others follow behind
      // it by a chunk each, with what of the chunk's transfers nothing hides.
      const Seconds first = whole + paced + 2 * (pp * vpp - 1) * send;
      return std::max(filled, first + ((m - 1) / vpp - m) * busy);
    }
    case Schedule::zero_bubble: {
      // [FORECAST-2] ZB-H1: weight gradients fill the drain, arXiv 2401.10241, as far as there are
      // some: of m < pp micro-batches m - 1 stand where 1F1B's last rank drains.
      const double filled = std::min(1.0, (m - 1) / (pp - 1));
      return others(
                 [&](const StageTime& s) { return s.total() - (1 + filled) * s.weight_gradient; }) +
             hops;
    }
    case Schedule::zero_bubble_v:
      // [FORECAST-3] ZB-V by its slots.
      return std::max(Seconds(0),
                      zero_bubble_v_time(by_rank(stages), micro_batches, send) - m * paced);
    case Schedule::dual_pipe:
      // [FORECAST-4] (pp/2 - 1)·(F&B + B - 3W), arXiv 2412.19437 table 2, with F&B = F + B.
      return others([](const StageTime& s) {
               return (s.total() + s.backward - 3 * s.weight_gradient) * 0.5;
             }) * ((pp - 2) / (pp - 1)) +
             hops;
  }
  return Seconds(0);
}

}  // namespace headway
