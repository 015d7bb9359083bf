#include "study/plan/search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>

#include "forecast/energy.hpp"

namespace headway {
namespace {

double value(const PlanPoint& point, PlanObjective objective) {
  switch (objective) {
    case PlanObjective::time:
      return point.time.value();
    case PlanObjective::memory:
      return point.memory.value();
    case PlanObjective::energy:
      return point.energy.value();
  }
  return 0;
}

// Of a set of layouts at least this much of the objective [PLAN-3]: no step takes less energy than
// one as short that computes nothing again.
double value(const PlanFloor& floor, const PlanQuestion& q, std::int64_t ranks,
             PlanObjective objective) {
  switch (objective) {
    case PlanObjective::time:
      return floor.time.value();
    case PlanObjective::memory:
      return floor.memory.value();
    case PlanObjective::energy:
      if (!(floor.time > Seconds(0))) return 0;
      return step_energy({floor.time, model_flops(q.model, q.job, AttentionFlops::full), ranks},
                         q.job, q.calibration.power, q.cluster.accelerator)
                 .value() *
             kFloorRounding;
  }
  return 0;
}

// The best point of each of the best kinds, by whatever threads find them.
class BestKinds {
 public:
  BestKinds(std::size_t most, PlanObjective objective) : most_(most), objective_(objective) {}

  // More than this is of no interest.
  double limit() const { return limit_.load(std::memory_order_relaxed); }

  void add(std::uint64_t kind, const PlanPoint& point) {
    if (value(point, objective_) > limit()) return;
    const std::lock_guard lock(mutex_);
    const auto same = std::find_if(points_.begin(), points_.end(),
                                   [&](const auto& kept) { return kept.first == kind; });
    if (same != points_.end()) {
      if (!better(point, same->second, objective_)) return;
      same->second = point;
    } else {
      points_.emplace_back(kind, point);
    }
    std::sort(points_.begin(), points_.end(),
              [&](const auto& a, const auto& b) { return better(a.second, b.second, objective_); });
    if (points_.size() > most_) points_.pop_back();
    if (points_.size() == most_) limit_ = value(points_.back().second, objective_);
  }

  std::vector<PlanPoint> points() const {
    std::vector<PlanPoint> out;
    for (const auto& [kind, point] : points_) out.push_back(point);
    return out;
  }

 private:
  std::size_t most_;
  PlanObjective objective_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, PlanPoint>> points_;
  std::atomic<double> limit_ = std::numeric_limits<double>::infinity();
};

bool dominates(const PlanPoint& a, Seconds time, Bytes memory) {
  return (a.time < time && a.memory <= memory) || (a.time <= time && a.memory < memory);
}

// Points that no other dominates, by rising time. Of two alike the lower index stays.
class Front {
 public:
  // Whether some point beats all that take at least so much.
  bool beats(Seconds time, Bytes memory) const {
    const std::lock_guard lock(mutex_);
    return beats_here(time, memory);
  }

  void add(const PlanPoint& point) {
    const std::lock_guard lock(mutex_);
    if (beats_here(point.time, point.memory)) return;
    const auto alike = std::find_if(points_.begin(), points_.end(), [&](const PlanPoint& kept) {
      return kept.time == point.time && kept.memory == point.memory;
    });
    if (alike != points_.end()) {
      if (point.index < alike->index) *alike = point;
      return;
    }
    std::erase_if(points_,
                  [&](const PlanPoint& kept) { return dominates(point, kept.time, kept.memory); });
    points_.insert(
        std::upper_bound(points_.begin(), points_.end(), point,
                         [](const PlanPoint& a, const PlanPoint& b) { return a.time < b.time; }),
        point);
  }

  const std::vector<PlanPoint>& points() const { return points_; }

 private:
  // The slowest of those that are no slower takes the least memory.
  bool beats_here(Seconds time, Bytes memory) const {
    const auto behind =
        std::upper_bound(points_.begin(), points_.end(), time,
                         [](Seconds t, const PlanPoint& kept) { return t < kept.time; });
    return behind != points_.begin() && dominates(*(behind - 1), time, memory);
  }

  mutable std::mutex mutex_;
  std::vector<PlanPoint> points_;
};

// Cells one after another, each thread with its own pricer.
class Walk {
 public:
  using Worth = std::function<bool(const PlanCell&, const PlanFloor&)>;
  using Visit = std::function<void(const PlanCell&, const PlanPoint&)>;

  Walk(const PlanQuestion& q, const PlanSearch& how) : q_(q), how_(how) {
    pricers_.resize(workers_of(how.threads));
    counts_.resize(pricers_.size());
  }

  // In the order of their floors. Cells whose floor is not worth it are skipped, and so are layouts
  // in the others.
  bool run(const PlanFloors& floors, const Visit& visit, const Worth& worth) {
    const Bytes allowed = q_.allowed_memory();
    const std::vector<FlooredCell>& cells = floors.cells();
    // Of a search that was stopped before it began, as much as takes no time.
    constexpr std::size_t kLook = 256;
    const bool stopped = !floors.complete();
    const bool finished = for_each_index(
        stopped ? std::min(kLook, cells.size()) : cells.size(), how_.threads,
        [&](std::size_t i, std::size_t worker) {
          const PlanCell& cell = cells[i].cell;
          const std::size_t layouts = q_.space.inner(q_.space.tuples()[cell.tuple]).size();
          if (cells[i].floor.memory > allowed) {
            counts_[worker].too_large += layouts;
          } else if (!worth(cell, cells[i].floor)) {
            counts_[worker].skipped += layouts;
          } else {
            counts_[worker] += pricer(worker).price(
                cell, [&](const PlanPoint& point) { visit(cell, point); },
                [&](const PlanFloor& floor) { return worth(cell, floor); });
          }
        },
        stopped ? Progress() : how_.progress, 1);
    return finished && !stopped;
  }

  // All of them; cells of one tuple of degrees, which share most, on one thread.
  bool run_all(const Visit& visit) {
    const std::vector<PlanCell> cells = q_.space.cells();
    std::vector<std::size_t> first;  // cell of each tuple
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 || cells[i].tuple != cells[i - 1].tuple) first.push_back(i);
    }
    first.push_back(cells.size());
    return for_each_index(
        first.size() - 1, how_.threads,
        [&](std::size_t t, std::size_t worker) {
          for (std::size_t i = first[t]; i < first[t + 1]; ++i) {
            counts_[worker] += pricer(worker).price(
                cells[i], [&](const PlanPoint& point) { visit(cells[i], point); });
          }
        },
        how_.progress, 1);
  }

  PlanCounts counts() const {
    PlanCounts out;
    for (const PlanCounts& counts : counts_) out += counts;
    return out;
  }

 private:
  PlanPricer& pricer(std::size_t worker) {
    if (pricers_[worker] == nullptr) pricers_[worker] = std::make_unique<PlanPricer>(q_);
    return *pricers_[worker];
  }

  const PlanQuestion& q_;
  const PlanSearch& how_;
  std::vector<std::unique_ptr<PlanPricer>> pricers_;
  std::vector<PlanCounts> counts_;
};

// Tuples of degrees with degrees of experts.
std::uint64_t kind_of(const PlanCell& cell) {
  return std::uint64_t{cell.tuple} << 32 | cell.expert;
}

}  // namespace

bool better(const PlanPoint& a, const PlanPoint& b, PlanObjective objective) {
  return std::tuple(value(a, objective), a.time, a.index) <
         std::tuple(value(b, objective), b.time, b.index);
}

PlanBest search(const PlanQuestion& question, const PlanSearch& how) {
  if (!how.exhaustive) {
    const PlanFloors floors(question, how.threads, how.progress);
    return search(question, floors, how);
  }
  BestKinds best(how.top, how.objective);
  Walk walk(question, how);
  PlanBest out;
  out.proven = walk.run_all(
      [&](const PlanCell& cell, const PlanPoint& point) { best.add(kind_of(cell), point); });
  out.points = best.points();
  out.counts = walk.counts();
  return out;
}

PlanBest search(const PlanQuestion& question, const PlanFloors& floors, const PlanSearch& how) {
  BestKinds best(how.top, how.objective);
  Walk walk(question, how);
  const std::int64_t ranks =
      question.space.size() > 0 ? question.space.layout_at(0).ranks() : std::int64_t{0};
  PlanBest out;
  out.proven = walk.run(
      floors, [&](const PlanCell& cell, const PlanPoint& point) { best.add(kind_of(cell), point); },
      [&](const PlanCell&, const PlanFloor& floor) {
        return value(floor, question, ranks, how.objective) <= best.limit();
      });
  out.points = best.points();
  out.counts = walk.counts();
  return out;
}

PlanFront pareto_front(const PlanQuestion& question, const PlanSearch& how) {
  return pareto_front(question, PlanFloors(question, how.threads, how.progress), how);
}

PlanFront pareto_front(const PlanQuestion& question, const PlanFloors& floors,
                       const PlanSearch& how) {
  Front front;
  Walk walk(question, how);
  PlanFront out;
  out.proven = walk.run(
      floors, [&](const PlanCell&, const PlanPoint& point) { front.add(point); },
      [&](const PlanCell&, const PlanFloor& floor) {
        return !front.beats(floor.time, floor.memory);
      });
  out.points = front.points();
  out.counts = walk.counts();
  return out;
}

}  // namespace headway
