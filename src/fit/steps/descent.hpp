// The constants of whole steps in some ten looks at all slopes, and those without some of the runs
// in one or a few more: Gauss and Newton's steps.
#pragma once

#include <array>
#include <vector>

#include "fit/steps/objective.hpp"

namespace headway {

/// What fit_steps() minimises, to within some 2 % of its least in a tenth of the time, for where a
/// fit is one of many. The errors are taken as linear within a box about the point, where their
/// loss, robust as it is, is least by weighted squares; the box shrinks where they turn out not to
/// be, and grows where they are. Deterministic.
class QuickFits {
 public:
  /// Fits on all runs, from the estimates. `runs` must outlive it.
  QuickFits(const std::vector<MeasuredRun>& runs, const StepConstants& estimates, int threads);

  StepConstants all() const { return objective_.constants(at_); }

  /// The constants of a fit without some of the runs, from where that on all ended and with its
  /// slopes; where these do not tell what the loss does, or an offset goes far, with new ones.
  /// What no other run depends on goes back to the estimate. On one thread.
  StepConstants without(const std::vector<bool>& left_out) const;

 private:
  StepObjective objective_;
  std::vector<double> at_;
  std::array<LinearErrors, 2> slopes_;  // there, by Decides
};

}  // namespace headway
