#include "study/plan_search.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>

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

// Of a set of layouts at least this much of the objective [PLAN-3]: an accelerator draws no less
// than what it draws while it waits.
double value(const PlanFloor& floor, const PlanQuestion& q, std::int64_t ranks,
             PlanObjective objective) {
  switch (objective) {
    case PlanObjective::time:
      return floor.time.value();
    case PlanObjective::memory:
      return floor.memory.value();
    case PlanObjective::energy:
      return (floor.time * q.cluster.accelerator.tdp * static_cast<double>(ranks) *
              std::min(q.calibration.power.waiting, q.calibration.power.compute))
          .value();
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

struct FlooredCell {
  PlanCell cell;
  PlanFloor floor;
  Seconds least;          // the lowest floor of those that share most with it
  std::size_t share = 0;  // which these are
};

// Cells of the same tuple, order and spread of experts, which a pricer has made ready once, stay
// together; those among which the lowest floor is come first.
void sort_by_floor(std::vector<FlooredCell>& cells) {
  const auto shares = [](const PlanCell& a, const PlanCell& b) {
    return a.tuple == b.tuple && a.order == b.order && a.expert == b.expert;
  };
  for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    Seconds least = cells[begin].floor.time;
    while (end < cells.size() && shares(cells[begin].cell, cells[end].cell)) {
      least = std::min(least, cells[end++].floor.time);
    }
    for (std::size_t i = begin; i < end; ++i) {
      cells[i].least = least;
      cells[i].share = begin;
    }
  }
  std::stable_sort(cells.begin(), cells.end(), [](const FlooredCell& a, const FlooredCell& b) {
    return std::tuple(a.least, a.share, a.floor.time) < std::tuple(b.least, b.share, b.floor.time);
  });
}

// Cells one after another as sort_by_floor() orders them, each thread with its own pricer. Cells
// whose floor is not worth it are skipped, and so are layouts in the others.
class Walk {
 public:
  using Worth = std::function<bool(const PlanCell&, const PlanFloor&)>;
  using Visit = std::function<void(const PlanCell&, const PlanPoint&)>;

  Walk(const PlanQuestion& q, const PlanSearch& how) : q_(q), how_(how) {
    const std::size_t workers = workers_of(how.threads);
    for (std::size_t i = 0; i < workers; ++i) {
      pricers_.push_back(std::make_unique<PlanPricer>(q));
      counts_.emplace_back();
    }
  }

  bool run(const Visit& visit, const Worth& worth) {
    const std::vector<PlanCell> cells = q_.space.cells();
    if (how_.exhaustive) return run_tuples(cells, visit);
    // A floor costs little; neighbours share most of it.
    std::vector<FlooredCell> floored(cells.size());
    for_each_tuple(cells, [&](std::size_t i, std::size_t worker) {
      floored[i] = {.cell = cells[i], .floor = pricers_[worker]->floor(cells[i]), .least = {}};
    });
    const Bytes allowed = q_.allowed_memory();
    const auto layouts = [&](const FlooredCell& cell) {
      return q_.space.inner(q_.space.tuples()[cell.cell.tuple]).size();
    };
    std::erase_if(floored, [&](const FlooredCell& cell) {
      const bool out = cell.floor.memory > allowed;
      if (out) counts_.front().too_large += layouts(cell);
      return out;
    });
    sort_by_floor(floored);
    return for_each_in_order(
        floored.size(), how_.threads,
        [&](std::size_t i, std::size_t worker) {
          const FlooredCell& at = floored[i];
          if (!worth(at.cell, at.floor)) {
            counts_[worker].skipped += layouts(at);
            return;
          }
          counts_[worker] += pricers_[worker]->price(
              at.cell, [&](const PlanPoint& point) { visit(at.cell, point); },
              [&](const PlanFloor& floor) { return worth(at.cell, floor); });
        },
        how_.progress);
  }

  PlanCounts counts() const {
    PlanCounts out;
    for (const PlanCounts& counts : counts_) out += counts;
    return out;
  }

 private:
  // Calls body(cell, worker) for the cells of one tuple after another on one thread.
  template <class Body>
  bool for_each_tuple(const std::vector<PlanCell>& cells, const Body& body,
                      const Progress& progress = {}) {
    std::vector<std::size_t> first;  // cell of each tuple
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == 0 || cells[i].tuple != cells[i - 1].tuple) first.push_back(i);
    }
    first.push_back(cells.size());
    return for_each_index(
        first.size() - 1, how_.threads,
        [&](std::size_t t, std::size_t worker) {
          for (std::size_t i = first[t]; i < first[t + 1]; ++i) body(i, worker);
        },
        progress, 1);
  }

  bool run_tuples(const std::vector<PlanCell>& cells, const Visit& visit) {
    return for_each_tuple(
        cells,
        [&](std::size_t i, std::size_t worker) {
          counts_[worker] += pricers_[worker]->price(
              cells[i], [&](const PlanPoint& point) { visit(cells[i], point); });
        },
        how_.progress);
  }

  const PlanQuestion& q_;
  const PlanSearch& how_;
  std::vector<std::unique_ptr<PlanPricer>> pricers_;
  std::vector<PlanCounts> counts_;
};

// Tuples of degrees with degrees of experts.
std::uint64_t kind_of(const PlanQuestion& q, const PlanCell& cell) {
  const auto& experts = q.space.experts(q.space.tuples()[cell.tuple]);
  const ExpertChoice& choice = experts[cell.expert];
  // The first choice of the same degrees stands for them.
  const auto same = std::find_if(experts.begin(), experts.end(), [&](const ExpertChoice& other) {
    return other.ep == choice.ep && other.etp == choice.etp;
  });
  return std::uint64_t{cell.tuple} << 32 | static_cast<std::uint64_t>(same - experts.begin());
}

}  // namespace

bool better(const PlanPoint& a, const PlanPoint& b, PlanObjective objective) {
  return std::tuple(value(a, objective), a.time, a.index) <
         std::tuple(value(b, objective), b.time, b.index);
}

PlanBest search(const PlanQuestion& question, const PlanSearch& how) {
  BestKinds best(how.top, how.objective);
  Walk walk(question, how);
  const std::int64_t ranks =
      question.space.size() > 0 ? question.space.layout_at(0).ranks() : std::int64_t{0};
  PlanBest out;
  out.proven = walk.run([&](const PlanCell& cell,
                            const PlanPoint& point) { best.add(kind_of(question, cell), point); },
                        [&](const PlanCell&, const PlanFloor& floor) {
                          return value(floor, question, ranks, how.objective) <= best.limit();
                        });
  out.points = best.points();
  out.counts = walk.counts();
  return out;
}

PlanFront pareto_front(const PlanQuestion& question, const PlanSearch& how) {
  Front front;
  Walk walk(question, how);
  PlanFront out;
  out.proven = walk.run([&](const PlanCell&, const PlanPoint& point) { front.add(point); },
                        [&](const PlanCell&, const PlanFloor& floor) {
                          return !front.beats(floor.time, floor.memory);
                        });
  out.points = front.points();
  out.counts = walk.counts();
  return out;
}

}  // namespace headway
