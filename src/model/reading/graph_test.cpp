// Neighbourhoods of a graph's nodes and attention over them, against sums by hand.
#include "model/reading/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/count.hpp"
#include "model/reading/load.hpp"
#include "model/says_for_test.hpp"

namespace headway {
namespace {

Result<Model> network(const std::string& graph, const std::string& modules) {
  const auto document = parse_toml("sample = \"node\"\ninput = [64]\n[graph]\n" + graph +
                                       "\n[[block]]\nmodules = [" + modules + "]\n",
                                   "n.toml");
  return model_from_toml(*document, "n");
}

// One kind of node, each with so many edges that a draw finds as many as it asks for.
const char* const kOneKind =
    "target = \"a\"\nfan_out = [4, 2]\nseeds = 1\nfound = [3, 5]\n"
    "nodes = [{ name = \"a\", count = 1000000000 }]\n"
    "relations = [{ from = \"a\", to = \"a\", edges = 1000000000000 }]";

// By the layers of examples/igbh/rgnn.py: of each of 11 relations a matrix, two vectors of
// attention and a bias, in three layers; 2,983 classes.
TEST(Graph, AttentionOfMlperfHasTheParametersOfItsLayers) {  // [MODEL-9]
  const auto model = load_model("r-gat");
  ASSERT_TRUE(model.ok()) << model.problems()[0].message;
  EXPECT_EQ(parameters(*model).total,
            11 * (1024 * 512 + 3 * 512) + 2 * 11 * (512 * 512 + 3 * 512) + 512 * 2983 + 2983);
}

// Nodes with m edges in the mean draw m (1 - (m / (1 + m))^f): with two, at most three of them,
// 2 (1 - (2/3)^3) = 38/27. Twice that of a million nodes are met by 1,000 samples: as many as
// balls fill of urns.
TEST(Graph, DrawsWhatItsMeanDegreesLeaveOfTheFanOut) {  // [MODEL-9]
  reading::Graph graph;
  graph.kinds = {{"a", 1e6}};
  graph.relations = {{0, 0, 2e6}, {0, 0, 2e6}};
  graph.fan_out = {3};
  graph.seeds = 1000;
  const auto hops = reading::hops_of(graph);
  EXPECT_NEAR(hops[1].edges[0], 38.0 / 27, 1e-12);
  const double all = 1 + 2 * 38.0 / 27;
  EXPECT_NEAR(hops[1].nodes[0], 1e3 * (std::exp(-1e-3) - std::exp(-1e-3 * all)), 1e-9);
}

// Three nodes are found by four draws of the sample, five by six of these: the first layer reads
// all nine for the four that the second one reads for the sample, 64 values wide to 16, to 16,
// to 10. What the first layer reads needs no gradient.
TEST(Graph, LayersProjectWhatSendsAndWhatReceives) {  // [MODEL-9]
  const auto model = network(kOneKind,
                             "{ fetch = true }, { graph_attention = 16, heads = 2 }, { "
                             "graph_attention = 16 }, { linear = 10 }");
  ASSERT_TRUE(model.ok()) << model.problems()[0].message;
  const double first = 2 * (9 + 4) * 64.0 * 16, second = 2 * (4 + 1) * 16.0 * 16,
               last = 2 * 16.0 * 10;
  EXPECT_EQ(forward_flops(*model, 1, AttentionFlops::full).value(), first + second + last);
  EXPECT_EQ(network_training_flops(*model).value(), 2 * first + 3 * (second + last));
  const auto& fetched = std::get<NodeFeatures>(model->kinds[0].modules[0].shape);
  EXPECT_EQ(fetched.rows, 9);
  EXPECT_NEAR(fetched.draws, 4 + 3 * 2, 0.02);  // with 1,000 edges, f (f + 1) / 2,000 fewer a node
  EXPECT_TRUE(has_node_features(*model));
  EXPECT_FALSE(has_tables(*model));
}

TEST(Graph, ProblemsAreToldWithTheirPlace) {
  const std::string layers = "{ fetch = true }, { graph_attention = 16 }";
  const auto with = [](std::string from, const std::string& to) {
    std::string graph = kOneKind;
    return graph.replace(graph.find(from), from.size(), to);
  };
  EXPECT_TRUE(says(network(with("target = \"a\"", "target = \"b\""), layers),
                   "n.toml:4: graph.target", "no kind of node"));
  EXPECT_TRUE(says(network(with("[4, 2]", "[]"), layers), "n.toml:5: graph.fan_out", "hop by hop"));
  EXPECT_TRUE(
      says(network(with("[3, 5]", "[3]"), layers), "n.toml:7: graph.found", "each fan-out"));
  EXPECT_TRUE(says(network(with("[3, 5]", "[5, 5]"), layers), "n.toml:7: graph.found", "drawn"));
  EXPECT_TRUE(says(network(kOneKind, layers + ", { graph_attention = 15, heads = 2 }"),
                   "n.toml:11: block[0].modules[2].heads", "divide"));
  EXPECT_TRUE(says(network(kOneKind, "{ graph_attention = 16 }"),
                   "n.toml:11: block[0].modules[0].graph_attention", "fetch"));
  EXPECT_TRUE(says(network(kOneKind, "{ linear = 16 }"), "n.toml:3: graph", "fetch"));
  EXPECT_TRUE(says(network(kOneKind, layers), "n.toml:3: graph", "2 fan-outs"));
  const auto document = parse_toml(
      "sample = \"x\"\ninput = [64]\n[[block]]\nmodules = [{ fetch = true }]\n", "n.toml");
  EXPECT_TRUE(
      says(model_from_toml(*document, "n"), "n.toml:4: block[0].modules[0].fetch", "graph"));
}

// A layer reads another hop than the one before it, so that none of a list is the same.
TEST(Graph, LayersAreNotRepeated) {
  const std::string fetch = "{ fetch = true }";
  EXPECT_TRUE(
      says(network(kOneKind, fetch + ", { group = [{ graph_attention = 16 }], repeat = 2 }"),
           "n.toml:11: block[0].modules[1].group[0].graph_attention", "not repeated"));
  const std::string head = "sample = \"x\"\ninput = [64]\n[graph]\n" + std::string(kOneKind) + "\n";
  const auto document = parse_toml(head + "[[block]]\nmodules = [" + fetch +
                                       "]\n[[block]]\nrepeat = 2\nmodules = "
                                       "[{ graph_attention = 16 }]\n",
                                   "n.toml");
  EXPECT_TRUE(says(model_from_toml(*document, "n"),
                   "n.toml:14: block[1].modules[0].graph_attention", "not repeated"));
}

}  // namespace
}  // namespace headway
