#include "study/ramp/machine.hpp"

#include <cmath>

#include "study/ramp/published_for_test.hpp"

namespace headway {
namespace {

// [JOBS-1], by hand: 50 ns of light, 100 ns in and out, 1000 bytes at 1.6e12 / 4.
TEST(RampMachine, OneTransferTakesItsLatencyAndItsBytes) {
  EXPECT_NEAR(one_to_one_time({}, Bytes(1000)).value(), 50e-9 + 200e-9 + 1000 / 4e11, 1e-18);
}

// [JOBS-2] over two places of four groups and four racks, 1000 bytes, two racks contending: the
// published code's own answer.
TEST(RampMachine, AnAllReduceTakesWhatThePublishedCodeSays) {
  const Seconds time = ramp_all_reduce_time({}, Bytes(1000), {4, 4, 2}, BytesPerSecond(4e11), 2);
  EXPECT_NEAR(time.value(), 1.5077824999999998e-06, 1e-9 * time.value());
}

// [JOBS-2], by hand: two servers of two groups send halves twice and add them once.
TEST(RampMachine, AnAllReduceOfTwoSendsHalvesTwiceAndAddsOnce) {
  const Seconds time = ramp_all_reduce_time({}, Bytes(1000), {2, 1, 1}, BytesPerSecond(4e11));
  const double each = 250e-9 + 500 / (4 * 1e11), sum = 500 / 2.0 / (2e12 / 6);
  EXPECT_NEAR(time.value(), 2 * each + sum, 1e-9 * time.value());
}

TEST(RampMachine, OneServerReducesInNoTime) {
  EXPECT_EQ(ramp_all_reduce_time({}, Bytes(1e9), {1, 1, 1}, BytesPerSecond(4e11)), Seconds());
}

TEST(RampMachine, DegreesThatHaveASymmetricBlockAreThoseOfThePublishedCode) {
  std::vector<int> degrees;
  for (int degree = 2; degree <= 16; degree += 2) {
    if (!symmetric_blocks({}, degree).empty()) degrees.push_back(degree);
  }
  EXPECT_EQ(degrees, (std::vector<int>{2, 4, 6, 8, 16}));
}

TEST(RampMachine, EveryPublishedCollectiveIsReproducedTo1e9) {
  const Csv table = workloads_table("pacml_collective.csv");
  if (table.rows.empty()) GTEST_SKIP() << "pacml_collective.csv is not here";
  for (const CsvRow& row : table.rows) {
    const auto number = [&](const char* column) { return number_of(table, row, column); };
    const double rate = number("data_rate_bytes_s");
    RampMachine machine{.groups = static_cast<int>(number("x")),
                        .latency = Seconds(number("latency_s")),
                        .io_latency = Seconds(number("io_latency_s"))};
    machine.node_bandwidth = BytesPerSecond(rate) * machine.groups;
    const Bytes bytes(number("message_bytes"));
    const RampExtent extent{static_cast<int>(number("comm_groups")),
                            static_cast<int>(number("racks")),
                            static_cast<int>(number("node_ids"))};
    const Seconds time = cell_of(table, row, "kind") == "one_to_one"
                             ? one_to_one_time(machine, bytes)
                             : ramp_all_reduce_time(machine, bytes, extent, BytesPerSecond(rate),
                                                    static_cast<int>(number("contending_racks")));
    EXPECT_NEAR(time.value(), number("time_s"), 1e-9 * number("time_s")) << "line " << row.line;
  }
  EXPECT_EQ(table.rows.size(), 96U);
}

}  // namespace
}  // namespace headway
