// Profiles of models in PipeDream's text form (Narayanan et al. 2019; msr-fiddle/pipedream,
// profiler/*/profiles/*/graph.txt): operations with measured times and sizes, and what follows
// what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"

namespace headway {

/// One operation of the forward pass, and what its backward pass takes.
struct ProfiledOp {
  int id = 0;  // 1 ... the number of operations
  std::string kind;
  Seconds forward, backward;  // a profile's milliseconds stand for seconds, as PAC-ML reads them
  Bytes activation, parameters;
  Bytes memory() const { return activation + parameters; }
};

struct ProfiledEdge {
  std::size_t from = 0, to = 0;  // places in ModelProfile::ops
};

/// In the order of the file, on which the order of placement hangs.
struct ModelProfile {
  std::string name;
  std::vector<ProfiledOp> ops;
  std::vector<ProfiledEdge> edges;
};

constexpr std::size_t kMostProfiledOps = 2000, kMostProfiledEdges = 20000;

/// Lines `nodeN -- description -- forward_compute_time=, backward_compute_time=, activation_size=,
/// parameter_size=` and `nodeA -- nodeB`. A size may be a list, [a; b], which stands for its sum.
/// Problems, each with its line: what is not of that form, ids that are not 1 ... N each once,
/// edges to nowhere or twice, circles, more than kMostProfiledOps or kMostProfiledEdges.
Result<ModelProfile> read_profile(std::string_view text, const std::string& name);

}  // namespace headway
