// The forecast of a corpus row's run, and what was measured of it in the same terms.
#pragma once

#include <optional>
#include <vector>

#include "fit/corpus/corpus.hpp"
#include "fit/corpus/run.hpp"
#include "forecast/forecast.hpp"

namespace headway {

Forecast forecast_of(const CorpusRun& run);

/// Decides recomputation that the row does not state: the lightest of the framework's modes that
/// fits, or the last of them.
void settle_recomputation(CorpusRun& run);

/// The run with the fewest and the most virtual stages that it can have, where it has a pipeline
/// and how many is a guess; none where it is stated, or no other number is legal.
std::vector<CorpusRun> stages_in_question(const CorpusRun& run);

/// Bytes that the source's report of a peak would show: what the framework's allocator holds, on
/// the rank that reports.
Bytes reported_memory(const CorpusRun& run, const Forecast& forecast);

/// Seconds of one step as the source states them: its time, or by tokens, FLOPs or MFU a second;
/// nothing where it states none of them.
std::optional<double> measured_step_time(const CorpusRow& row, const CorpusRun& run);

}  // namespace headway
