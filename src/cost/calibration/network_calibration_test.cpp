#include <gtest/gtest.h>

#include <set>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/network_entries.hpp"
#include "platform/embedded.hpp"

namespace headway {
namespace {

Document document(const char* text) {
  const auto parsed = parse_toml(text, "networks.toml");
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : Document{};
}

TEST(NetworkEntries, AFittedFieldReplacesTheEstimateAlsoForThoseThatBorrowIt) {
  const Document estimated = document(
      "[default]\nring_hop = 3.0\n[a]\nring_hop = 5.0\ntree_hop = 6.0\n[b]\nfrom = \"a\"\n");
  const Document fitted = document("[a]\nring_hop = 7.0\n");
  const auto b = network_parameters_from(estimated, &fitted, "b");
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(b->ring_hop, 7);
  EXPECT_EQ(b->tree_hop, 6);
  const auto before = network_parameters_from(estimated, nullptr, "b");
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->ring_hop, 5);
}

TEST(NetworkEntries, AnUnknownClassTakesTheDefault) {
  const Document estimated = document("[default]\nring_hop = 3.0\n");
  const auto parameters = network_parameters_from(estimated, nullptr, "carrier-pigeon");
  ASSERT_TRUE(parameters.ok());
  EXPECT_EQ(parameters->ring_hop, 3);
}

TEST(NetworkEntries, EveryProblemIsReportedWithItsLine) {
  const Document estimated = document(
      "[default]\nbandwidth_efficiency = 1.5\nring_hop = -1\nring_step = \"3 GB\"\nringhop = 1\n");
  const auto parameters = network_parameters_from(estimated, nullptr, "default");
  ASSERT_FALSE(parameters.ok());
  EXPECT_EQ(parameters.problems().size(), 4u);
  for (const Problem& problem : parameters.problems()) {
    EXPECT_NE(where_text(problem).find("networks.toml:"), std::string::npos) << where_text(problem);
  }
}

TEST(NetworkEntries, ACircleOfBorrowingIsAProblem) {
  const Document estimated = document("[default]\nfrom = \"a\"\n[a]\nfrom = \"default\"\n");
  EXPECT_FALSE(network_parameters_from(estimated, nullptr, "default").ok());
}

TEST(NetworkEntries, AnEntryWrittenIsTheEntryRead) {
  NetworkParameters p;
  p.bandwidth_efficiency = 0.625;
  p.base_latency = Seconds(12.5e-6);
  p.tree_half_size = Bytes(96 * 1024);
  const Document written = document(("[default]\n" + network_fields_text(p)).c_str());
  const auto read = network_parameters_from(written, nullptr, "default");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->bandwidth_efficiency, p.bandwidth_efficiency);
  EXPECT_NEAR(read->base_latency.value(), p.base_latency.value(), 1e-12);
  EXPECT_NEAR(read->tree_half_size.value(), p.tree_half_size.value(), 1e-6);
  EXPECT_EQ(read->step_overlap, p.step_overlap);
}

TEST(NetworkCalibration, EveryNetworkOfTheBuiltInClustersHasItsOwnEntryWithASource) {
  const auto text = embedded_file("calibration/networks-estimated.toml");
  ASSERT_TRUE(text.has_value());
  const auto estimated = parse_toml(*text, "networks-estimated.toml");
  ASSERT_TRUE(estimated.ok());
  for (const auto& [name, entry] : *estimated->root.table()) {
    EXPECT_NE(entry.find("source"), nullptr) << name;
    EXPECT_NE(entry.find("kind"), nullptr) << name;
  }
  std::set<std::string> networks;
  for (const std::string& name : cluster_names()) {
    const auto cluster = load_cluster(name);
    ASSERT_TRUE(cluster.ok()) << name;
    for (const Level& level : cluster->levels) {
      EXPECT_NE(estimated->root.find(level.network), nullptr) << name << ": " << level.network;
      EXPECT_TRUE(network_parameters_for(level).ok()) << name << ": " << level.network;
    }
  }
}

// [COLL-2] The sum that NCCL's own tuning has for all-gathers of the Simple protocol through nodes
// (2.30, src/graph/tuning.cc): (nsteps - nInterSteps) · max(intra, 3 · net overhead) +
// nInterSteps · inter, with 3.4 us on NVLink, 14 us on a network, and an overhead of 1 us on hosts
// of Intel's.
TEST(NetworkCalibration, RingsThroughNodesOfH100TakeTheHopsOfNcclsOwnTable) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  LevelParameters p = benchmarked_for(cluster).value().levels;
  for (auto& q : p) q.base_latency = Seconds(0), q.ring_hop = 0, q.short_fraction = 1e-9;
  for (const std::int64_t nodes : {16, 64, 256}) {
    GroupSpan span;
    span.ranks = 8 * nodes;
    span.members = span.sharing = {8, 8 * nodes};
    const double steps = static_cast<double>(8 * nodes - 1),
                 outside = static_cast<double>(nodes - 1);
    const double table = (steps - outside) * 3.4e-6 + outside * 14e-6;
    const Seconds time = collective_time(CollectiveOp::all_gather, Bytes(1), span, cluster, p);
    EXPECT_NEAR(time.value() / table, 1, 0.03) << nodes;
  }
}

// A host of AMD's posts a message in twice the time (3 · 2 us): no hop through a node of DGX A100
// is faster, whatever NVLink needs.
TEST(NetworkCalibration, RingsThroughNodesOfA100WaitForTheHostsOfTheirNetworkCards) {
  const Cluster cluster = load_cluster("dgx-a100-80gb").value();
  LevelParameters p = benchmarked_for(cluster).value().levels;
  for (auto& q : p) q.base_latency = Seconds(0), q.ring_hop = 0, q.short_fraction = 1e-9;
  GroupSpan span;
  span.ranks = 512;
  span.members = span.sharing = {8, 512};
  const Seconds time = collective_time(CollectiveOp::all_gather, Bytes(1), span, cluster, p);
  EXPECT_NEAR(time.value(), 511 * 6e-6, 511 * 0.05e-6);
}

}  // namespace
}  // namespace headway
