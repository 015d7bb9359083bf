// What holds of every machine, group and call.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cost/collective/machines_for_test.hpp"

namespace headway {
namespace {

using testing::machines::kOps;
using testing::machines::level;
using testing::machines::seconds;
using testing::machines::span;
using testing::machines::two_levels;

double between(double least, double most) {
  const int steps = *rc::gen::inRange(0, 1001);
  return least * std::pow(most / least, steps / 1000.0);
}

LevelParameters any_parameters() {
  LevelParameters all;
  for (auto& p : all) {
    p.bandwidth_efficiency = between(0.3, 1);
    p.exchange_ratio = between(0.1, 3);
    p.tree_efficiency = p.bandwidth_efficiency * between(0.3, 1);
    p.in_network_efficiency = between(0.3, 1);
    p.base_latency = Seconds(between(1e-6, 1e-4));
    p.ring_hop = between(0.1, 10);
    p.ring_step = Seconds(between(1e-7, 1e-4));
    p.ring_step_through = Seconds(between(1e-7, 1e-4));
    p.ring_gap = Seconds(between(1e-7, 1e-4));
    p.step_overlap = between(1e-3, 1);
    p.short_fraction = between(1e-2, 1);
    p.tree_hop = between(0.1, 10);
    p.tree_fill = Seconds(between(1e-7, 1e-3));
    p.tree_half_size = Bytes(between(1e4, 1e8));
    p.message_hop = between(0.1, 10);
  }
  return all;
}

Cluster any_cluster() {
  Cluster cluster = two_levels();
  for (Level& l : cluster.levels) {
    l.bandwidth = BytesPerSecond(between(1e9, 1e12));
    l.port_bandwidth = l.bandwidth * between(1, 8);
    l.latency = Seconds(between(1e-7, 1e-4));
    l.in_network_reduction = *rc::gen::arbitrary<bool>();
    l.topology = *rc::gen::element(Topology::switched, Topology::ring, Topology::mesh);
  }
  return cluster;
}

GroupSpan any_span() {
  const std::int64_t per_node = *rc::gen::element(1, 2, 4, 8);
  return span(per_node, *rc::gen::inRange(1, 300), *rc::gen::element(0, 4, 8));
}

CollectiveOp any_op() {
  return kOps[static_cast<std::size_t>(*rc::gen::inRange(0, 6))];
}
double any_bytes() {
  return between(1, 1e12);
}

constexpr double kRounding = 1 + 1e-12;

RC_GTEST_PROP(CollectiveProperties, MoreBandwidthIsNeverSlower, ()) {
  Cluster cluster = any_cluster();
  const auto p = any_parameters();
  const auto group = any_span();
  const auto op = any_op();
  const double bytes = any_bytes(), before = seconds(op, bytes, group, cluster, p);
  Level& wider = cluster.levels[static_cast<std::size_t>(*rc::gen::inRange(0, 2))];
  const double factor = between(1, 10);
  wider.bandwidth *= factor;
  wider.port_bandwidth *= factor;
  RC_ASSERT(seconds(op, bytes, group, cluster, p) <= before * kRounding);
}

RC_GTEST_PROP(CollectiveProperties, DoublingEveryRateHalvesTheTime, ()) {
  Cluster cluster = any_cluster();
  auto p = any_parameters();
  const auto group = any_span();
  const auto op = any_op();
  const double bytes = any_bytes(), before = seconds(op, bytes, group, cluster, p);
  RC_PRE(before > 0);
  for (Level& l : cluster.levels) l.bandwidth *= 2, l.port_bandwidth *= 2, l.latency /= 2;
  for (auto& q : p)
    q.base_latency /= 2, q.ring_step /= 2, q.ring_step_through /= 2, q.ring_gap /= 2,
        q.tree_fill /= 2;
  RC_ASSERT(std::abs(seconds(op, bytes, group, cluster, p) * 2 / before - 1) < 1e-9);
}

RC_GTEST_PROP(CollectiveProperties, MoreBytesAreNeverFaster, ()) {
  const Cluster cluster = any_cluster();
  const auto p = any_parameters();
  const auto group = any_span();
  const auto op = any_op();
  const double bytes = any_bytes();
  RC_ASSERT(seconds(op, bytes, group, cluster, p) <=
            seconds(op, bytes * between(1, 100), group, cluster, p) * kRounding);
}

RC_GTEST_PROP(CollectiveProperties, MoreNodesAreNeverFaster, ()) {
  Cluster cluster = any_cluster();
  for (Level& l : cluster.levels) {
    // A larger part of a mesh has more links; a switch that sums has no depth.
    l.topology = Topology::switched;
    l.in_network_reduction = false;
  }
  const auto p = any_parameters();
  const auto op = any_op();
  const std::int64_t per_node = *rc::gen::element(1, 2, 4, 8);
  const std::int64_t nodes = *rc::gen::inRange(1, 200), more = *rc::gen::inRange(0, 200);
  const double bytes = any_bytes();
  // A group in one node does not use the network: compare only groups that do.
  RC_PRE(nodes > 1);
  RC_ASSERT(seconds(op, bytes, span(per_node, nodes), cluster, p) <=
            seconds(op, bytes, span(per_node, nodes + more), cluster, p) * kRounding);
}

RC_GTEST_PROP(CollectiveProperties, ASplitOfALevelIntoEqualOnesChangesNothing, ()) {
  Cluster cluster = any_cluster();
  for (Level& l : cluster.levels) {
    l.topology = Topology::switched;
    l.in_network_reduction = false;
  }
  auto p = any_parameters();
  p[1].ring_step_through = p[1].ring_step;  // the inner part was the level's own, too
  const auto op = any_op();
  RC_PRE(op != CollectiveOp::all_to_all);  // pays its peers' latencies by level, equal in sum
  const std::int64_t per_node = *rc::gen::element(1, 2, 4, 8), nodes = *rc::gen::inRange(33, 200);
  const auto group = span(per_node, nodes, 8);
  const double bytes = any_bytes(), before = seconds(op, bytes, group, cluster, p);
  Cluster split = cluster;  // nodes, then rails of 32 nodes, then all
  split.levels.insert(split.levels.begin() + 1, cluster.levels[1]);
  split.levels[1].size = 8 * 32;
  GroupSpan three = group;
  three.members = {per_node, per_node * 32, group.ranks};
  three.sharing = {8, 8 * 32, 8 * nodes};
  p[2] = p[1];
  RC_ASSERT(std::abs(seconds(op, bytes, three, split, p) / before - 1) < 1e-9);
}

RC_GTEST_PROP(CollectiveProperties, MoreSiblingsAreNeverFaster, ()) {
  const Cluster cluster = any_cluster();
  const auto p = any_parameters();
  const auto op = any_op();
  const std::int64_t per_node = *rc::gen::element(1, 2, 4), nodes = *rc::gen::inRange(1, 100);
  const double bytes = any_bytes();
  RC_ASSERT(seconds(op, bytes, span(per_node, nodes), cluster, p) <=
            seconds(op, bytes, span(per_node, nodes, 8), cluster, p) * kRounding);
}

RC_GTEST_PROP(CollectiveProperties, WithoutLatencyAllReduceIsNoFasterThanItsHalves, ()) {
  Cluster cluster = any_cluster();
  for (Level& l : cluster.levels) l.in_network_reduction = false;
  auto p = any_parameters();
  for (auto& q : p) {
    q.base_latency = q.ring_step = q.ring_step_through = q.ring_gap = q.tree_fill = Seconds(0);
    q.ring_hop = q.tree_hop = 0;
  }
  const auto group = any_span();
  const double bytes = any_bytes();
  const double whole = seconds(CollectiveOp::all_reduce, bytes, group, cluster, p);
  for (const auto half : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    RC_ASSERT(seconds(half, bytes, group, cluster, p) <= whole * kRounding);
  }
}

}  // namespace
}  // namespace headway
