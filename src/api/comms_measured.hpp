// What `headway comms TRACE...` finds out, before it is told as text, JSON, CSV, SQLite or
// drawings. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "cluster/cluster.hpp"
#include "platform/output.hpp"
#include "trace/analysis/align.hpp"
#include "trace/analysis/call_table.hpp"
#include "trace/analysis/overlap.hpp"
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
  SizeHistogram sizes;             // of the calls whose whole size is known; no benchmarks
  std::vector<std::string> notes;  // what the source does not say, each thing once

  const Recording& recording() const { return run.recording; }
};

/// What the recording of `measured` does not say.
std::vector<std::string> notes_on(const Measured& measured);

/// All that follows from the recordings.
Measured measure(RunRecording run);

/// The position of every call within Alignment::matched; -1 where it was not matched.
std::vector<std::int64_t> collective_of_calls(const Measured& measured);

std::string measured_text(const Measured& measured);
std::string measured_json(const Measured& measured);
/// Every call as a row; what is not known is an empty field.
std::string measured_csv(const Measured& measured);
/// Drawings for `folder`; those for which there are no data are left out. With a cluster, its
/// modelled busbw is drawn beside the measured one.
std::vector<OutputFile> measured_plots(const Measured& measured, const Cluster* cluster,
                                       const std::string& folder);

}  // namespace headway
