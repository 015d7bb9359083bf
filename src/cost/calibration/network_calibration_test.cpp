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

}  // namespace
}  // namespace headway
