#include "cluster/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/load.hpp"

namespace headway {
namespace {

std::optional<std::string> set(const char* name, const char* text, Cluster& cluster) {
  const auto settings = machine_settings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const MachineSetting& each) { return each.name == name; });
  return found->set(text, cluster);
}

Cluster with(const char* cluster, const char* name, const char* text) {
  Cluster out = load_cluster(cluster).value();
  const auto wrong = set(name, text, out);
  EXPECT_FALSE(wrong) << *wrong;
  return out;
}

TEST(MachineSettings, PowerAndMemoryOfAnAcceleratorAreThoseThatAreGiven) {
  const Cluster capped = with("dgx-h100", "board-power", "500 W");
  EXPECT_EQ(capped.accelerator.power_limit(), Watts(500));
  EXPECT_EQ(capped.accelerator.tdp, Watts(700));
  EXPECT_EQ(with("dgx-a100-40gb", "board-power", "250 W").accelerator.power_limit(), Watts(250));
  EXPECT_EQ(with("dgx-h100", "memory-bandwidth", "2.04 TB/s").accelerator.memory_bandwidth,
            BytesPerSecond(2.04e12));
}

// Eight share a node: 8 cards of 200 Gb/s are 25 GB/s each; 4 of 400 Gb/s as well, of which one
// accelerator alone drives one, 50 GB/s.
TEST(MachineSettings, CardsOfANodeAreSharedByItsAccelerators) {
  const auto outside = [](const char* text) {
    return with("dgx-h100", "network-bandwidth", text).levels[1];
  };
  EXPECT_DOUBLE_EQ(outside("8 x 200 Gb/s").bandwidth.value(), 25e9);
  EXPECT_DOUBLE_EQ(outside("8 x 200 Gb/s").port_bandwidth.value(), 25e9);
  EXPECT_DOUBLE_EQ(outside("4 x 400 Gb/s").bandwidth.value(), 25e9);
  EXPECT_DOUBLE_EQ(outside("4 x 400 Gb/s").port_bandwidth.value(), 50e9);
  EXPECT_EQ(outside("4 x 400 Gb/s").nics, 4);
  EXPECT_DOUBLE_EQ(outside("12.5 GB/s").bandwidth.value(), 12.5e9);
  // As the cluster states its own.
  EXPECT_EQ(outside("8 x 400 Gb/s").bandwidth,
            load_cluster("dgx-h100").value().levels[1].bandwidth);
  // Links inside a node are others.
  EXPECT_EQ(with("dgx-h100", "network-bandwidth", "25 GB/s").levels[0].bandwidth,
            BytesPerSecond(450e9));
}

// Of a spine with half the bandwidth of its rails it stays half.
TEST(MachineSettings, LevelsFurtherOutFollowInProportion) {
  Cluster cluster = load_cluster("dgx-h100").value();
  Level spine = cluster.levels[1];
  cluster.levels[1].size = 256;
  spine.name = "spine";
  spine.bandwidth = spine.port_bandwidth = BytesPerSecond(25e9);
  cluster.levels.push_back(spine);
  ASSERT_FALSE(set("network-bandwidth", "100 GB/s", cluster));
  EXPECT_DOUBLE_EQ(cluster.levels[1].bandwidth.value(), 100e9);
  EXPECT_DOUBLE_EQ(cluster.levels[2].bandwidth.value(), 50e9);
}

// The class brings the latency that it has in built-in clusters (EFA of p4d: 15 us; InfiniBand 4),
// and leaves the rate.
TEST(MachineSettings, AnotherNetworkHasItsLatencyAndTheRateOfTheCluster) {
  const Level before = load_cluster("dgx-a100-80gb").value().levels[1];
  const Level after = with("dgx-a100-80gb", "network", "efa-v1").levels[1];
  EXPECT_EQ(after.network, "efa-v1");
  EXPECT_DOUBLE_EQ(after.latency.value(), 15e-6);
  EXPECT_EQ(after.bandwidth, before.bandwidth);
  EXPECT_EQ(with("dgx-a100-80gb", "network", "ib-hdr").levels[1].latency, before.latency);
}

TEST(MachineSettings, SayWhatIsWrongAndLeaveTheClusterAlone) {
  const Cluster before = load_cluster("dgx-h100").value();
  const std::pair<const char*, const char*> wrongs[] = {{"board-power", "500"},
                                                        {"board-power", "50 W"},
                                                        {"board-power", "5 kW"},
                                                        {"board-power", ""},
                                                        {"memory-bandwidth", "2 GB/s"},
                                                        {"memory-bandwidth", "fast"},
                                                        {"network", "carrier-pigeon"},
                                                        {"network", "nvlink4"},
                                                        {"network-bandwidth", "0 x 400 Gb/s"},
                                                        {"network-bandwidth", "8 x 400"},
                                                        {"network-bandwidth", "x 400 Gb/s"},
                                                        {"network-bandwidth", "400 TB/s"},
                                                        {"network-bandwidth", "0 GB/s"}};
  for (const auto& [name, text] : wrongs) {
    Cluster cluster = before;
    EXPECT_TRUE(set(name, text, cluster)) << name << " " << text;
    EXPECT_EQ(cluster.accelerator.power_limit(), before.accelerator.power_limit());
    EXPECT_EQ(cluster.accelerator.memory_bandwidth, before.accelerator.memory_bandwidth);
    EXPECT_EQ(cluster.levels[1].bandwidth, before.levels[1].bandwidth);
    EXPECT_EQ(cluster.levels[1].network, before.levels[1].network);
  }
  Cluster cluster = before;
  const auto said = set("network", "infiniband", cluster);
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("ib-ndr"), std::string::npos) << *said;
}

}  // namespace
}  // namespace headway
