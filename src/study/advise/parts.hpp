// The pieces of advice. Internal to src/study/advise.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/advise/advise.hpp"
#include "trace/analysis/steps.hpp"

namespace headway {

/// A fault that the trace shows: the run as it is with it, and what stands in its place without.
struct Fault {
  Advice advice;                         // without its gain
  std::function<void(Run&)> puts_right;  // takes the fault out of a run
};

/// The run in the order of ranks that the recorded groups have, with the fault if that is not the
/// one that was said. Problems: the groups are of no order of this run.
Result<std::vector<Fault>> fit_ranks(RequestedRun& run, const Recording& recording);

/// Faults of buckets, overlap and links, put into the run.
std::vector<Fault> faults_of(RequestedRun& run, const Reconciliation& reconciliation,
                             const Recording& recording, const Calibration& calibration);

/// Ranks that come late, with the share of the step that they cost [ADVISE-3]; nothing where none
/// does, or the recording cannot be run again. `rows`: its steps.
std::optional<Advice> late_advice(const Recording& recording, const std::vector<StepRow>& rows);

/// Every change of one field that is legal, fits and is faster, of the run and forecast of `as_is`;
/// gains of that forecast's step. Adds to `tried` how many were forecast.
std::vector<Advice> settings_of(const Advised& as_is, std::size_t& tried);

/// Seconds a step that the recorded calls of a group take, and how much of it nothing hides.
std::string group_evidence(const Reconciliation& reconciliation, Part part);

/// [ADVISE-2] The interval of a change from one forecast to another.
Interval<double> gain_interval(const Forecast& from, const Forecast& to, Seconds step_time);

}  // namespace headway
