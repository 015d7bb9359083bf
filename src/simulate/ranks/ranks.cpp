#include "simulate/ranks/ranks.hpp"

#include <algorithm>

#include "simulate/ranks/placing.hpp"

namespace headway {
namespace {

// [SIM-35] The same cluster with what is left of its network: what a neighbour leaves, and a slow
// link.
Cluster with_network(Cluster cluster, const Perturbations& differ, double link_share) {
  const int levels = static_cast<int>(cluster.levels.size());
  for (int i = memory_levels(cluster); i < levels; ++i) {
    const bool meets = differ.neighbour_placement == Placement::scattered || i + 1 == levels;
    const double left = link_share * (meets ? 1 - differ.neighbour_share : 1);
    Level& level = cluster.levels[static_cast<std::size_t>(i)];
    level.bandwidth *= left;
    level.port_bandwidth *= left;
  }
  return cluster;
}

PipelineWork priced_work(const Run& run, const Calibration& calibration) {
  const Step step = lower(run);
  const Prices prices{run.job, run.layout, run.cluster, calibration, step.spans};
  return work_of_step(run, priced_step(step, prices));
}

template <std::size_t... i>
std::array<LaneSets, sizeof...(i)> lanes_of_groups(const Run& run, std::index_sequence<i...>) {
  return {lanes_of(kGroups[i].group, run)...};
}

// Bubbles by what the cells' other parts leave; which cell ends last, and which waits least.
void sum_up(const RanksWork& work, const std::vector<Times>& ends, RankedStep& out) {
  const auto lanes = static_cast<std::size_t>(out.lanes);
  for (std::size_t i = 0; i < out.cells.size(); ++i) {
    out.cells[i].end = ends[i / lanes][i % lanes];
    if (out.cells[i].end > out.cells[out.last].end) out.last = i;
  }
  out.placed = out.cells[out.last].end;
  for (std::size_t i = 0; i < out.cells.size(); ++i) {
    Parts& parts = out.cells[i].parts;
    // Sums of the same terms in another order differ in their last digits.
    const Seconds waits = out.placed - parts.total();
    if (waits > 1e-12 * out.placed) parts.bubble += waits;
    if (parts.bubble < out.cells[out.busiest].parts.bubble) out.busiest = i;
  }
  out.parts = out.cells[out.busiest].parts;
  out.parts.other += work.rest;
  for (const PartRow& row : kParts) out.parts[row.part] *= work.own;
  out.step_time = out.parts.total();
}

// What its kernels took less than those of its cell, a rank has waited.
void tell_ranks(const Layout& layout, const std::vector<Seconds>& faster, RankedStep& out) {
  out.ranks.resize(faster.size());
  for (std::int64_t s = 0; s < out.stages; ++s) {
    for (std::int64_t l = 0; l < out.lanes; ++l) {
      const CellTimeline& cell = out.cells[static_cast<std::size_t>(s * out.lanes + l)];
      for (const std::int64_t rank : ranks_of(s, l, layout)) {
        const auto r = static_cast<std::size_t>(rank);
        out.ranks[r] = {s, l, cell.end, cell.parts.compute - faster[r],
                        cell.parts.bubble + faster[r]};
      }
    }
  }
}

}  // namespace

RanksWork ranks_work(const Run& run, const Calibration& calibration, const Perturbations& differ,
                     const SimulatedStep& classes) {
  Run usual = run;
  usual.cluster = with_network(run.cluster, differ, 1);
  Run slow = run;
  slow.cluster = with_network(run.cluster, differ, differ.link_share);
  RanksWork out{.run = run,
                .differ = differ,
                .usual = priced_work(usual, calibration),
                .slow = {},
                .lanes = lanes_of_groups(run, std::make_index_sequence<kGroups.size()>()),
                .rest = {}};
  out.slow = differ.slow_links.empty() ? out.usual : priced_work(slow, calibration);
  const Spans groups = spans(run.layout, run.cluster);
  for (const GroupRow& row : kGroups) {
    const GroupSpan& span = span_of_group(groups, row.group);
    if (span.ranks > 1 && crossed_level(span, run.cluster) >= memory_levels(run.cluster)) {
      out.over_network |= 1U << stream_of(row.group);
    }
  }
  const Pipeline& pipeline = out.usual.pipeline;
  out.can_be_replayed = pipeline.schedule == Schedule::one_f_one_b && pipeline.chunks() == 1;
  out.own = calibration.own;
  out.rest = classes.step_time / calibration.own - classes.placed;
  return out;
}

// [SIM-30] The order of slots is the same in all lanes, and none of its needs lies in another lane:
// a slot of all lanes is placed at once, as soon as what it needs is.
RankedStep place_ranks(const RanksWork& work, std::uint64_t seed, RankedDetail detail) {
  RankedStep out;
  Cells cells(work, seed);
  Placer placer(work, cells, detail, out);
  placer.run();
  std::vector<Times> ends = placer.take_free();
  place_after_slots(work, cells, ends, detail.spans, out);
  sum_up(work, ends, out);
  tell_ranks(work.run.layout, cells.faster(), out);
  return out;
}

}  // namespace headway
