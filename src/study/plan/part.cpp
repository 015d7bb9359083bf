// The planning of one part of a space, and of all parts together.
#include <algorithm>
#include <cmath>

#include "cost/calibration/calibration.hpp"
#include "study/plan/setup.hpp"

namespace headway {
namespace {

// What was found in all parts, brought together. A part comes from a file: what it says of layouts
// is held against their forecasts before it is believed.
class FoundInParts {
 public:
  FoundInParts(const PlanSetup& setup, const PlanQuestion& question)
      : setup_(setup), q_(question), parts_(setup.task.parts) {}

  bool believed() const { return believed_; }

  PlanWalks walks() {
    PlanWalks out;
    out.best = [this] { return best(); };
    out.alternatives = [this](const std::vector<PlanPoint>& best) {
      return alternatives(q_, best.front(), beside());
    };
    out.roomy = [this](const std::vector<PlanPoint>&) { return roomy(); };
    out.under_change = [this](const PlanChange& change, const Calibration& calibration,
                              std::size_t which, std::size_t) {
      return std::optional(under(change, calibration, which));
    };
    out.of_remedies = part_of(setup_.how, setup_.space.size(), 0, 1);  // only now it is known
    return out;
  }

 private:
  PlanBest best() {
    std::vector<PlanPoint> all;
    for (const PlanPart& part : parts_) add(part.best, all);
    return {believed(q_, best_kinds(q_, all, setup_.how)), true, {}};
  }

  PlanFound beside() {
    PlanFound out;
    const std::size_t features = wish_of_part(q_, {}).limits.size();
    for (std::size_t i = 0; i < features; ++i) {
      out.best.push_back(best_of(q_, [i](const PlanPart& part) { return part.without.at(i); }));
    }
    std::vector<PlanPoint> all;
    for (const PlanPart& part : parts_) add(part.front, all);
    out.front = believed(q_, front_among(all));
    return out;
  }

  std::optional<PlanPoint> roomy() {
    const Run run = with_endless_memory(q_.run);
    return best_of({run, q_.calibration, q_.space, 0},
                   [](const PlanPart& part) { return part.roomy; });
  }

  PlanSensitivity under(const PlanChange& change, const Calibration& calibration,
                        std::size_t which) {
    PlanSensitivity out{change.what, same_under(q_, change, calibration), std::nullopt, {}};
    const PlanQuestion changed{change.run, calibration, q_.space, q_.headroom};
    if (may_be_legal(q_.space, change.run)) {
      out.best = best_of(changed, [which](const PlanPart& part) { return part.changed.at(which); });
    } else {  // no part looked for it
      PlanSearch how = setup_.how;
      how.top = 1;
      how.progress = {};
      const PlanBest best = search(changed, how);
      if (!best.points.empty()) out.best = best.points.front();
    }
    if (out.best) out.layout = q_.space.layout_at(out.best->index);
    return out;
  }

  template <class Of>
  std::optional<PlanPoint> best_of(const PlanQuestion& question, const Of& of) {
    std::vector<PlanPoint> all;
    for (const PlanPart& part : parts_) {
      const std::optional<PlanPoint> point = of(part);
      if (point) add({*point}, all);
    }
    if (all.empty()) return std::nullopt;
    const auto best = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return better(a, b, setup_.how.objective);
    });
    return believed(question, {*best}).front();
  }

  void add(const std::vector<PlanPoint>& points, std::vector<PlanPoint>& all) {
    for (const PlanPoint& point : points) {
      if (point.index < q_.space.size()) {
        all.push_back(point);
      } else {
        believed_ = false;
      }
    }
  }

  // [PLAN-2] The planner adds up in another order than the forecast: the last digits may differ.
  std::vector<PlanPoint> believed(const PlanQuestion& question, std::vector<PlanPoint> points) {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); };
    Run run = question.run;
    for (const PlanPoint& point : points) {
      run.layout = question.space.layout_at(point.index);
      const Forecast made = forecast(run, question.calibration);
      const Bytes live = made.memory.total() - made.gaps;
      if (!near(point.time.value(), made.step_time.value()) ||
          !near(point.memory.value(), live.value()) ||
          !near(point.energy.value(), made.energy.value())) {
        believed_ = false;
      }
    }
    return points;
  }

  const PlanSetup& setup_;
  const PlanQuestion& q_;
  const std::vector<PlanPart>& parts_;
  bool believed_ = true;
};

}  // namespace

Result<Plan> plan_of_parts(const PlanSetup& setup) {
  const Problem other = parts_of_another_space();
  const PlanQuestion question = setup.question();
  const std::size_t features = wish_of_part(question, {}).limits.size();
  const std::size_t changes = changes_of(question.run).size();
  for (const PlanPart& part : setup.task.parts) {
    if (part.without.size() != features || part.changed.size() != changes) return other;
  }
  FoundInParts found(setup, question);
  auto out = plan_by(setup, question, found.walks());
  if (!found.believed()) return other;
  return out;
}

namespace {

// Of points that other parts found those that are of this space.
class KnownElsewhere {
 public:
  KnownElsewhere(const std::vector<PlanPart>& parts, const PlanSpace& space)
      : parts_(parts), size_(space.size()) {}

  template <class Of>
  std::vector<PlanPoint> all(const Of& of) const {
    std::vector<PlanPoint> out;
    for (const PlanPart& part : parts_) {
      for (const PlanPoint& point : of(part)) {
        if (point.index < size_) out.push_back(point);
      }
    }
    return out;
  }
  /// Of each part the point that is the best of its kind, where there is one.
  template <class Of>
  std::vector<PlanPoint> each(const Of& of) const {
    return all([&](const PlanPart& part) {
      const std::optional<PlanPoint> point = of(part);
      return point ? std::vector<PlanPoint>{*point} : std::vector<PlanPoint>();
    });
  }

 private:
  const std::vector<PlanPart>& parts_;
  const std::uint64_t size_;
};

void append(std::vector<PlanPoint>& to, const std::vector<PlanPoint>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

// What all parts ask, and what those before have lowered and priced for the searches that take most
// of the time: the others would take 250 MB more, and save nothing that can be measured.
struct PlanPartsKept {
  explicit PlanPartsKept(PlanSetup of)
      : setup(std::move(of)),
        roomy(with_endless_memory(setup.task.run)),
        first(fresh()),
        beside(fresh()) {
    for (PlanChange& change : changes_of(setup.task.run)) {
      auto calibration = calibration_for(change.run);
      if (!calibration || !may_be_legal(setup.space, change.run)) {
        changes.emplace_back();
      } else {
        changes.emplace_back(Changed{std::move(change), std::move(calibration).value()});
      }
    }
  }

  PlanKept fresh() const { return {.facts = facts, .floors = {}, .walk = {}}; }

  PlanSetup setup;
  Run roomy;
  struct Changed {
    PlanChange change;
    Calibration calibration;
  };
  std::vector<std::optional<Changed>> changes;  // nothing where no layout can be legal
  std::shared_ptr<PlanFacts> facts =
      std::make_shared<PlanFacts>(setup.task.run.model, setup.task.run.job);
  PlanKept first, beside;
};

Result<PlanPart> plan_part_of_space(PlanTask task, const Shard& part,
                                    std::shared_ptr<PlanPartsKept>& kept) {
  if (kept == nullptr) {
    auto made = set_up(std::move(task));
    if (!made) return made.problems();
    kept = std::make_shared<PlanPartsKept>(std::move(made).value());
  } else {
    kept->setup.task.parts = std::move(task.parts);
    kept->setup.how.progress = std::move(task.how.progress);
  }
  const PlanSetup& setup = kept->setup;
  const Problem stopped = stopped_part();
  const PlanQuestion question = setup.question(part);
  const auto of_work = [&](double from, double to, PlanKept& searched) {
    PlanSearch how = setup.how;
    how.exhaustive = false;
    how.kept = &searched;
    return part_of(how, setup.space.size(), from, to);
  };
  const KnownElsewhere known(setup.task.parts, setup.space);
  PlanPart out;
  const PlanFloors floors(question, setup.how.threads,
                          of_work(0, kFloorsDone, kept->first).progress, &kept->first);
  PlanSearch first = of_work(kFloorsDone, kSearchDone, kept->first);
  first.exhaustive = setup.how.exhaustive;
  const PlanBest best = first.exhaustive
                            ? search(question, first)
                            : search(question, floors, first,
                                     known.all([](const PlanPart& other) { return other.best; }));
  if (!best.proven) return stopped;
  out.best = best.points;

  // Known layouts bound each of these, whatever they were looked for as.
  PlanWish wish = wish_of_part(question, out.best);
  append(wish.known, known.all([](const PlanPart& other) { return other.front; }));
  for (std::size_t i = 0; i < wish.limits.size(); ++i) {
    append(wish.known, known.each([i](const PlanPart& other) {
      return i < other.without.size() ? other.without[i] : std::nullopt;
    }));
  }
  const PlanFound beside =
      find(question, floors, wish, of_work(kSearchDone, kAlternativesDone, kept->beside));
  out.without = beside.best;
  out.front = beside.front;
  std::vector<PlanPoint> of_room = known.each([](const PlanPart& other) { return other.roomy; });
  append(of_room, out.best);
  PlanKept for_room = kept->fresh();
  const PlanFound room = find({kept->roomy, question.calibration, question.space, 0, part}, floors,
                              {.limits = {PlanLimit{}}, .known = std::move(of_room)},
                              of_work(kAlternativesDone, kRoomyDone, for_room));
  out.roomy = room.best.front();
  if (!beside.proven || !room.proven) return stopped;

  const std::size_t changes = kept->changes.size();
  for (std::size_t i = 0; i < changes; ++i) {
    out.changed.emplace_back();
    if (!kept->changes[i]) continue;
    const auto& [change, calibration] = *kept->changes[i];
    PlanKept for_change = kept->fresh();
    std::vector<PlanPoint> under_it = known.each([i](const PlanPart& other) {
      return i < other.changed.size() ? other.changed[i] : std::nullopt;
    });
    if (!out.best.empty()) {
      PlanChange same = change;
      same.run.layout = question.space.layout_at(out.best.front().index);
      const auto under =
          is_legal(same.run) ? same_under(question, same, calibration) : std::nullopt;
      if (under) under_it.push_back(*under);
    }
    const double each = (1 - kRoomyDone) / static_cast<double>(changes);
    const double from = kRoomyDone + each * static_cast<double>(i);
    const PlanFound under = best_under(question, floors, change, calibration, std::move(under_it),
                                       of_work(from, from + each, for_change));
    if (!under.proven) return stopped;
    out.changed.back() = under.best.front();
  }
  return out;
}

}  // namespace headway
