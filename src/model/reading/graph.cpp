#include "model/reading/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"

namespace headway::reading {
namespace {

constexpr std::int64_t kMostOfGraph = 1'000'000'000'000;  // nodes, edges, seeds
constexpr std::int64_t kMostFanOut = 1'000'000;
constexpr std::size_t kMostHops = 16, kMostKinds = 1'000;

std::size_t kind_named(Fields& fields, std::string_view key, const Graph& graph) {
  const std::string name = fields.text(key);
  const auto found = std::find_if(graph.kinds.begin(), graph.kinds.end(),
                                  [&](const Graph::Kind& kind) { return kind.name == name; });
  if (found != graph.kinds.end()) return static_cast<std::size_t>(found - graph.kinds.begin());
  fields.fail(key, "is '" + printable(name) + "', which is no kind of node");
  return 0;
}

// Of so many draws for one sample, nodes of a kind that its batch has once: each as likely as the
// others.
double distinct(const Graph& graph, std::size_t kind, double draws) {
  const double nodes = graph.kinds[kind].nodes;
  return nodes * -std::expm1(-graph.seeds * draws / nodes) / graph.seeds;
}

// Edges that a node draws, at most `fan_out` of its own, of which only the mean number is known:
// the geometric distribution is, of all with that mean, the one of greatest entropy.
double drawn(double mean, std::int64_t fan_out) {
  return -mean * std::expm1(static_cast<double>(fan_out) * std::log(mean / (1 + mean)));
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// [MODEL-9] Nodes that a hop finds: of a kind that was drawn X times before and x times now as many
// as X + x draws have distinct more than X have; or measured, of each kind the same share of x.
std::vector<double> found(const Graph& graph, std::size_t hop, const std::vector<double>& draws,
                          std::vector<double>& before) {
  std::vector<double> out(graph.kinds.size(), 0.0);
  const bool measured = hop < graph.found.size();
  const double share = measured ? static_cast<double>(graph.found[hop]) / sum(draws) : 1;
  for (std::size_t kind = 0; kind < out.size(); ++kind) {
    const double all = before[kind] + draws[kind];
    out[kind] = measured ? share * draws[kind]
                         : distinct(graph, kind, all) - distinct(graph, kind, before[kind]);
    before[kind] = all;
  }
  return out;
}

// What is measured finds no more nodes than there are draws.
void read_found(Fields& fields, Graph& graph) {
  graph.found = fields.naturals_or_empty("found");
  if (graph.found.empty()) return;
  if (graph.found.size() != graph.fan_out.size()) {
    return fields.fail("found", "must hold a number of nodes for each fan-out");
  }
  for (const Hop& hop : hops_of(graph)) {
    if (hop.edges.empty() || (sum(hop.nodes) > 0 && sum(hop.nodes) <= sum(hop.edges))) continue;
    return fields.fail("found", "must be from 1 to the edges that are drawn, of this hop " +
                                    std::to_string(std::llround(sum(hop.edges))));
  }
}

}  // namespace

double Graph::nodes() const {
  return std::accumulate(kinds.begin(), kinds.end(), 0.0,
                         [](double all, const Kind& kind) { return all + kind.nodes; });
}

double Graph::edges() const {
  return std::accumulate(relations.begin(), relations.end(), 0.0,
                         [](double all, const Relation& relation) { return all + relation.edges; });
}

Graph graph_of(Fields fields) {
  Graph out;
  for (Fields& kind : fields.tables("nodes")) {
    const std::string name = kind.text("name");
    out.kinds.push_back({name, static_cast<double>(bounded(kind, "count", kMostOfGraph))});
    kind.reject_unknown();
  }
  std::vector<Fields> relations = fields.tables("relations");
  if (out.kinds.empty() || out.kinds.size() > kMostKinds || relations.empty() ||
      relations.size() > kMostKinds) {
    fields.fail("", "must have from 1 to 1,000 kinds of nodes, and relations between them");
    return {};
  }
  out.target = kind_named(fields, "target", out);
  for (Fields& relation : relations) {
    const std::size_t from = kind_named(relation, "from", out);
    const std::size_t to = kind_named(relation, "to", out);
    out.relations.push_back(
        {from, to, static_cast<double>(bounded(relation, "edges", kMostOfGraph))});
    relation.reject_unknown();
  }
  out.fan_out = fields.naturals_or_empty("fan_out");
  const bool legal = std::all_of(out.fan_out.begin(), out.fan_out.end(),
                                 [](auto edges) { return edges >= 1 && edges <= kMostFanOut; });
  if (out.fan_out.empty() || out.fan_out.size() > kMostHops || !legal) {
    fields.fail("fan_out", "must hold the edges that a node draws, hop by hop: [15, 10, 5]");
    return {};
  }
  out.seeds = static_cast<double>(bounded(fields, "seeds", kMostOfGraph));
  out.value_bytes = bounded_or(fields, "bytes", 2, 8);
  read_found(fields, out);
  fields.reject_unknown();
  return out;
}

std::vector<Hop> hops_of(const Graph& graph) {
  const std::size_t kinds = graph.kinds.size();
  std::vector<double> before(kinds, 0.0);
  before[graph.target] = 1;
  std::vector<Hop> out = {{before, {}}};
  for (std::size_t hop = 0; hop < graph.fan_out.size(); ++hop) {
    Hop next{std::vector<double>(kinds, 0.0), {}};
    std::vector<double> draws(kinds, 0.0);
    for (const Graph::Relation& relation : graph.relations) {
      const double mean = relation.edges / graph.kinds[relation.to].nodes;
      const double edges = out.back().nodes[relation.to] * drawn(mean, graph.fan_out[hop]);
      next.edges.push_back(edges);
      draws[relation.from] += edges;
    }
    next.nodes = found(graph, hop, draws, before);
    out.push_back(std::move(next));
  }
  return out;
}

NodeFeatures features_of(const Graph& graph, std::int64_t width) {
  NodeFeatures out{
      .nodes = graph.nodes(),
      .edges = graph.edges(),
      .rows = 0,
      .draws = 0,
      .width = width,
      .value_bytes = graph.value_bytes,
      // One that draws and one that finds what is new, of each relation and hop.
      .kernels = static_cast<double>(2 * graph.relations.size() * graph.fan_out.size())};
  for (const Hop& hop : hops_of(graph)) {
    out.rows += sum(hop.nodes);
    out.draws += sum(hop.edges);
  }
  return out;
}

std::vector<RelationWork> layer_of_graph(const Graph& graph, std::size_t left) {
  const std::vector<Hop> hops = hops_of(graph);
  std::vector<RelationWork> out(graph.relations.size());
  for (std::size_t at = 0; at < out.size(); ++at) {
    const Graph::Relation& relation = graph.relations[at];
    for (std::size_t hop = 0; hop <= left + 1; ++hop) {
      out[at].sending += hops[hop].nodes[relation.from];
      if (hop <= left) out[at].receiving += hops[hop].nodes[relation.to];
      if (hop > 0) out[at].edges += hops[hop].edges[at];
    }
  }
  return out;
}

double nodes_within(const Graph& graph, std::size_t hops) {
  const std::vector<Hop> all = hops_of(graph);
  double out = 0;
  for (std::size_t hop = 0; hop <= hops; ++hop) out += sum(all[hop].nodes);
  return out;
}

}  // namespace headway::reading
