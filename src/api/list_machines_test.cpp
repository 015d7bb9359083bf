#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/document/document.hpp"
#include "cluster/load.hpp"
#include "limits/load.hpp"
#include "limits/machine/read.hpp"
#include "report/list.hpp"

namespace headway {
namespace {

using JsonTree = nlohmann::json;

std::string line(const char* name, const JsonTree& value, const char* unit) {
  return std::string(name) + " = \"" + value.dump() + unit + "\"\n";
}

// A machine in a file of its own, from the numbers alone.
std::string as_toml(const JsonTree& machine) {
  std::string out = "title = \"again\"\n";
  out += "sustained = " + machine["sustained_share"].dump() + "\n";
  out += "compute_units = " + machine["compute_units"].dump() + "\n";
  out += "register_blocks = " + machine["register_blocks"].dump() + "\n";
  out += line("registers", machine["registers_bytes"], " B");
  out += line("shared_bandwidth", machine["shared_bytes_per_s"], " B/s");
  out += line("l2_bandwidth", machine["l2_bytes_per_s"], " B/s");
  out += line("l2", machine["l2_bytes"], " B");
  out += line("memory_bandwidth", machine["memory_bytes_per_s"], " B/s");
  out += line("memory", machine["memory_bytes"], " B");
  out += line("kernel_latency", machine["kernel_latency_s"], " s");
  out += "[peak]\n";
  for (const auto& [precision, rate] : machine["peak_flop_per_s"].items()) {
    out += line(precision.c_str(), rate, " FLOP/s");
  }
  for (const JsonTree& level : machine["levels"]) {
    out += "[levels." + level["name"].get<std::string>() + "]\n";
    if (!level["size"].is_null()) out += "size = " + level["size"].dump() + "\n";
    out += level["bytes_per_s"].is_null() ? "bandwidth = \"unlimited\"\n"
                                          : line("bandwidth", level["bytes_per_s"], " B/s");
    out += line("latency", level["latency_s"], " s");
  }
  return out +
         "[sources.test]\nsource = \"this test\"\nkind = \"estimated\"\ndate = \"2026\"\n"
         "fields = [\"sustained\", \"compute_units\", \"register_blocks\", \"registers\", "
         "\"shared_bandwidth\", \"l2_bandwidth\", \"l2\", \"memory_bandwidth\", \"memory\", "
         "\"kernel_latency\", \"peak\", \"levels\"]\n";
}

TEST(ListMachines, NumbersDescribeEachMachineAnew) {
  const JsonTree document = JsonTree::parse(machines_json());
  ASSERT_EQ(document["machines"].size(), limits::machine_names().size());
  ASSERT_EQ(document["numbers"].size(), document["machines"].size());
  for (const JsonTree& numbers : document["numbers"]) {
    const std::string name = numbers["name"];
    const auto embedded = limits::embedded_machine(name);
    ASSERT_TRUE(embedded.ok()) << name;
    const auto parsed = parse_toml(as_toml(numbers), name);
    ASSERT_TRUE(parsed.ok()) << as_toml(numbers);
    const auto again = limits::read_machine(*parsed, name);
    ASSERT_TRUE(again.ok()) << name << ": " << where_text(again.problems().front()) << ": "
                            << again.problems().front().message;
    const limits::Gpu& a = embedded->gpu;
    const limits::Gpu& b = again->gpu;
    for (int i = 0; i < kPrecisions; ++i) {
      EXPECT_DOUBLE_EQ(a.peak[i].value(), b.peak[i].value()) << name;
    }
    EXPECT_EQ(a.sustained, b.sustained) << name;
    EXPECT_EQ(a.compute_units, b.compute_units) << name;
    EXPECT_EQ(a.register_blocks, b.register_blocks) << name;
    EXPECT_DOUBLE_EQ(a.registers.value(), b.registers.value()) << name;
    EXPECT_DOUBLE_EQ(a.shared_bandwidth.value(), b.shared_bandwidth.value()) << name;
    EXPECT_DOUBLE_EQ(a.l2_bandwidth.value(), b.l2_bandwidth.value()) << name;
    EXPECT_DOUBLE_EQ(a.l2.value(), b.l2.value()) << name;
    EXPECT_DOUBLE_EQ(a.memory_bandwidth.value(), b.memory_bandwidth.value()) << name;
    EXPECT_DOUBLE_EQ(a.memory.value(), b.memory.value()) << name;
    EXPECT_DOUBLE_EQ(a.kernel_latency.value(), b.kernel_latency.value()) << name;
    ASSERT_EQ(embedded->levels.size(), again->levels.size()) << name;
    for (std::size_t i = 0; i < embedded->levels.size(); ++i) {
      const limits::Level& x = embedded->levels[i];
      const limits::Level& y = again->levels[i];
      EXPECT_EQ(x.name, y.name) << name;
      if (i + 1 < embedded->levels.size()) {
        EXPECT_EQ(x.size, y.size) << name << ' ' << x.name;
      }
      EXPECT_DOUBLE_EQ(x.bandwidth.value(), y.bandwidth.value()) << name << ' ' << x.name;
      EXPECT_DOUBLE_EQ(x.latency.value(), y.latency.value()) << name << ' ' << x.name;
    }
  }
}

// With the numbers of its base a cluster of one's own is its base.
TEST(ListClusters, numbers_describe_each_cluster_anew) {
  const JsonTree document = JsonTree::parse(clusters_json());
  ASSERT_EQ(document["cluster_numbers"].size(), cluster_names().size());
  for (const JsonTree& numbers : document["cluster_numbers"]) {
    const std::string name = numbers["name"];
    std::string own = "base = \"" + name + "\"\nsource = \"this test\"\n[accelerator]\n" +
                      line("memory", numbers["memory_bytes"], " B") +
                      line("memory_bandwidth", numbers["memory_bytes_per_s"], " B/s") +
                      "[accelerator.peak]\n";
    for (const auto& [precision, rate] : numbers["peak_flop_per_s"].items()) {
      own += line(precision.c_str(), rate, " FLOP/s");
    }
    for (const JsonTree& level : numbers["levels"]) {
      own += "[levels." + level["name"].get<std::string>() + "]\n" +
             line("bandwidth", level["bytes_per_s"], " B/s") +
             line("latency", level["latency_s"], " s");
    }
    const auto again = parse_cluster(own, "own.toml");
    ASSERT_TRUE(again.ok()) << own << again.problems().front().message;
    const auto base = load_cluster(name);
    ASSERT_TRUE(base.ok());
    EXPECT_DOUBLE_EQ(again->accelerator.memory.value(), base->accelerator.memory.value()) << name;
    EXPECT_DOUBLE_EQ(again->accelerator.peak_of(Precision::bf16).value(),
                     base->accelerator.peak_of(Precision::bf16).value())
        << name;
    ASSERT_EQ(again->levels.size(), base->levels.size());
    for (std::size_t i = 0; i < base->levels.size(); ++i) {
      EXPECT_DOUBLE_EQ(again->levels[i].bandwidth.value(), base->levels[i].bandwidth.value())
          << name;
      EXPECT_DOUBLE_EQ(again->levels[i].latency.value(), base->levels[i].latency.value()) << name;
      EXPECT_EQ(again->levels[i].size, numbers["levels"][i]["size"].get<std::int64_t>()) << name;
    }
  }
}

// 989.4 TFLOP/s over 3.352 TB/s.
TEST(ListMachines, SaysHowManyFlopsAByteTakes) {
  for (const JsonTree& numbers : JsonTree::parse(machines_json())["numbers"]) {
    if (numbers["memory_bytes_per_s"].is_null()) {
      EXPECT_TRUE(numbers["flop_per_byte"].empty()) << numbers["name"];
      continue;
    }
    for (const auto& [precision, rate] : numbers["peak_flop_per_s"].items()) {
      EXPECT_NEAR(numbers["flop_per_byte"][precision].get<double>() *
                      numbers["memory_bytes_per_s"].get<double>(),
                  rate.get<double>(), 1e-9 * rate.get<double>());
    }
  }
  EXPECT_NE(description_of("accelerators", "h100-sxm").find("bf16 295, fp8 590"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
