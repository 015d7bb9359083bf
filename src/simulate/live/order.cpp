#include "simulate/live/order.hpp"

#include <algorithm>

namespace headway {
namespace {

using NodeKind = WorkloadNode::Kind;
using Needs = std::vector<std::vector<std::size_t>>;

// What ends later than a kernel begins, by less than times are told apart.
constexpr Seconds kAtOnce{1e-9};

Seconds end_of(const WorkloadNode& node) {
  return node.start + node.time;
}

// [SIM-7] takes slots to lie between others like them: calls of the last one are for a slot behind
// it that does not come, and weights are gathered before the first once more. Each such call is
// made once, where it is needed: the nodes of the slot in place of the edge's.
class Edges {
 public:
  Edges(std::vector<WorkloadNode>& nodes, Needs& needs) : nodes_(nodes), needs_(needs) {}

  void join() {
    place_.assign(nodes_.size(), {});
    gone_.assign(nodes_.size(), false);
    for (const bool gathers : {true, false}) move(gathers);
    reorder();
  }

 private:
  bool is(const WorkloadNode& node, bool gathers) const {
    return node.kind == NodeKind::collective && (node.op == CollectiveOp::all_gather) == gathers;
  }

  // Of weights: the calls of the last slot that has some stand before the first slot; of gradients
  // those of the first behind the last.
  void move(bool gathers) {
    std::vector<std::size_t> edges, moved;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].edge && is(nodes_[i], gathers)) edges.push_back(i);
    }
    if (edges.empty()) return;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const std::size_t i = gathers ? nodes_.size() - 1 - k : k;
      if (!nodes_[i].beyond || !is(nodes_[i], gathers)) continue;
      // Those of one slot follow each other.
      const bool other =
          !moved.empty() &&
          (nodes_[moved.back()].micro_batch != nodes_[i].micro_batch || far_apart(moved.back(), i));
      if (other) break;
      moved.push_back(i);
    }
    if (moved.empty()) return;
    std::sort(moved.begin(), moved.end());
    for (const std::size_t i : moved) {
      for (auto& needs : needs_) replace(needs, i, needs_[i]);
    }
    for (const std::size_t edge : edges) {
      for (auto& needs : needs_) replace(needs, edge, moved);
      gone_[edge] = true;
    }
    for (const std::size_t i : moved) {
      needs_[i] = needs_[edges.front()];
      nodes_[i].start = nodes_[edges.front()].start;
      nodes_[i].time = nodes_[edges.front()].time;
      nodes_[i].micro_batch = nodes_[edges.front()].micro_batch;
      place_[edges.front()].push_back(i);
    }
  }
  // Something else than calls like them lies between.
  bool far_apart(std::size_t a, std::size_t b) const {
    for (std::size_t i = std::min(a, b) + 1; i < std::max(a, b); ++i) {
      if (!nodes_[i].beyond) return true;
    }
    return false;
  }
  static void replace(std::vector<std::size_t>& needs, std::size_t one,
                      const std::vector<std::size_t>& by) {
    const auto at = std::find(needs.begin(), needs.end(), one);
    if (at == needs.end()) return;
    needs.erase(at);
    needs.insert(needs.end(), by.begin(), by.end());
  }

  void reorder() {
    std::vector<std::size_t> order;
    std::vector<bool> moved(nodes_.size(), false);
    for (const auto& there : place_) {
      for (const std::size_t i : there) moved[i] = true;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::size_t other : place_[i]) order.push_back(other);
      if (!gone_[i] && !moved[i]) order.push_back(i);
    }
    std::vector<std::size_t> at(nodes_.size(), nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) at[order[i]] = i;
    std::vector<WorkloadNode> nodes;
    Needs needs;
    for (const std::size_t i : order) {
      nodes.push_back(nodes_[i]);
      std::vector<std::size_t> own;
      for (const std::size_t need : needs_[i]) {
        if (at[need] < nodes_.size()) own.push_back(at[need]);
      }
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      needs.push_back(std::move(own));
    }
    nodes_ = std::move(nodes);
    needs_ = std::move(needs);
  }

  std::vector<WorkloadNode>& nodes_;
  Needs& needs_;
  std::vector<std::vector<std::size_t>> place_;  // what stands where an edge stood
  std::vector<bool> gone_;
};

// Kernels in their order, and what the host does between them, where it does not run beside them.
class Order {
 public:
  explicit Order(StageOrder& out)
      : out_(out), place_(out.nodes.size(), 0), late_(out.nodes.size(), false) {}

  void build() {
    for (const WorkloadNode& node : out_.nodes) {
      if (node.kind == NodeKind::compute) begins_.push_back(node.start);
    }
    out_.places.resize(begins_.size() + 1);
    hosts_.resize(out_.places.size());
    std::size_t kernels = 0, receive_before = 0;
    for (std::size_t i = 0; i < out_.nodes.size(); ++i) {
      const WorkloadNode& node = out_.nodes[i];
      for (const std::size_t need : out_.needs[i]) place_[i] = std::max(place_[i], place_[need]);
      if (node.kind == NodeKind::compute) {
        out_.places[kernels].kernel = i;
        place_[i] = ++kernels;
      } else if (node.kind == NodeKind::host) {
        place_[i] = std::max(place_[i], end_of_host(node, kernels));
        late_[i] = true;
        hosts_[place_[i]].push_back(i);
      } else {
        // The receive of a slot stands where the slot before it begins.
        if (node.stream == WorkloadNode::kNoStream && node.group == Group::pp) {
          place_[i] = std::max(place_[i], std::exchange(receive_before, kernels));
        }
        StageOrder::Place& place = out_.places[place_[i]];
        (follows_host(i) ? place.calls : place.early).push_back(i);
      }
    }
    for (std::size_t p = 0; p < out_.places.size(); ++p) set_idle(p);
  }

 private:
  // The first kernel from there on that begins when the host is done.
  std::size_t end_of_host(const WorkloadNode& host, std::size_t from) const {
    while (from < begins_.size() && begins_[from] + kAtOnce < end_of(host)) ++from;
    return from;
  }

  // Whether the call can be handed over only when the host before the same kernel is done.
  bool follows_host(std::size_t call) {
    for (const std::size_t need : out_.needs[call]) {
      if (late_[need] && place_[need] == place_[call]) late_[call] = true;
    }
    return late_[call];
  }

  // How much later than the kernel before it the host is done; calls go on meanwhile.
  void set_idle(std::size_t p) {
    Seconds busy = p > 0 ? end_of(out_.nodes[*out_.places[p - 1].kernel]) : Seconds(0);
    for (const std::size_t host : hosts_[p]) {
      const Seconds begin = std::max(busy, out_.nodes[host].start), end = end_of(out_.nodes[host]);
      if (!(end > begin)) continue;
      out_.places[p].idle += end - begin;
      busy = end;
    }
  }

  StageOrder& out_;
  std::vector<std::size_t> place_;               // of each node; of a kernel the one behind it
  std::vector<bool> late_;                       // the host, and calls that wait for it
  std::vector<Seconds> begins_;                  // of kernels
  std::vector<std::vector<std::size_t>> hosts_;  // before each kernel, and behind the last
};

}  // namespace

StageOrder order_of_stage(const std::vector<WorkloadNode>& nodes) {
  StageOrder out;
  out.nodes = nodes;
  for (const WorkloadNode& node : nodes) {
    std::vector<std::size_t>& needs = out.needs.emplace_back();
    for (const std::uint32_t need : node.needs) needs.push_back(need - 1);
    if (node.behind != 0) needs.push_back(node.behind - 1);
  }
  Edges(out.nodes, out.needs).join();
  Order(out).build();
  return out;
}

}  // namespace headway
