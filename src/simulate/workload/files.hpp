// The files of a workload: a Chakra execution trace for each rank, and what ASTRA-sim reads beside
// them.
#pragma once

#include <string>
#include <vector>

#include "layout/run.hpp"
#include "simulate/workload/workload.hpp"

namespace headway {

struct WorkloadFile {
  std::string name, bytes;
};

/// Nodes of all ranks of a layout.
std::int64_t count_nodes(const Workload& workload, const Layout& layout);
/// What is held of all files at once: 0.4 GB.
constexpr std::int64_t kMostWorkloadNodes = 2'000'000;
constexpr std::int64_t kMostWorkloadRanks = 16'384;

/// [SIM-41] step.N.et of each rank N and groups.json. A rank runs the nodes of its stage; what they
/// say of groups and peers is its own. Sizes as ASTRA-sim counts them: of an all-gather one rank's
/// part, of all else the whole.
std::vector<WorkloadFile> workload_files(const Workload& workload, const Run& run);

/// network.yml, system.json and memory.json for the levels that the run lies on, or why ASTRA-sim
/// has no network like that.
Result<std::vector<WorkloadFile>> machine_files(const Run& run);

}  // namespace headway
