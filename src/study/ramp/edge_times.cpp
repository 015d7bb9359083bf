#include <algorithm>
#include <set>

#include "study/ramp/step_time.hpp"

namespace headway {
namespace {

// The servers of the parts that some edges join.
struct Party {
  std::set<RampServer> servers;
  Bytes bytes;

  void add(RampServer from, RampServer to, Bytes size) {
    servers.insert(from);
    servers.insert(to);
    bytes += size;
  }
  RampExtent extent() const {
    std::set<int> groups, racks, places;
    for (const RampServer& server : servers) {
      groups.insert(server.group);
      racks.insert(server.rack);
      places.insert(server.place);
    }
    return {static_cast<int>(groups.size()), static_cast<int>(racks.size()),
            static_cast<int>(places.size())};
  }
  Seconds time(const RampMachine& machine) const {
    if (servers.size() == 1) return {};
    return ramp_all_reduce_time(machine, bytes, extent(),
                                machine.published ? machine.channel() : machine.node_bandwidth);
  }
};

struct EdgeTimer {
  const RampMachine& machine;
  const StepGraph& graph;
  const RampPlacement& placement;
  std::vector<Seconds> times;

  RampServer server(std::size_t part) const {
    const StepPart& at = graph.parts[part];
    return placement.servers[at.op][static_cast<std::size_t>(at.part)];
  }

  bool symmetric(const std::vector<std::size_t>& edges) const {
    std::vector<RampServer> from, to;
    for (const std::size_t edge : edges) {
      from.push_back(server(graph.edges[edge].from));
      to.push_back(server(graph.edges[edge].to));
    }
    std::sort(from.begin(), from.end());
    std::sort(to.begin(), to.end());
    return from == to;
  }

  void set_together(const std::vector<std::size_t>& edges) {
    Party party;
    for (const std::size_t edge : edges) {
      const PartEdge& at = graph.edges[edge];
      party.add(server(at.from), server(at.to), at.size);
    }
    const Seconds time = party.time(machine);
    for (const std::size_t edge : edges) times[edge] = time;
  }

  void set_group(const std::vector<std::size_t>& edges, bool split) {
    if (edges.empty()) return;
    if (split && symmetric(edges)) return set_together(edges);
    for (const std::size_t edge : edges) {
      times[edge] = one_to_one_time(machine, graph.edges[edge].size);
    }
  }

  void set_exchange(std::size_t edge) {
    const PartEdge& at = graph.edges[edge];
    Party party;
    party.add(server(at.from), server(at.to), 2 * at.size);
    times[edge] = party.time(machine);
  }
};

}  // namespace

std::vector<Seconds> edge_times(const RampMachine& machine, const StepGraph& graph,
                                const RampPlacement& placement) {
  EdgeTimer timer{machine, graph, placement, std::vector<Seconds>(graph.edges.size())};
  // Edges out of each operation's forward parts, into its backward parts.
  std::vector<std::vector<std::size_t>> out_of(graph.split.size()), into(graph.split.size());
  for (std::size_t edge = 0; edge < graph.edges.size(); ++edge) {
    const PartEdge& at = graph.edges[edge];
    const StepPart &from = graph.parts[at.from], &to = graph.parts[at.to];
    if (at.exchange) timer.set_exchange(edge);
    if (!from.backward) out_of[from.op].push_back(edge);
    if (to.backward && !at.exchange) into[to.op].push_back(edge);
  }
  for (std::size_t op = 0; op < graph.split.size(); ++op) {
    timer.set_group(out_of[op], graph.split[op] > 1);
    timer.set_group(into[op], graph.split[op] > 1);
  }
  for (std::size_t edge = 0; edge < graph.edges.size(); ++edge) {
    const PartEdge& at = graph.edges[edge];
    const bool sent = timer.server(at.from) != timer.server(at.to) && at.size > Bytes();
    if (!sent) timer.times[edge] = Seconds();
  }
  return std::move(timer.times);
}

}  // namespace headway
