#include "fit/collectives/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "cost/calibration/step_constants.hpp"
#include "fit/collectives/traced.hpp"
#include "trace/trace_files_for_test.hpp"

namespace headway {
namespace {

// The times that the model gives with these constants, as an nccl-tests log of `nodes` hosts.
std::string log_of(CollectiveOp op, std::int64_t nodes, const Cluster& cluster,
                   const LevelParameters& truth) {
  static constexpr const char* kPrograms[] = {"all_reduce", "all_gather", "reduce_scatter",
                                              "alltoall",   "broadcast",  "sendrecv"};
  const std::int64_t ranks = 8 * nodes;
  std::string text = std::string("./build/") + kPrograms[static_cast<int>(op)] +
                     "_perf -b 1K -e 8G\n# nThread 1 nGpus 8 minBytes 1024\n";
  char line[200];
  for (std::int64_t r = 0; r < ranks; ++r) {
    std::snprintf(line, sizeof line,
                  "#  Rank %2d Group  0 Pid 1 on host%d device %2d [0x00] H100\n",
                  static_cast<int>(r), static_cast<int>(r / 8), static_cast<int>(r % 8));
    text += line;
  }
  text +=
      "#   size   count   type   redop   root   time   algbw   busbw  #wrong   time   algbw   "
      "busbw  #wrong\n";
  const GroupSpan span = benchmark_span(ranks, nodes, cluster);
  for (double bytes = 1024; bytes <= 8e9; bytes *= 2) {
    const double us = collective_time(op, Bytes(bytes), span, cluster, truth).value() * 1e6;
    const bool sums = op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter;
    // The elements of one rank's part, but of an all-reduce; an all-to-all is not checked in place.
    const double part = op == CollectiveOp::all_reduce ? 1 : static_cast<double>(ranks);
    const char* checked = op == CollectiveOp::all_to_all ? "N/A" : "0";
    const double rate = bytes / us / 1e3;  // GB/s
    const double bus = rate * bus_factor(*operation_from(to_name(op)), static_cast<double>(ranks));
    std::snprintf(line, sizeof line, "%.0f %.0f float %s -1 %.4f %.2f %.2f 0 %.4f %.2f %.2f %s\n",
                  bytes, bytes / 4 / part, sums ? "sum" : "none", us, rate, bus, us, rate, bus,
                  checked);
    text += line;
  }
  return text;
}

Cluster cluster_of(const char* name) {
  const auto cluster = load_cluster(name);
  EXPECT_TRUE(cluster.ok());
  return *cluster;
}

LevelParameters parameters_of(const Cluster& cluster) {
  LevelParameters out;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    out[i] = network_parameters_for(cluster.levels[i]).value();
  }
  return out;
}

double worst(const LoggedFit& fit) {
  double out = 0;
  for (const LoggedError& error : fit.errors) out = std::max(out, error.after.median);
  return out;
}

bool warns(const LoggedFit& fit, std::string_view what) {
  return std::any_of(fit.warnings.begin(), fit.warnings.end(), [&](const std::string& warning) {
    return warning.find(what) != std::string::npos;
  });
}

TEST(CollectiveLog, FindsTheConstantsThatMadeTheLogsOfOneAndTwoNodes) {
  // [REC-8] The network reaches 60 % of its rate instead of what the class does, and its first
  // flag takes 40 us.
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters truth = parameters_of(cluster);
  truth[1].bandwidth_efficiency = 0.6;
  truth[1].tree_efficiency = 0.55;  // a tree moves no more than a ring
  truth[1].base_latency = Seconds(40e-6);
  std::vector<Recording> logs;
  for (const std::int64_t nodes : {1, 2, 4}) {
    for (const auto op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                          CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
      logs.push_back(read_text(log_of(op, nodes, cluster, truth)));
      ASSERT_EQ(logs.back().groups.front().nodes, nodes);
    }
  }
  const auto logged = logged_collectives(logs, cluster);
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  EXPECT_LT(worst(fit), 0.05) << to_text(fit);
  ASSERT_TRUE(fit.fit.classes.count("fabric"));
  const NetworkParameters& fitted = fit.fit.classes.at("fabric").parameters;
  EXPECT_NEAR(fitted.bandwidth_efficiency, 0.6, 0.02);
  EXPECT_NEAR(fitted.base_latency.value(), 40e-6, 10e-6);
  EXPECT_TRUE(warns(fit, "measured on at most 4 nodes")) << to_text(fit);
}

TEST(CollectiveLog, SetsOnACloneOfTheClusterWhatCallsOfAStepWouldTakeAlone) {
  // [REC-11] Calls at 0.6 of the rate in a step, where calls reach a share of what they do alone.
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters truth = parameters_of(cluster);
  truth[1].bandwidth_efficiency = 0.6;
  const double in_step = step_constants()->network(cluster.levels[1].network).in_step;
  Cluster fitted = cluster;
  const Recording recording = read_text(log_of(CollectiveOp::all_gather, 2, cluster, truth));
  const std::vector<bool> levels = fit_network_to(fitted, recording, align(recording));
  EXPECT_EQ(levels, (std::vector<bool>{false, true}));
  const NetworkParameters found = network_parameters_for(fitted.levels[1]).value();
  EXPECT_NEAR(found.bandwidth_efficiency * in_step, 0.6, 0.03);
  EXPECT_EQ(network_parameters_for(fitted.levels[0]).value().bandwidth_efficiency,
            parameters_of(cluster)[0].bandwidth_efficiency);
}

TEST(CollectiveLog, SaysWhichClassOfSizesTheFitMakesWorseWithBothNumbers) {
  // [REC-10] All-gather and reduce-scatter are the same ring with the same constants. Where
  // all-gather lasts as the cluster says and reduce-scatter four times as long, the fit cannot
  // serve both.
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters slow = parameters_of(cluster);
  slow[0].base_latency = 4 * slow[0].base_latency;
  slow[0].ring_step = 4 * slow[0].ring_step;
  slow[0].bandwidth_efficiency /= 4;
  slow[0].tree_efficiency /= 4;
  const std::vector<Recording> logs = {
      read_text(log_of(CollectiveOp::all_gather, 1, cluster, parameters_of(cluster))),
      read_text(log_of(CollectiveOp::reduce_scatter, 1, cluster, slow)),
      read_text(log_of(CollectiveOp::broadcast, 1, cluster, slow))};
  const auto logged = logged_collectives(logs, cluster);
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  std::size_t worse = 0;
  for (const LoggedError& error : fit.errors) {
    char said[300];
    std::snprintf(said, sizeof said,
                  "makes %s of %s across the level node worse: median error from %.1f to %.1f %% "
                  "over %zu sizes",
                  std::string(to_name(error.op)).c_str(),
                  std::string(kLoggedSizeNames[static_cast<std::size_t>(error.size)]).c_str(),
                  100 * error.before.median, 100 * error.after.median, error.after.rows);
    char before[16], after[16];  // as they are shown
    std::snprintf(before, sizeof before, "%.1f", 100 * error.before.median);
    std::snprintf(after, sizeof after, "%.1f", 100 * error.after.median);
    const bool grew = std::stod(after) > std::stod(before);
    EXPECT_EQ(warns(fit, said), grew) << said << to_text(fit);
    EXPECT_TRUE(!grew || error.op == CollectiveOp::all_gather) << said;
    worse += grew ? 1 : 0;
  }
  EXPECT_GE(worse, 1u) << to_text(fit);
  EXPECT_NE(to_text(fit).find("note: the fit makes all_gather of "), std::string::npos);
}

// Exchanges here last as on links of which they reach half of what rings do.
TEST(CollectiveLog, LogsOfAllToAllsBesideGathersTakeNothingFromTheGathers) {
  const Cluster cluster = cluster_of("dgx-h100");
  const LevelParameters rings = parameters_of(cluster);
  LevelParameters exchanges = rings;
  exchanges[0].bandwidth_efficiency /= 2;
  const std::vector<Recording> logs = {
      read_text(log_of(CollectiveOp::all_gather, 1, cluster, rings)),
      read_text(log_of(CollectiveOp::all_to_all, 1, cluster, exchanges))};
  const auto logged = logged_collectives(logs, cluster);
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  const NetworkParameters& fitted = fit.fit.classes.at("node").parameters;
  EXPECT_NEAR(fitted.bandwidth_efficiency, rings[0].bandwidth_efficiency, 0.01) << to_text(fit);
  EXPECT_NEAR(fitted.exchange_ratio, 0.5, 0.01) << to_text(fit);
  EXPECT_LT(worst(fit), 0.01) << to_text(fit);
  // Alone they say nothing of rings.
  const auto alone = logged_collectives(std::span(logs).subspan(1, 1), cluster);
  ASSERT_TRUE(alone.ok());
  const LoggedFit of_exchanges = fit_logged(*alone);
  EXPECT_EQ(of_exchanges.fit.classes.at("node").parameters.bandwidth_efficiency,
            rings[0].bandwidth_efficiency);
  EXPECT_TRUE(warns(of_exchanges, "determines bandwidth_efficiency")) << to_text(of_exchanges);
  EXPECT_LT(worst(of_exchanges), 0.01) << to_text(of_exchanges);
  // Short ones say nothing of a bandwidth.
  LoggedCollectives brief = *logged;
  std::erase_if(brief.data.rows, [](const CollectiveMeasurement& row) {
    return row.op == CollectiveOp::all_to_all && row.bytes > Bytes(1 << 20);
  });
  EXPECT_TRUE(warns(fit_logged(brief), "determines exchange_ratio"));
}

TEST(CollectiveLog, WhatIsSaidOfRanksOnANodeHoldsOverTheHostsThatALogLists) {
  const Cluster cluster = cluster_of("dgx-h100");
  const LevelParameters truth = parameters_of(cluster);
  const std::vector<Recording> logs = {
      read_text(log_of(CollectiveOp::all_gather, 2, cluster, truth))};  // hosts of 8
  const auto listed = logged_collectives(logs, cluster),
             said = logged_collectives(logs, cluster, 4);
  ASSERT_TRUE(listed.ok() && said.ok());
  EXPECT_EQ(listed->data.rows.front().nodes, 2);
  EXPECT_EQ(said->data.rows.front().nodes, 4);
  EXPECT_EQ(said->data.rows.front().span.members[0], 4);
}

TEST(CollectiveLog, TheTraysOfARackAreOneDomain) {
  // 72 ranks on 18 hosts of 4, as the rank lines of a log on GB200 NVL72 have them.
  const Cluster rack = cluster_of("gb200-nvl72");
  Recording log;
  log.groups = {{"all 72 ranks", {}, 72, {}}};
  log.groups[0].nodes = 18;
  rank_index(log, "all ranks");
  RecordedCall call;
  call.op = Operation::all_reduce;
  call.group = 0;
  call.bytes = Bytes(1 << 20);
  call.duration = Seconds(50e-6);
  call.time = TimeKind::benchmark;
  log.calls = {call};
  const auto logged = logged_collectives(std::span(&log, 1), rack);
  ASSERT_TRUE(logged.ok());
  EXPECT_EQ(logged->data.rows.front().nodes, 1);
  EXPECT_EQ(logged->data.rows.front().span.members[0], 72);
}

TEST(CollectiveLog, OfAFitThatServesAllClassesNoneIsCalledWorse) {
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters truth = parameters_of(cluster);
  truth[0].bandwidth_efficiency *= 0.7;
  std::vector<Recording> logs;
  for (const auto op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    logs.push_back(read_text(log_of(op, 1, cluster, truth)));
  }
  const auto logged = logged_collectives(logs, cluster);
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  EXPECT_FALSE(warns(fit, "worse")) << to_text(fit);
}

TEST(CollectiveLog, TheWrittenClusterPredictsWhatTheFitDoes) {
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters truth = parameters_of(cluster);
  truth[0].bandwidth_efficiency *= 0.7;
  truth[0].in_network_efficiency *= 0.7;
  std::vector<Recording> logs;
  for (const auto op : {CollectiveOp::all_reduce, CollectiveOp::all_gather}) {
    logs.push_back(read_text(log_of(op, 1, cluster, truth)));
  }
  const auto logged = logged_collectives(logs, cluster);
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  const std::string toml =
      to_cluster_toml(fit, cluster, "dgx-h100", {"a \"quoted\" log"}, "2026-11-21");
  const auto written = parse_cluster(toml, "mine.toml");
  ASSERT_TRUE(written.ok()) << toml << written.problems().front().message;
  const auto own = network_parameters_for(written->levels[0]);
  ASSERT_TRUE(own.ok());
  EXPECT_NEAR(own->bandwidth_efficiency, fit.fit.classes.at("node").parameters.bandwidth_efficiency,
              1e-3);
  EXPECT_NE(written->source.find("fitted on a \"quoted\" log"), std::string::npos);
  // Nothing was measured between nodes: the class of the base holds there.
  EXPECT_EQ(network_parameters_for(written->levels[1])->bandwidth_efficiency,
            network_parameters_for(cluster.levels[1])->bandwidth_efficiency);
  EXPECT_TRUE(warns(fit, "no group of the logs crosses the level fabric"));  // [REC-9]
  EXPECT_TRUE(warns(fit, "message_hop"));                                    // no all-to-all
}

TEST(CollectiveLog, AConstantThatIsNoneIsReportedWithItsLine) {
  const auto cluster = parse_cluster(
      "base = \"dgx-h100\"\nsource = \"test\"\n[levels.node.constants]\nbandwidth_efficiency = 7\n"
      "ring_hops = 2\n",
      "mine.toml");
  ASSERT_TRUE(cluster.ok());
  const auto parameters = network_parameters_for(cluster->levels[0]);
  ASSERT_FALSE(parameters.ok());
  ASSERT_EQ(parameters.problems().size(), 2u);
  EXPECT_EQ(where_text(parameters.problems()[0]),
            "mine.toml:4: levels.node.constants.bandwidth_efficiency");
  EXPECT_NE(parameters.problems()[1].message.find("ring_hop"), std::string::npos);
}

// All ranks are there, and yet no transfer: nothing more of them would help.
TEST(CollectiveLog, TimesOnTheHostAreRefusedAsWhatTheyAre) {
  Recording log;
  log.groups = {{"both ranks", {0, 1}, 2, {}}};
  for (const char* rank : {"rank 0", "rank 1"}) {
    RecordedCall call;
    call.rank = rank_index(log, rank);
    call.op = Operation::all_reduce;
    call.group = 0;
    call.bytes = Bytes(1 << 20);
    call.duration = Seconds(50e-6);
    call.time = TimeKind::host;
    log.calls.push_back(call);
  }
  const auto logged = logged_collectives(std::span(&log, 1), cluster_of("dgx-h100"));
  ASSERT_FALSE(logged.ok());
  const std::string& said = logged.problems()[0].message;
  EXPECT_NE(said.find("times on the host are no transfers"), std::string::npos) << said;
  EXPECT_EQ(said.find("kernel times"), std::string::npos) << said;
}

TEST(CollectiveLog, TheTimesOfARepeatedLogCountByTheirMedian) {
  const Cluster cluster = cluster_of("dgx-h100");
  LevelParameters truth = parameters_of(cluster);
  Recording log = read_text(log_of(CollectiveOp::all_reduce, 1, cluster, truth));
  std::vector<Recording> logs = {log, log, log};
  for (RecordedCall& call : logs[1].calls) *call.duration *= 9;  // one disturbed run of three
  const auto logged = logged_collectives(logs, cluster);
  const auto quiet = logged_collectives(std::span(&log, 1), cluster);
  ASSERT_TRUE(logged.ok() && quiet.ok());
  ASSERT_EQ(logged->data.rows.size(), quiet->data.rows.size());
  for (std::size_t i = 0; i < quiet->data.rows.size(); ++i) {
    EXPECT_EQ(logged->data.rows[i].time, quiet->data.rows[i].time);
  }
}

TEST(CollectiveLog, PublicLogsOfEightA100FitWithinTheErrorThatTheDocumentsState) {
  HEADWAY_NEEDS_TRACE("nccl_tests/nccl_allreduce.log");
  std::vector<Recording> logs;
  for (const char* op : {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast"}) {
    logs.push_back(read_public(std::string("nccl_tests/nccl_") + op + ".log"));
  }
  const auto logged = logged_collectives(logs, cluster_of("dgx-a100-40gb"));
  ASSERT_TRUE(logged.ok());
  const LoggedFit fit = fit_logged(*logged);
  ASSERT_TRUE(fit.fit.classes.count("node"));
  EXPECT_LT(fit.fit.classes.at("node").error.median, 0.06) << to_text(fit);
  EXPECT_LT(fit.fit.classes.at("node").error_above_1mib.median, 0.10) << to_text(fit);
  EXPECT_TRUE(warns(fit, "no group of the logs crosses the level fabric"));
}

// Median |log2(predicted/measured)| of Perlmutter's rows of 32 nodes and more, by operation, from a
// fit of those of at most four [REC-9].
std::map<CollectiveOp, double> extrapolated(SizeRange size) {
  const auto loaded = load_collective_data();
  EXPECT_TRUE(loaded.ok());
  CollectiveData few = *loaded, many = *loaded;
  const auto keep = [](CollectiveData& data, auto wanted) {
    std::erase_if(data.rows,
                  [&](const auto& row) { return row.system != "perlmutter" || !wanted(row); });
  };
  keep(few, [](const auto& row) { return row.nodes <= 4; });
  keep(many, [&](const auto& row) { return row.nodes >= 32 && size_range_of(row.bytes) == size; });
  const auto start = estimated_classes(few);
  EXPECT_TRUE(start.ok());
  const auto errors = collective_errors(many, fit_collectives(few, *start).all);
  std::map<CollectiveOp, std::vector<double>> logs;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    logs[many.rows[i].op].push_back(std::abs(std::log2(1 + errors[i])));
  }
  std::map<CollectiveOp, double> out;
  for (auto& [op, values] : logs) {
    out[op] = *quantile(values, 0.5);
    ::testing::Test::RecordProperty(to_name(size) + " " + std::string(to_name(op)),
                                    std::to_string(out[op]));
  }
  return out;
}

TEST(CollectiveLog, BandwidthFittedOnFourNodesHoldsOn32AndMore) {
  const auto errors = extrapolated(SizeRange::above);
  ASSERT_EQ(errors.size(), 3u);  // all-reduce, all-gather, reduce-scatter
  for (const auto& [op, error] : errors) {
    EXPECT_LT(error, 0.20) << to_name(op);
  }
}

TEST(CollectiveLog, LatencyFittedOnFourNodesHoldsWithinAQuarterOn32AndMore) {
  for (const auto& [op, error] : extrapolated(SizeRange::up_to_1mib)) {
    EXPECT_LT(error, 0.33) << to_name(op);
  }
}

}  // namespace
}  // namespace headway
