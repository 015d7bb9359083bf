// A graph of several kinds of nodes, and how much of it a sample's neighbourhood has. Internal to
// src/model/reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "model/modules.hpp"

namespace headway::reading {

/// A sample is one node of the kind `target`, and what is reached from it against the edges.
struct Graph {
  struct Kind {
    std::string name;
    double nodes;
  };
  struct Relation {
    std::size_t from, to;
    double edges;
  };
  std::vector<Kind> kinds;
  std::vector<Relation> relations;
  std::size_t target = 0;
  std::vector<std::int64_t> fan_out;  // edges of each relation that a node draws, hop by hop
  double seeds = 1;                   // of a batch, among which each node is fetched once
  std::vector<std::int64_t> found;    // measured: nodes that each hop finds for one sample; or none
  std::int64_t value_bytes = 2;

  double nodes() const;
  double edges() const;
};

/// Of one sample: nodes by kind that a hop finds, edges by relation that it draws.
struct Hop {
  std::vector<double> nodes;
  std::vector<double> edges;
};

/// Member `graph`; without relations after a problem.
Graph graph_of(Fields fields);

/// [MODEL-9] The sample itself, then a hop for each fan-out.
std::vector<Hop> hops_of(const Graph& graph);

/// The features of all that is reached, of this width.
NodeFeatures features_of(const Graph& graph, std::int64_t width);

/// One relation in a layer of graph attention, of one sample: nodes that send and that receive, and
/// edges between them.
struct RelationWork {
  double sending = 0, receiving = 0, edges = 0;
};
/// Of each relation in the layer that leaves nodes of the first `left` hops.
std::vector<RelationWork> layer_of_graph(const Graph& graph, std::size_t left);
/// Nodes of the first `hops` hops, of all kinds, the sample with them.
double nodes_within(const Graph& graph, std::size_t hops);

}  // namespace headway::reading
