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

/// Faults of buckets and overlap, put into the run.
std::vector<Fault> faults_of(RequestedRun& run, const Reconciliation& reconciliation,
                             const Recording& recording, const Calibration& calibration);

/// [ADVISE-5] The links as the trace has them, put into the run; a fault where they are slow.
std::vector<Fault> fit_links(RequestedRun& run, const Reconciliation& reconciliation,
                             const Recording& recording, const Alignment& alignment,
                             const NetworkOfTrace& network, std::vector<TracedLinks>& links);

/// Ranks that come late, with the share of the step that they cost [ADVISE-3]; nothing where none
/// does, or the recording cannot be run again. `rows`: its steps, `rows_a_step` of them one of the
/// run.
std::optional<Advice> late_advice(const Recording& recording, const std::vector<StepRow>& rows,
                                  double rows_a_step);

/// Every change of one field that is legal, fits and is faster, of the run and forecast of `as_is`;
/// gains of that forecast's step. Adds to `tried` how many were forecast.
std::vector<Advice> settings_of(const Advised& as_is, std::size_t& tried);

/// [ADVISE-7] The best layout of as many accelerators that the framework can run, where it is
/// faster: a setting where it differs in one field; gains as theirs. `layouts`: how many there are.
std::optional<Advice> layout_advice(const Advised& as_is, int threads, std::uint64_t& layouts);

/// Whether a row's calls are of a group whose time is of this part.
bool of_part(const ReconciledRow& row, Part part);

/// Seconds a step that the recorded calls of a part take, and how much of it nothing hides; where
/// there are none, what the step spends on it.
std::string evidence_of(const Advised& as_is, Part part);

/// [ADVISE-8] Of a forecast, a reconciliation and the steps of the trace, as late_advice has them.
PartFactors factors_of(const Advised& as_is, const std::vector<StepRow>& rows, double rows_a_step);

/// Of a change to another forecast: a share of the step, and where four of five such gains lie.
struct Gain {
  double share = 0;
  Interval<double> interval;
};
Gain gain_of(const Advised& as_is, const Forecast& to);

}  // namespace headway
