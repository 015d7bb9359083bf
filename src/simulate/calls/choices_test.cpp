// Calls of a step by named algorithms, against closed forms on the links that a group has.
#include "simulate/calls/choices.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "run/run.hpp"
#include "simulate/calls/topology_of.hpp"

namespace headway {
namespace {

RequestedRun run_of(std::vector<std::pair<std::string, std::string>> more) {
  RunRequest fields;
  for (const auto& [name, text] :
       {std::pair("model", "llama-2-7b"), std::pair("cluster", "dgx-h100"),
        std::pair("seq", "4096"), std::pair("global-batch", "64")}) {
    fields.emplace_back(name, text);
  }
  for (auto& [name, text] : more) fields.emplace_back(name, text);
  auto made = make_run(fields);
  EXPECT_TRUE(made.ok()) << made.problems().front().message;
  return std::move(made).value();
}

RequestedRun one_node() {
  return run_of({{"gpus", "32"}, {"tp", "8"}});
}

std::vector<CallChoice> choices_of(const std::vector<std::string>& texts) {
  const auto read = read_call_choices(texts);
  EXPECT_TRUE(read.ok());
  return read.ok() ? *read : std::vector<CallChoice>();
}

// [SIM-51] A ring within a node: base + (n-1)(alpha + S/(n b)), alpha and b as fitted for the
// level that the group crosses.
TEST(ChosenCalls, ARingWithinANodeTakesItsClosedForm) {
  const RequestedRun run = one_node();
  const Calibration calibration = calibration_for(run).value();
  const auto found = chosen_calls(choices_of({"tp.all_gather=ring"}), run);
  ASSERT_TRUE(found.ok());
  ASSERT_FALSE(found->empty());
  const Level& node = run.cluster.levels.front();
  const NetworkParameters& p = calibration.levels.front();
  const double alpha = p.ring_hop * node.latency.value() + p.ring_gap.value();
  const double port = node.port_bandwidth > BytesPerSecond(0)
                          ? std::min(node.bandwidth, node.port_bandwidth).value()
                          : node.bandwidth.value();
  for (const ChosenCall& call : *found) {
    const double expected = p.base_latency.value() +
                            7 * (alpha + call.bytes.value() / 8 / (port * p.bandwidth_efficiency));
    EXPECT_NEAR(call.time / Seconds(expected), 1, 1e-9);
    EXPECT_GT(call.priced, Seconds(0));
  }
}

// [SIM-51] Across nodes ranks have a port on each level: the whole gradient by a hierarchy in
// chunks is bound by the slower one, as in the cost of rings.
TEST(ChosenCalls, AHierarchyAcrossNodesIsBoundByTheSlowerLevel) {
  const RequestedRun run = run_of({{"gpus", "32"}, {"zero", "0"}});
  const Calibration calibration = calibration_for(run).value();
  const Step step = lower(run);
  const auto on = network::network_of(step.spans.dp, run.cluster, calibration.levels,
                                      network::TrafficKind::rings);
  ASSERT_TRUE(on.ok());
  EXPECT_EQ(on->on.ranks, 32U);
  EXPECT_EQ(on->on.sizes, (std::vector<std::uint32_t>{8, 4}));
  const auto found = chosen_calls(choices_of({"dp.all_reduce=hierarchical"}), run);
  ASSERT_TRUE(found.ok());
  const ChosenCall& call = found->front();
  // 2 S/8 · 3/4 over a rank's port across nodes.
  const double across = call.bytes.value() / 8 * 2 * 3 / 4 / on->on.links[2].capacity.value();
  EXPECT_GE(call.time.value(), across);
  EXPECT_LE(call.time.value(), call.priced.value() * 2);
}

// Best is not slower than any, and the step takes what is named. (A step may be longer where a call
// is shorter: what overlaps moves.)
TEST(ChosenCalls, SetTheStepsTime) {
  const RequestedRun run = one_node();
  const Calibration calibration = calibration_for(run).value();
  const auto ring = chosen_calls(choices_of({"tp.all_gather=ring"}), run).value();
  const auto best = chosen_calls(choices_of({"tp.all_gather=best"}), run).value();
  ASSERT_EQ(ring.size(), best.size());
  for (std::size_t i = 0; i < ring.size(); ++i) {
    EXPECT_LE(best[i].time, ring[i].time);
    EXPECT_EQ(ring[i].time, ring[i].usual);  // within a node
  }
  EXPECT_NE(simulate_step(run, calibration, {.times = times_of(best)}).step_time,
            simulate_step(run, calibration).step_time);
  // Against the usual one a ring is that, and takes its price.
  EXPECT_NEAR(simulate_step(run, calibration, {.times = times_of(against_usual(ring))}).step_time /
                  simulate_step(run, calibration).step_time,
              1, 1e-12);
  // Times named are the times taken: those of the cost of collectives give the same step.
  auto priced = chosen_calls(choices_of({"tp.all_gather=ring"}), run).value();
  for (ChosenCall& each : priced) each.time = each.priced;
  EXPECT_NEAR(simulate_step(run, calibration, {.times = times_of(priced)}).step_time /
                  simulate_step(run, calibration).step_time,
              1, 1e-12);
}

TEST(ChosenCalls, NameEveryProblemAtOnce) {
  const std::vector<std::string> texts = {"tp.all_reduce=rnig", "pt.all_gather=ring", "dp=ring",
                                          "tp.send_receive=ring", "dp.all_reduce=best"};
  const auto read = read_call_choices(texts);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.problems().size(), 4U);
  EXPECT_NE(read.problems()[0].message.find("ring"), std::string::npos);
  EXPECT_NE(read.problems()[3].message.find("all_to_all"), std::string::npos);
  // What the step does not call, and what an algorithm cannot do there.
  const auto absent =
      chosen_calls(choices_of({"cp.all_gather=ring", "tp.all_gather=rotations"}), one_node());
  ASSERT_FALSE(absent.ok());
  ASSERT_EQ(absent.problems().size(), 2U);
  EXPECT_NE(absent.problems()[0].message.find("tp.all_gather"), std::string::npos);
}

}  // namespace
}  // namespace headway
