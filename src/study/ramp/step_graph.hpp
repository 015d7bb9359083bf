// A training step of a profiled model as a graph of parts: its backward pass mirrored, its
// operations split over servers.
#pragma once

#include <cstdint>
#include <vector>

#include "study/ramp/profile.hpp"

namespace headway {

/// A part of an operation. Parts of one operation stand together, forward ones of all operations
/// first.
struct StepPart {
  std::size_t op = 0;  // in ModelProfile::ops
  bool backward = false;
  int part = 0;
  Seconds compute;
};

struct PartEdge {
  std::size_t from = 0, to = 0;  // in StepGraph::parts
  Bytes size;
  bool exchange = false;  // of weights, between backward parts of one operation
};

struct StepGraph {
  std::vector<int> split;            // parts of each operation of the profile
  std::vector<std::size_t> forward;  // the first forward part of each, its first backward part
  std::vector<std::size_t> backward;
  std::vector<StepPart> parts;
  std::vector<PartEdge> edges;
};

/// [JOBS-3] In how many parts each operation is split where at most `degree` are asked for:
/// max(1, min(2 ceil(ceil(t / q) / 2), degree)), t its forward time, q = 0.01: an even number, and
/// no part shorter than q.
std::vector<int> splits_of(const ModelProfile& profile, int degree);

/// [JOBS-4] Twins of all operations, edges between them reversed, the last operation joined to its
/// own twin. Compute is split evenly. An edge carries its source's activation over the parts of
/// both ends for each pair of parts; the backward parts of one operation exchange its parameters
/// over their number. `published`: as the published code has it, which splits operations one after
/// another in the order of the file: an edge of split operations carries the memory (activation and
/// parameters) of its source where that was split first or alone is whole, else of its target, and
/// parts exchange memory.
StepGraph step_graph(const ModelProfile& profile, const std::vector<int>& split, bool published);

/// Seconds of one step where one server runs everything: all compute, in the order of the file.
Seconds sequential_step(const ModelProfile& profile);

}  // namespace headway
