#include "study/ramp/step_graph.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

constexpr double kShortestPart = 0.01;  // in the profile's units of time

// Operations of the mirrored graph: forward ones by their place, then twins by theirs.
struct Mirrored {
  std::size_t count;
  std::size_t twin(std::size_t op) const { return count + op; }
  std::size_t op(std::size_t node) const { return node % count; }
  bool backward(std::size_t node) const { return node >= count; }
  // When it is split: an operation, then its twin, in the order of the file.
  std::size_t turn(std::size_t node) const { return 2 * op(node) + (backward(node) ? 1 : 0); }
};

Bytes edge_size(const ModelProfile& profile, const std::vector<int>& split, const Mirrored& nodes,
                std::size_t from, std::size_t to, bool published) {
  const Bytes source = profile.ops[nodes.op(from)].memory();
  const Bytes target = profile.ops[nodes.op(to)].memory();
  const double a = split[nodes.op(from)], b = split[nodes.op(to)];
  if (!published) return profile.ops[nodes.op(from)].activation / a / b;
  if (a == 1) return source / b;
  if (b == 1) return target / a;
  return nodes.turn(from) < nodes.turn(to) ? source / a / b : target / b / a;
}

}  // namespace

std::vector<int> splits_of(const ModelProfile& profile, int degree) {
  std::vector<int> out;
  for (const ProfiledOp& op : profile.ops) {
    const double parts = 2 * std::ceil(std::ceil(op.forward.value() / kShortestPart) / 2);
    out.push_back(static_cast<int>(std::max(1.0, std::min(parts, static_cast<double>(degree)))));
  }
  return out;
}

StepGraph step_graph(const ModelProfile& profile, const std::vector<int>& split, bool published) {
  StepGraph out;
  out.split = split;
  const Mirrored nodes{profile.ops.size()};
  std::vector<std::size_t> first;  // part of each node
  for (std::size_t node = 0; node < 2 * nodes.count; ++node) {
    const std::size_t op = nodes.op(node);
    const bool backward = nodes.backward(node);
    first.push_back(out.parts.size());
    const Seconds whole = backward ? profile.ops[op].backward : profile.ops[op].forward;
    for (int part = 0; part < split[op]; ++part) {
      out.parts.push_back({op, backward, part, whole / split[op]});
    }
  }
  out.forward.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(nodes.count));
  out.backward.assign(first.begin() + static_cast<std::ptrdiff_t>(nodes.count), first.end());

  const auto join = [&](std::size_t from, std::size_t to) {
    const Bytes size = edge_size(profile, split, nodes, from, to, published);
    for (int i = 0; i < split[nodes.op(from)]; ++i) {
      for (int j = 0; j < split[nodes.op(to)]; ++j) {
        out.edges.push_back({first[from] + i, first[to] + j, size, false});
      }
    }
  };
  for (const ProfiledEdge& edge : profile.edges) join(edge.from, edge.to);
  for (const ProfiledEdge& edge : profile.edges) join(nodes.twin(edge.to), nodes.twin(edge.from));
  std::size_t last = 0;
  for (std::size_t op = 0; op < nodes.count; ++op) {
    if (profile.ops[op].id > profile.ops[last].id) last = op;
  }
  join(last, nodes.twin(last));
  for (std::size_t op = 0; op < nodes.count; ++op) {
    const ProfiledOp& at = profile.ops[op];
    const Bytes share = (published ? at.memory() : at.parameters) / split[op];
    for (int i = 0; i < split[op]; ++i) {
      for (int j = 0; j < split[op]; ++j) {
        if (i != j) out.edges.push_back({out.backward[op] + i, out.backward[op] + j, share, true});
      }
    }
  }
  return out;
}

Seconds sequential_step(const ModelProfile& profile) {
  Seconds sum;
  for (const ProfiledOp& op : profile.ops) sum += op.forward;
  for (const ProfiledOp& op : profile.ops) sum += op.backward;
  return sum;
}

}  // namespace headway
