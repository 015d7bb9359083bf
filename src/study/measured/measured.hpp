// What the recordings of a run say: the calls, their waiting and overlap, and what is not said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "simulate/recorded/path.hpp"
#include "study/measured/kernels.hpp"
#include "trace/analysis/align.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/analysis/exchange.hpp"
#include "trace/analysis/overlap.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/analysis/waiting.hpp"
#include "trace/files.hpp"

namespace headway {

struct Measured {
  RunRecording run;
  std::vector<CallTableRow> calls;  // alike groups in one row
  Alignment alignment;
  std::int64_t grouped = 0;         // calls of no named group that all ranks made together
  std::vector<WaitingRow> waiting;  // alike groups in one row
  std::vector<Overlap> overlap;
  RecordedSteps steps;
  std::vector<StepRow> step_rows;
  std::vector<Straggler> stragglers;   // over the steps, who causes most first
  std::vector<ExchangeRow> exchanges;  // alike groups in one row
  std::optional<RecordedPath> path;    // where all calls have a start and a time
  KernelTable kernels;
  SizeHistogram sizes;             // of the calls whose whole size is known; no benchmarks
  std::vector<std::string> notes;  // what the source does not say, each thing once

  const Recording& recording() const { return run.recording; }
};

/// All that follows from the recordings. `cluster`: whose model of kernels stands beside the
/// measured ones; null: none.
Measured measure(RunRecording run, const Cluster* cluster = nullptr);

/// What the recording of `measured` does not say.
std::vector<std::string> notes_on(const Measured& measured);

/// The position of every call within Alignment::matched; -1 where it was not matched.
std::vector<std::int64_t> collective_of_calls(const Measured& measured);

}  // namespace headway
