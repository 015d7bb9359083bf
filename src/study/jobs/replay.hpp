// A stream of jobs that is listed, decided anew.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/csv.hpp"
#include "study/jobs/cluster.hpp"

namespace headway {

struct ReplayedJob {
  std::int64_t job = 0;
  std::string policy;
  std::string graph;
  Seconds limit;
  JobOutcome outcome;
  // Whether the file's own degree, outcome and time (to 1e-6) are these; true where it has none.
  bool agrees = true;
};

struct ReplayedStream {
  std::vector<ReplayedJob> jobs;  // in the order of the file
  std::size_t compared = 0;       // rows with an outcome of their own
  std::size_t agreeing = 0;
};

/// The profiles that are built in, PAC-ML's five by their names.
const std::vector<ModelProfile>& built_in_profiles();

/// A table with columns policy, total_node_bandwidth_B_s, job, graph, arrival and beta or limit;
/// degree, blocked and jct are compared where they stand, and other columns are what the published
/// code saw on the way. A run is the rows of one policy and bandwidth behind each other with rising
/// numbers of jobs; each begins with an empty machine. `published`: RampMachine and JobRules.
Result<ReplayedStream> replay_stream(const Csv& table, const std::vector<ModelProfile>& profiles,
                                     bool published);

}  // namespace headway
