// The best layouts of a space, found without pricing all of it, and proven [PLAN-3].
#pragma once

#include <optional>
#include <vector>

#include "platform/parallel.hpp"
#include "study/plan/floors.hpp"

namespace headway {

/// What is best. On a given number of accelerators tokens/s of each and money follow the step time.
enum class PlanObjective : std::uint8_t { time, memory, energy };

/// Whether `a` is better: by the objective, then by the step's time, then by the lower index.
bool better(const PlanPoint& a, const PlanPoint& b, PlanObjective objective);

struct PlanSearch {
  PlanObjective objective = PlanObjective::time;
  std::size_t top = 1;       // at most so many, each of another kind
  bool exhaustive = false;   // price everything
  int threads = 1;           // 0: all
  Progress progress;         // in cells, or tuples of degrees; false stops
  PlanKept* kept = nullptr;  // of the same search in other parts of the space
};

/// The best layout of each kind: of all that have the same degrees, those of experts among them.
struct PlanBest {
  std::vector<PlanPoint> points;  // the best first; the same for any number of threads
  bool proven = true;             // false: stopped before everything was looked at
  PlanCounts counts;              // of one thread: the same each time
};
PlanBest search(const PlanQuestion& question, const PlanSearch& how);
/// The same with floors that are known: of the question, of one of another objective, or of one
/// whose cluster is no slower in anything.
PlanBest search(const PlanQuestion& question, const PlanFloors& floors, const PlanSearch& how);
/// The same with layouts that a search of another part of the space found: they count among those
/// that are found, and no worse ones are looked for.
PlanBest search(const PlanQuestion& question, const PlanFloors& floors, const PlanSearch& how,
                const std::vector<PlanPoint>& known);

/// What one walk over the cells looks for.
struct PlanWish {
  std::vector<PlanLimit> limits;  // the best layout that passes each, by the search's objective
  bool front = false;  // the layouts that no other beats in both time and memory, the fastest first
  std::vector<PlanPoint> known = {};  // layouts of the space, from earlier searches of the question
};
struct PlanFound {
  std::vector<std::optional<PlanPoint>> best;  // of each limit; nothing where none fits
  std::vector<PlanPoint> front;
  bool proven = true;
  PlanCounts counts;
};
/// All of it at once: what several look for is priced once. `how.top` means nothing here.
PlanFound find(const PlanQuestion& question, const PlanFloors& floors, const PlanWish& wish,
               const PlanSearch& how);

/// Of layouts that were found in parts of the space those that search() finds in all of it, in
/// whatever order they come: of each part its best kinds, as many.
std::vector<PlanPoint> best_kinds(const PlanQuestion& question, const std::vector<PlanPoint>& found,
                                  const PlanSearch& how);
/// The same of the fronts of all parts.
std::vector<PlanPoint> front_among(const std::vector<PlanPoint>& found);

}  // namespace headway
