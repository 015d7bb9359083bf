#include "study/plan/floors.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>

namespace headway {
namespace {

// Begins of runs of neighbours that are alike, and the end.
template <class T, class Alike>
std::vector<std::size_t> runs_of(const std::vector<T>& list, const Alike& alike) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == 0 || !alike(list[i - 1], list[i])) out.push_back(i);
  }
  out.push_back(list.size());
  return out;
}

// A cell by the blocks of its layouts: the split of a layer, whatever the stages and replicas.
struct BlocksOfCell {
  std::uint64_t degrees = 0;  // tp, cp and those of experts
  std::uint64_t rest = 0;     // micro-batch and split
  std::size_t cell = 0;
};

std::vector<BlocksOfCell> by_blocks(const PlanSpace& space, const std::vector<FlooredCell>& cells) {
  std::vector<BlocksOfCell> out(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const PlanCell& cell = cells[i].cell;
    const DegreeTuple& t = space.tuples()[cell.tuple];
    const ExpertChoice& experts = space.experts(t)[cell.expert];
    const auto add = [](std::uint64_t& to, auto value) {  // what overflows only sorts worse
      to = to << 16 | (static_cast<std::uint64_t>(value) & 0xFFFF);
    };
    for (const std::int64_t degree : {t.tp, t.cp, experts.ep, experts.etp}) {
      add(out[i].degrees, degree);
    }
    add(out[i].rest, space.micro_batches(t)[cell.micro_batch]);
    add(out[i].rest, cell.split);
    out[i].cell = i;
  }
  std::sort(out.begin(), out.end(), [](const BlocksOfCell& a, const BlocksOfCell& b) {
    return std::tuple(a.degrees, a.rest, a.cell) < std::tuple(b.degrees, b.rest, b.cell);
  });
  return out;
}

// Cells with the same blocks one after another on one thread.
bool work_out(std::vector<FlooredCell>& cells, const PlanQuestion& q, int threads,
              const Progress& progress) {
  const std::vector<BlocksOfCell> order = by_blocks(q.space, cells);
  const std::vector<std::size_t> runs = runs_of(
      order, [](const BlocksOfCell& a, const BlocksOfCell& b) { return a.degrees == b.degrees; });
  std::vector<std::unique_ptr<PlanPricer>> pricers(workers_of(threads));
  return for_each_index(
      runs.size() - 1, threads,
      [&](std::size_t run, std::size_t worker) {
        if (pricers[worker] == nullptr)
          pricers[worker] = std::make_unique<PlanPricer>(q, std::span<const PlanLimit>());
        for (std::size_t i = runs[run]; i < runs[run + 1]; ++i) {
          FlooredCell& cell = cells[order[i].cell];
          cell.floor = pricers[worker]->floor(cell.cell);
        }
      },
      progress, 1);
}

}  // namespace

PlanFloors::PlanFloors(const PlanQuestion& question, int threads, const Progress& progress,
                       const PlanFloors* known)
    : run_(&question.run),
      calibration_(&question.calibration),
      facts_(known != nullptr ? known->facts_
                              : std::make_shared<PlanFacts>(question.run.model, question.run.job)) {
  const Bytes allowed = question.allowed_memory();
  if (known != nullptr) {
    cells_ = known->cells_;
    PlanPricer pricer(question, {});
    for (FlooredCell& cell : cells_) {
      const bool unknown = cell.floor.time == Seconds(0) && cell.floor.memory <= allowed;
      if (unknown) cell.floor = pricer.floor(cell.cell);
    }
  } else {
    const std::vector<PlanCell> cells = question.space.cells();
    cells_.reserve(cells.size());
    for (const PlanCell& cell : cells) cells_.push_back({.cell = cell, .floor = {}});
    complete_ = work_out(cells_, question, threads, progress);
    // Every layout holds something.
    std::erase_if(cells_, [](const FlooredCell& cell) { return cell.floor.memory == Bytes(0); });
  }
  for (const FlooredCell& cell : cells_) cell.by_mode.front() = cell.floor.time;
  sort();
}

void PlanFloors::sort() {
  const std::vector<std::size_t> runs =
      runs_of(cells_, [](const FlooredCell& a, const FlooredCell& b) {
        return a.cell.tuple == b.cell.tuple && a.cell.order == b.cell.order &&
               a.cell.expert == b.cell.expert;
      });
  const auto lower = [](const FlooredCell& a, const FlooredCell& b) {
    return a.floor.time < b.floor.time;
  };
  for (std::size_t run = 0; run + 1 < runs.size(); ++run) {
    const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(runs[run]);
    const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(runs[run + 1]);
    std::stable_sort(begin, end, lower);
    places_.push_back({runs[run], runs[run + 1], begin->floor.time});
  }
  std::stable_sort(places_.begin(), places_.end(),
                   [](const FlooredPlace& a, const FlooredPlace& b) { return a.least < b.least; });
}

}  // namespace headway
