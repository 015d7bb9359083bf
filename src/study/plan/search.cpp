#include "study/plan/search.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
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
      return step_energy(
                 {floor.time, model_flops(q.run.model, q.run.job, AttentionFlops::full), ranks},
                 q.run.job, q.calibration, q.run.cluster.accelerator)
                 .value() *
             kFloorRounding;
  }
  return 0;
}

// Somebody who looks for layouts, found by whatever threads.
class Seeker {
 public:
  explicit Seeker(PlanLimit limited = {}) : limit(limited) {}
  virtual ~Seeker() = default;
  /// `worker` tells threads apart.
  virtual bool wants(const PlanFloor& floor, std::size_t worker) const = 0;
  virtual void add(const PlanCell& cell, const PlanPoint& point) = 0;

  const PlanLimit limit;
};

// Tuples of degrees with degrees of experts.
std::uint64_t kind_of(const PlanSpace& space, const PlanCell& cell) {
  return std::uint64_t{space.tuples()[cell.tuple].kind} << 32 | cell.expert;
}

// The best point of each of the best kinds.
class BestKinds : public Seeker {
 public:
  BestKinds(const PlanQuestion& q, std::size_t most, PlanObjective objective,
            PlanLimit limited = {})
      : Seeker(limited),
        q_(q),
        ranks_(q.space.size() > 0 ? q.space.layout_at(0).ranks() : std::int64_t{0}),
        most_(most),
        objective_(objective) {}

  bool wants(const PlanFloor& floor, std::size_t) const override {
    return value(floor, q_, ranks_, objective_) <= most_of_interest();
  }

  // Some layout that is looked for: no other of interest is worse. Of one point only, which the
  // walk finds again; known from elsewhere it may differ in the last digit.
  void reached(const PlanPoint& point) {
    if (known_ && !better(point, *known_, objective_)) return;
    known_ = point;
    limit_ = value(point, objective_) / kFloorRounding;
  }

  void add(const PlanCell& cell, const PlanPoint& point) override {
    if (value(point, objective_) > most_of_interest()) return;
    const std::uint64_t kind = kind_of(q_.space, cell);
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
    if (out.empty() && known_) out.push_back(*known_);  // the walk was stopped
    return out;
  }

 private:
  double most_of_interest() const { return limit_.load(std::memory_order_relaxed); }

  const PlanQuestion& q_;
  const std::int64_t ranks_;
  const std::size_t most_;
  const PlanObjective objective_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, PlanPoint>> points_;
  std::optional<PlanPoint> known_;
  std::atomic<double> limit_ = std::numeric_limits<double>::infinity();
};

bool dominates(const PlanPoint& a, Seconds time, Bytes memory) {
  return (a.time < time && a.memory <= memory) || (a.time <= time && a.memory < memory);
}

// Points that no other dominates, by rising time. Of two alike the lower index stays.
class Front : public Seeker {
 public:
  explicit Front(std::size_t workers) : seen_(workers) {}

  // Threads ask a million times of a front that changes seldom: each asks what it saw last.
  bool wants(const PlanFloor& floor, std::size_t worker) const override {
    Seen& seen = seen_[worker];
    if (seen.changes != changes_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      seen.changes = changes_.load(std::memory_order_relaxed);
      seen.points = points_;
    }
    return !beats(seen.points, floor.time, floor.memory);
  }

  void add(const PlanCell&, const PlanPoint& point) override { add(point); }
  void add(const PlanPoint& point) {
    const std::lock_guard lock(mutex_);
    if (beats(points_, point.time, point.memory)) return;
    changes_.fetch_add(1, std::memory_order_release);
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
  struct alignas(64) Seen {
    std::uint64_t changes = 0;
    std::vector<PlanPoint> points;
  };

  // Whether some point beats all that take at least so much: the slowest of those that are no
  // slower takes the least memory.
  static bool beats(const std::vector<PlanPoint>& points, Seconds time, Bytes memory) {
    const auto behind =
        std::upper_bound(points.begin(), points.end(), time,
                         [](Seconds t, const PlanPoint& kept) { return t < kept.time; });
    return behind != points.begin() && dominates(*(behind - 1), time, memory);
  }

  mutable std::mutex mutex_;
  std::vector<PlanPoint> points_;
  std::atomic<std::uint64_t> changes_ = 0;
  mutable std::vector<Seen> seen_;  // by each thread
};

// Cells one after another, each thread with its own pricer, for all seekers at once.
class Walk {
 public:
  Walk(const PlanQuestion& q, const PlanSearch& how, std::vector<Seeker*> seekers)
      : q_(q),
        how_(how),
        seekers_(std::move(seekers)),
        pricers_(how.kept != nullptr ? how.kept->walk : own_) {
    pricers_.resize(workers_of(how.threads));
    counts_.resize(pricers_.size());
    for (const Seeker* seeker : seekers_) limits_.push_back(seeker->limit);
  }

  // In the order of their floors. Cells whose floor is of interest to nobody are skipped, and so
  // are layouts in the others; cells of a place are on one thread.
  bool run(const PlanFloors& floors) {
    facts_ = floors.facts();
    const std::vector<FlooredPlace>& places = floors.places();
    // Behind a place that takes too long for everybody all do.
    const auto behind =
        std::partition_point(places.begin(), places.end(), [this](const FlooredPlace& place) {
          return interested({place.least, Bytes(0)}, all_of(limits_), 0) != 0;
        });
    auto looked_at = static_cast<std::size_t>(behind - places.begin());
    for (std::size_t i = looked_at; i < places.size(); ++i) look(floors, places[i], 0);
    // Of a search that was stopped before it began, as much as takes no time.
    constexpr std::size_t kLook = 8;
    const bool stopped = !floors.complete();
    if (stopped) looked_at = std::min(kLook, looked_at);
    const bool finished = for_each_index(
        looked_at, how_.threads,
        [&](std::size_t i, std::size_t worker) { look(floors, places[i], worker); },
        stopped ? Progress() : how_.progress, 1);
    return finished && !stopped;
  }

  // All of them, one after another: between two the search can be given up.
  bool run_all() {
    facts_ = std::make_shared<PlanFacts>(q_.run.model, q_.run.job);
    const std::vector<PlanCell> cells = q_.cells();
    return for_each_index(
        cells.size(), how_.threads,
        [&](std::size_t i, std::size_t worker) {
          CellTimes unknown{};
          counts_[worker] += pricer(worker).price(cells[i], sought_in(cells[i]), unknown);
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
    if (pricers_[worker] == nullptr)
      pricers_[worker] = std::make_unique<PlanPricer>(q_, limits_, facts_);
    return *pricers_[worker];
  }

  void look(const PlanFloors& floors, const FlooredPlace& place, std::size_t worker) {
    const Bytes allowed = q_.allowed_memory();
    const bool own = floors.are_of(q_);
    for (std::size_t i = place.begin; i < place.end; ++i) {
      const FlooredCell& cell = floors.cells()[i];
      const std::size_t layouts = q_.space.inner(q_.space.tuples()[cell.cell.tuple]).size();
      if (cell.floor.memory > allowed) {
        counts_[worker].too_large += layouts;
      } else if (interested(cell.floor, all_of(limits_), worker) == 0) {
        counts_[worker].skipped += layouts;
      } else {
        CellTimes copied = cell.by_mode;
        counts_[worker] += look(cell, own ? cell.by_mode : copied, worker);
      }
    }
  }

  PlanCounts look(const FlooredCell& cell, CellTimes& least, std::size_t worker) {
    if (least.front() == Seconds(0)) least.front() = pricer(worker).floor(cell.cell);
    if (interested({least.front(), cell.floor.memory}, all_of(limits_), worker) == 0) {
      return {.skipped = q_.space.inner(q_.space.tuples()[cell.cell.tuple]).size()};
    }
    PlanSought sought = sought_in(cell.cell);
    sought.worth = [this, worker](const PlanFloor& floor, Seekers among) {
      return interested(floor, among, worker);
    };
    return pricer(worker).price(cell.cell, sought, least);
  }

  Seekers interested(const PlanFloor& floor, Seekers among, std::size_t worker) const {
    Seekers out = among;
    for (Seekers rest = among; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      if (!seekers_[static_cast<std::size_t>(i)]->wants(floor, worker)) out &= ~(Seekers{1} << i);
    }
    return out;
  }

  PlanSought sought_in(const PlanCell& cell) {
    return {.visit = [this, &cell](const PlanPoint& point, Seekers whose) {
      for (Seekers rest = whose; rest != 0; rest &= rest - 1) {
        seekers_[static_cast<std::size_t>(std::countr_zero(rest))]->add(cell, point);
      }
    }};
  }

  const PlanQuestion& q_;
  const PlanSearch& how_;
  const std::vector<Seeker*> seekers_;
  std::vector<PlanLimit> limits_;
  std::shared_ptr<PlanFacts> facts_;
  PlanPricers own_;
  PlanPricers& pricers_;  // with all that they have lowered and priced before
  std::vector<PlanCounts> counts_;
};

}  // namespace

std::vector<PlanPoint> best_kinds(const PlanQuestion& question, const std::vector<PlanPoint>& found,
                                  const PlanSearch& how) {
  BestKinds best(question, how.top, how.objective);
  for (const PlanPoint& point : found) best.add(question.space.cell_at(point.index), point);
  return best.points();
}

std::vector<PlanPoint> front_among(const std::vector<PlanPoint>& found) {
  Front front(1);
  for (const PlanPoint& point : found) front.add(point);
  return front.points();
}

bool better(const PlanPoint& a, const PlanPoint& b, PlanObjective objective) {
  return std::tuple(value(a, objective), a.time, a.index) <
         std::tuple(value(b, objective), b.time, b.index);
}

PlanBest search(const PlanQuestion& question, const PlanSearch& how) {
  if (!how.exhaustive) {
    const PlanFloors floors(question, how.threads, how.progress, how.kept);
    return search(question, floors, how);
  }
  BestKinds best(question, how.top, how.objective);
  Walk walk(question, how, {&best});
  const bool proven = walk.run_all();
  return {best.points(), proven, walk.counts()};
}

PlanBest search(const PlanQuestion& question, const PlanFloors& floors, const PlanSearch& how,
                const std::vector<PlanPoint>& known) {
  BestKinds best(question, how.top, how.objective);
  for (const PlanPoint& point : known) best.add(question.space.cell_at(point.index), point);
  Walk walk(question, how, {&best});
  const bool proven = walk.run(floors);
  return {best.points(), proven, walk.counts()};
}

PlanBest search(const PlanQuestion& question, const PlanFloors& floors, const PlanSearch& how) {
  return search(question, floors, how, {});
}

PlanFound find(const PlanQuestion& question, const PlanFloors& floors, const PlanWish& wish,
               const PlanSearch& how) {
  Front front(workers_of(how.threads));
  std::deque<BestKinds> best;
  std::vector<Seeker*> seekers;
  if (wish.front) seekers.push_back(&front);
  for (const PlanLimit& limit : wish.limits) {
    seekers.push_back(&best.emplace_back(question, 1, how.objective, limit));
  }
  for (const PlanPoint& point : wish.known) {
    if (wish.front) front.add(point);
    const Layout layout = question.space.layout_at(point.index);
    for (BestKinds& each : best) {
      if (each.limit.passes(layout)) each.reached(point);
    }
  }
  Walk walk(question, how, seekers);
  PlanFound out;
  out.proven = walk.run(floors);
  for (const BestKinds& each : best) {
    const std::vector<PlanPoint> points = each.points();
    out.best.push_back(points.empty() ? std::nullopt : std::optional(points.front()));
  }
  out.front = front.points();
  out.counts = walk.counts();
  return out;
}

}  // namespace headway
