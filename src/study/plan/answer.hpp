// Why a layout is the best: what it would cost to do without each of its features, what binds it,
// and what would change it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/plan/search.hpp"

namespace headway {

/// The best layout without something that the winner uses.
struct PlanWithout {
  std::string feature;            // "pipeline parallelism"
  bool legal = true;              // some layout does without it
  std::optional<PlanPoint> best;  // nothing where none fits
  Layout layout;                  // of it
};
/// What else there is beside the best layouts.
struct PlanAlternatives {
  std::vector<PlanWithout> without;  // one for each feature of the winner
  std::vector<PlanPoint> front;      // what no other beats in both time and memory, fastest first
};
/// `best`: of the question, the winner first.
PlanAlternatives alternatives(const PlanQuestion& question, const PlanFloors& floors,
                              const std::vector<PlanPoint>& best, const PlanSearch& how);

/// What is looked for in a part of a space, whatever is the best of the others: the best layout
/// without each feature that there is, and the front. `known`: the best of the part.
PlanWish wish_of_part(const PlanQuestion& question, std::vector<PlanPoint> known);
/// The alternatives of a winner, where what was looked for so is found: in all of the space.
PlanAlternatives alternatives(const PlanQuestion& question, const PlanPoint& winner,
                              const PlanFound& found);

/// The run with something of its cluster changed.
struct PlanChange {
  std::string what;  // "inter-node bandwidth 2 % lower"
  Run run;
  bool slower = true;  // or the same, whatever the layout
};
/// Each level's bandwidth, the accelerator's peak rates, memory bandwidth and memory, each lower by
/// `share`.
std::vector<PlanChange> small_changes(const Run& run, double share = 0.02);

/// What a change of the winner's run does to it, and whether another layout then is better.
struct PlanSensitivity {
  std::string what;
  std::optional<PlanPoint> winner;  // nothing where it does not fit then
  std::optional<PlanPoint> best;    // nothing where none fits
  Layout layout;                    // of it
};
/// Nothing where the search was stopped. `floors` are those of the question.
std::optional<PlanSensitivity> under_change(const PlanQuestion& question, const PlanFloors& floors,
                                            const PlanChange& change,
                                            const Calibration& calibration, const PlanSearch& how);
/// The layout of the change's run under it; nothing where it does not fit.
std::optional<PlanPoint> same_under(const PlanQuestion& question, const PlanChange& change,
                                    const Calibration& calibration);
/// The best of all layouts under it. `known`: layouts under it.
PlanFound best_under(const PlanQuestion& question, const PlanFloors& floors,
                     const PlanChange& change, const Calibration& calibration,
                     std::vector<PlanPoint> known, const PlanSearch& how);

/// The smallest change with which something fits, where nothing does.
struct PlanRemedy {
  std::string what;  // "with 512 accelerators"
  PlanPoint best;
  Layout layout;
};
/// Of each kind of change the smallest: no headroom, each filter left out, 8-bit states of the
/// optimiser, a multiple of the accelerators (up to 64 times, and as many as the cluster has).
/// `filters` are those of the question's space.
std::vector<PlanRemedy> remedies(const PlanQuestion& question,
                                 const std::vector<PlanFilter>& filters, std::int64_t ranks,
                                 const PlanSearch& how);

}  // namespace headway
