#include "study/ramp/step_time.hpp"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// Ranks in descending order of cost: the shortest has the highest.
std::vector<std::size_t> ranks_of(const std::vector<std::size_t>& what,
                                  const std::vector<Seconds>& cost) {
  std::vector<std::size_t> order = what;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost[a] > cost[b]; });
  std::vector<std::size_t> out(cost.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i]] = i;
  return out;
}

struct StepRun {
  const StepGraph& graph;
  bool early = false;                       // an exchange counts as what its target needs
  std::vector<std::size_t> server = {};     // index of each part's
  std::vector<std::size_t> part_rank = {};  // on its server
  std::vector<Seconds> part_left = {}, edge_left = {}, edge_time = {};
  std::vector<std::vector<std::size_t>> out_of = {};  // edges of each part
  std::vector<int> needs = {}, arrived = {};          // edges into each part, exchanges aside
  std::vector<std::vector<std::size_t>> ready = {};   // parts on each server
  std::vector<std::size_t> flows = {}, moves = {};    // ready edges: sent, and on one server
  std::vector<bool> is_flow = {};
  std::size_t parts_done = 0, edges_done = 0;

  void finish_edge(std::size_t edge) {
    ++edges_done;
    const std::size_t to = graph.edges[edge].to;
    if (graph.edges[edge].exchange && !early) return;
    if (++arrived[to] == needs[to]) ready[server[to]].push_back(to);
  }

  void finish_part(std::size_t part) {
    ++parts_done;
    auto& at = ready[server[part]];
    at.erase(std::find(at.begin(), at.end(), part));
    for (const std::size_t edge : out_of[part]) (is_flow[edge] ? flows : moves).push_back(edge);
  }

  // What each server runs next.
  std::vector<std::size_t> chosen() const {
    std::vector<std::size_t> out;
    for (const auto& parts : ready) {
      if (parts.empty()) continue;
      out.push_back(*std::max_element(
          parts.begin(), parts.end(),
          [&](std::size_t a, std::size_t b) { return part_rank[a] < part_rank[b]; }));
    }
    return out;
  }

  // Of two transfers between the same servers the one of the shorter whole time goes first; of
  // equal ones that which ends first. The published code takes one of equal ones by chance (the
  // order of a set of texts), which rarely shows: some other pair of servers then ends first.
  bool before(std::size_t a, std::size_t b) const {
    if (edge_time[a] != edge_time[b]) return edge_time[a] < edge_time[b];
    return edge_left[a] < edge_left[b];
  }

  // What is left of the first transfer of each pair of servers; the least of all pairs.
  Seconds shortest_flow(std::vector<std::size_t>& first_of_pair, std::size_t servers) const {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    first_of_pair.assign(servers * servers, kNone);
    for (const std::size_t edge : flows) {
      std::size_t& first =
          first_of_pair[server[graph.edges[edge].from] * servers + server[graph.edges[edge].to]];
      if (first == kNone || before(edge, first)) first = edge;
    }
    Seconds out = kNever;
    for (const std::size_t edge : first_of_pair) {
      if (edge != kNone) out = std::min(out, edge_left[edge]);
    }
    return out;
  }

  void advance_flows(std::size_t count, Seconds tick) {
    std::vector<std::size_t> ended;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const std::size_t edge = flows[i];
      if (i < count) edge_left[edge] -= std::min(tick, edge_left[edge]);
      if (i < count && edge_left[edge] == Seconds()) {
        ended.push_back(edge);
      } else {
        flows[kept++] = edge;
      }
    }
    flows.resize(kept);
    for (const std::size_t edge : ended) finish_edge(edge);
  }
};

StepRun begun(const RampMachine& machine, const StepGraph& graph, const RampPlacement& placement) {
  StepRun run{.graph = graph, .early = machine.published};
  const std::size_t parts = graph.parts.size();
  for (const StepPart& part : graph.parts) {
    run.server.push_back(
        machine.index(placement.servers[part.op][static_cast<std::size_t>(part.part)]));
    run.part_left.push_back(part.compute);
  }
  run.edge_time = edge_times(machine, graph, placement);
  run.edge_left = run.edge_time;
  // Of equal ones the part that was placed later goes first, as it does in the published code.
  std::vector<std::size_t> placed;
  for (const std::size_t op : placement.order) {
    for (int part = 0; part < graph.split[op]; ++part) {
      placed.push_back(graph.forward[op] + part);
      placed.push_back(graph.backward[op] + part);
    }
  }
  run.part_rank = ranks_of(placed, run.part_left);
  run.out_of.resize(parts);
  run.needs.resize(parts);
  run.arrived.resize(parts);
  run.ready.resize(static_cast<std::size_t>(machine.servers()));
  for (std::size_t edge = 0; edge < graph.edges.size(); ++edge) {
    const PartEdge& at = graph.edges[edge];
    run.out_of[at.from].push_back(edge);
    run.needs[at.to] += at.exchange ? 0 : 1;
    run.is_flow.push_back(run.server[at.from] != run.server[at.to] && at.size > Bytes());
  }
  for (std::size_t part = 0; part < parts; ++part) {
    if (run.needs[part] == 0) run.ready[run.server[part]].push_back(part);
  }
  return run;
}

}  // namespace

std::optional<RampStepTime> ramp_step_time(const RampMachine& machine, const StepGraph& graph,
                                           const RampPlacement& placement) {
  StepRun run = begun(machine, graph, placement);
  RampStepTime out;
  std::vector<std::size_t> pairs, moved;
  while (run.parts_done < graph.parts.size() || run.edges_done < graph.edges.size()) {
    const std::vector<std::size_t> chosen = run.chosen();
    Seconds tick = kNever;
    for (const std::size_t part : chosen) tick = std::min(tick, run.part_left[part]);
    moved.clear();
    std::swap(moved, run.moves);
    const std::size_t flowing = moved.empty() ? run.flows.size() : 0;
    tick = std::min(tick, moved.empty() ? run.shortest_flow(pairs, run.ready.size()) : Seconds());
    if (tick == kNever) return std::nullopt;
    for (const std::size_t part : chosen) {
      run.part_left[part] -= std::min(tick, run.part_left[part]);
      if (run.part_left[part] == Seconds()) run.finish_part(part);
    }
    for (const std::size_t edge : moved) run.finish_edge(edge);
    run.advance_flows(flowing, tick);
    if (flowing > 0) out.communication += tick;
    if (!chosen.empty()) out.computation += tick;
    out.step += tick;
  }
  return out;
}

}  // namespace headway
