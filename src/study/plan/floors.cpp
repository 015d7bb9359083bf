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

bool same_place(const FlooredCell& a, const FlooredCell& b) {
  return a.cell.tuple == b.cell.tuple && a.cell.order == b.cell.order &&
         a.cell.expert == b.cell.expert;
}

}  // namespace

PlanFloors::PlanFloors(const PlanQuestion& question, int threads, const Progress& progress,
                       PlanKept* kept)
    : run_(&question.run),
      calibration_(&question.calibration),
      facts_(kept != nullptr ? kept->facts
                             : std::make_shared<PlanFacts>(question.run.model, question.run.job)) {
  const std::vector<PlanCell> cells = question.cells();
  cells_.reserve(cells.size());
  for (const PlanCell& cell : cells) cells_.push_back({.cell = cell, .floor = {}});
  const std::vector<std::size_t> places = runs_of(cells_, same_place);
  PlanPricers own;
  PlanPricers& pricers = kept != nullptr ? kept->floors : own;
  pricers.resize(workers_of(threads));
  complete_ = for_each_index(
      places.size() - 1, threads,
      [&](std::size_t place, std::size_t worker) {
        std::unique_ptr<PlanPricer>& pricer = pricers[worker];
        if (pricer == nullptr)
          pricer = std::make_unique<PlanPricer>(question, std::span<const PlanLimit>());
        for (std::size_t i = places[place]; i < places[place + 1]; ++i) {
          cells_[i].floor = pricer->quick_floor(cells_[i].cell);
        }
      },
      progress, 1);
  // Every layout holds something.
  std::erase_if(cells_, [](const FlooredCell& cell) { return cell.floor.memory == Bytes(0); });
  sort();
}

void PlanFloors::sort() {
  const std::vector<std::size_t> runs = runs_of(cells_, same_place);
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
