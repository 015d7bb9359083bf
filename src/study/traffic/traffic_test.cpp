#include "study/traffic/traffic.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "forecast/random_run_for_test.hpp"
#include "forecast/spread.hpp"
#include "study/traffic/sums.hpp"

namespace headway::testing {
namespace {

Traffic traffic_of(const Case& c, std::optional<Bytes> small_below = {}) {
  return headway::traffic_of(c, c.calibration, small_below);
}

double sum(const ByLevel& bytes) {
  double out = 0;
  for (const Bytes b : bytes) out += b.value();
  return out;
}

TEST(Traffic, WireFactorsAreThoseOfBusBandwidth) {  // [COMM-1], nccl-tests doc/PERFORMANCE.md
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::all_to_all, 8), 0.875);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::send_receive, 2), 1);
  EXPECT_DOUBLE_EQ(wire_factor(CollectiveOp::all_reduce, 1), 0);
}

// What every member of a group sends and receives across each level when the messages of one call
// are sent one by one, in units of the call's bytes.
struct Counted {
  std::vector<double> sent, received;
  std::map<std::size_t, double> at;  // by level, of all members
};

// Member r lies in domain r / members[i] of level i.
std::size_t level_of(std::int64_t a, std::int64_t b, const GroupSpan& span, std::size_t levels) {
  for (std::size_t i = 0; i + 1 < levels; ++i) {
    if (a / span.members[i] == b / span.members[i]) return i;
  }
  return levels - 1;
}

Counted count_messages(CollectiveOp op, const GroupSpan& span, std::size_t levels) {
  const std::int64_t n = span.ranks;
  Counted out{std::vector<double>(n), std::vector<double>(n), {}};
  const auto send = [&](std::int64_t from, std::int64_t to, double bytes) {
    out.sent[from] += bytes;
    out.received[to] += bytes;
    out.at[level_of(from, to, span, levels)] += bytes;
  };
  const double piece = 1 / static_cast<double>(n);
  if (op == CollectiveOp::all_to_all) {
    for (std::int64_t a = 0; a < n; ++a) {
      for (std::int64_t b = 0; b < n; ++b) {
        if (a != b) send(a, b, piece);
      }
    }
    return out;
  }
  if (op == CollectiveOp::broadcast) {  // passed on from the first to the last
    for (std::int64_t a = 0; a + 1 < n; ++a) send(a, a + 1, 1);
    return out;
  }
  // A ring: n - 1 rounds, in each of which every member passes a piece on; an all-reduce is two.
  const std::int64_t rounds = (op == CollectiveOp::all_reduce ? 2 : 1) * (n - 1);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::int64_t a = 0; a < n; ++a) send(a, (a + 1) % n, piece);
  }
  return out;
}

// [COMM-1] [COMM-2]
RC_GTEST_PROP(Traffic, OfEveryCollectiveBytesSentAreBytesReceivedAndEachCrossesOneLevel, ()) {
  const Case c = random_case();
  const Spans groups = spans(c.layout, c.cluster);
  const std::size_t levels = c.cluster.levels.size();
  for (const ClassTraffic& stage : traffic_of(c).classes) {
    for (const TrafficCall& call : stage.calls) {
      RC_ASSERT(std::abs(sum(call.wire_at) - call.wire.value()) <= 1e-9 * call.wire.value());
      for (const Bytes bytes : call.wire_at) RC_ASSERT(bytes.value() >= 0);
      if (call.call.op == CollectiveOp::send_receive || call.call.group == Group::embedding ||
          call.call.choices > 1) {
        continue;
      }
      const GroupSpan& span = span_of_group(groups, call.call.group);
      RC_ASSERT(call.ranks == span.ranks);
      const Counted counted = count_messages(call.call.op, span, levels);
      const double bytes = call.algorithm.value();
      if (call.call.op == CollectiveOp::broadcast) {  // all but the last send it
        for (const auto& [level, share] : counted.at) {
          const double mean = share * bytes / static_cast<double>(span.ranks - 1);
          RC_ASSERT(std::abs(call.wire_at[level].value() - mean) <= 1e-9 * bytes);
        }
        continue;
      }
      for (std::int64_t r = 0; r < span.ranks; ++r) {
        RC_ASSERT(std::abs(counted.sent[r] - counted.received[r]) <= 1e-9);
        RC_ASSERT(std::abs(counted.sent[r] * bytes - call.wire.value()) <= 1e-9 * bytes);
      }
      for (const auto& [level, share] : counted.at) {
        const double mean = share * bytes / static_cast<double>(span.ranks);
        RC_ASSERT(std::abs(call.wire_at[level].value() - mean) <= 1e-9 * bytes);
      }
    }
  }
}

// [STEP-10] After a ZeRO-1 step each rank sends what it holds of the weights to each of the others
// that hold the rest: held x (n - 1).
RC_GTEST_PROP(Traffic, GathersOfWeightsSendWhatIsHeldToEachOfTheOthers, ()) {
  const Case c = random_case([](Case& made) {
    made.layout.zero = 1;
    made.job.task = Task::pretrain;  // frozen weights stay where they are
    made.job.param_dtype = WireFormat::framework;
  });
  const Step step = lower(c);
  const double element = c.job.recipe->master_weights ? 2 : 4;
  const double dense_ranks =
      static_cast<double>(c.layout.shard > 0 ? c.layout.shard : c.layout.dp * c.layout.cp);
  const double expert_ranks =
      static_cast<double>(c.layout.dp * c.layout.cp * c.layout.tp / (c.layout.ep * c.layout.etp));
  const Traffic traffic = traffic_of(c);
  RC_ASSERT(traffic.classes.size() == step.stages.size());
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    double dense = 0, experts = 0;
    for (std::size_t b = 0; b < step.blocks.size(); ++b) {
      const auto count = static_cast<double>(step.stages[i].counts[b]);
      dense += count * step.blocks[b].held.dense;
      experts += count * step.blocks[b].held.experts;
    }
    double sent = 0;
    for (const TrafficCall& call : traffic.classes[i].calls) {
      const bool weights = call.call.group == Group::dp || call.call.group == Group::expert_dp;
      if (weights && call.call.op == CollectiveOp::all_gather) sent += call.wire.value();
    }
    const double held =
        dense / dense_ranks * (dense_ranks - 1) + experts / expert_ranks * (expert_ranks - 1);
    RC_ASSERT(std::abs(sent - element * held) <= 1e-9 * element * held);
  }
}

// Every boundary between two chunks of layers is crossed once forward and once backward by each
// micro-batch, and what one stage sends its neighbour receives.
RC_GTEST_PROP(Traffic, StagesSendWhatTheirNeighboursReceive, ()) {
  const Case c = random_case();
  if (c.layout.pp == 1) return;
  const std::size_t levels = c.cluster.levels.size();
  const GroupSpan span = spans(c.layout, c.cluster).pp;
  const double micro = static_cast<double>(micro_batches(c.job, c.layout));
  std::map<std::size_t, double> expected;  // sends by level, of one pipeline
  // At the turn of a folded pipeline both chunks lie on one rank.
  const Pipeline pipeline = pipeline_of(c.layout, micro_batches(c.job, c.layout));
  for (std::int64_t copy = 0; copy < pipeline.copies(); ++copy) {
    for (std::int64_t stage = 0; stage + 1 < pipeline.stages(); ++stage) {
      const std::int64_t from = holder(pipeline, copy, stage).rank;
      const std::int64_t to = holder(pipeline, copy, stage + 1).rank;
      if (from == to) continue;
      expected[level_of(from, to, span, levels)] +=
          2 * micro / static_cast<double>(pipeline.copies());
    }
  }
  std::map<std::size_t, double> sends;
  for (const ClassTraffic& stage : traffic_of(c).classes) {
    for (const TrafficCall& call : stage.calls) {
      if (call.call.hidden_by != HiddenBy::pipeline) continue;
      for (std::size_t i = 0; i < levels; ++i) {
        const double count = call.wire_at[i] / call.call.bytes;
        if (count > 0) sends[i] += count * static_cast<double>(stage.stages);
      }
    }
  }
  RC_ASSERT(sends.size() == expected.size());
  for (const auto& [level, count] : expected) {
    RC_ASSERT(std::abs(sends[level] - count) <= 1e-9 * count);
  }
}

RC_GTEST_PROP(Traffic, TheClassThatSetsThePaceHasTheCallsOfTheForecast, ()) {
  const Case c = random_case();
  const Forecast f = c.priced();
  double bytes = 0, exposed = 0, all = 0;
  for (const PricedCall& call : f.calls) {
    if (call.ranks <= 1) continue;
    bytes += call.call.bytes.value() * call.call.count;
    all = bytes;
    exposed += call.exposed.value();
  }
  const Traffic traffic = traffic_of(c);
  std::int64_t ranks = 0;
  int pace = 0;
  for (const ClassTraffic& stage : traffic.classes) {
    ranks += stage.ranks;
    if (!stage.sets_pace) continue;
    ++pace;
    for (const TrafficCall& call : stage.calls) {
      bytes -= call.algorithm.value();
      exposed -= call.exposed.value();
    }
  }
  RC_ASSERT(pace == 1);
  RC_ASSERT(ranks == c.layout.ranks());
  RC_ASSERT(std::abs(bytes) <= 1e-9 * all);
  RC_ASSERT(std::abs(exposed) <= 1e-9 * f.step_time.value());
}

// What a rank sends across a level in a step takes its share of the links at least, hidden or not.
// Switches that sum halve what an all-reduce sends.
RC_GTEST_PROP(Traffic, NoStepIsShorterThanItsBytesOverItsLinks, ()) {
  const Case c = random_case();
  Traffic traffic = traffic_of(c);
  for (ClassTraffic& stage : traffic.classes) {
    for (TrafficCall& call : stage.calls) {
      if (call.call.op != CollectiveOp::all_reduce) continue;
      for (std::size_t i = 0; i < c.cluster.levels.size(); ++i) {
        if (c.cluster.levels[i].in_network_reduction) call.wire_at[i] *= 0.5;
      }
    }
    for (const LevelLoad& load : level_loads(stage.calls, traffic, c.cluster)) {
      RC_ASSERT(load.busy <= 1);
    }
  }
}

TEST(Traffic, ACallIsSmallWhereMoreThanHalfOfItsTimeIsLatency) {  // [COMM-4]
  Case c = case_of("gpt-neox-1.3b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 2048;
  c.job.global_batch = 64;
  c.layout.dp = 8;
  c.layout.tp = 8;
  ASSERT_TRUE(c.legal());
  int small = 0, large = 0;
  for (const ClassTraffic& stage : traffic_of(c).classes) {
    for (const TrafficCall& call : stage.calls) {
      (call.small ? small : large) += 1;
      EXPECT_GT(call.latency.value(), 0);
      EXPECT_LE(call.latency.value(), call.each.value());
      // The gradient norm is one number; gradients of 1.4 G / 8 parameters are not.
      EXPECT_TRUE(call.small || call.call.bytes > Bytes(4));
      EXPECT_FALSE(call.small && call.call.bytes > Bytes(1e8));
    }
  }
  EXPECT_GT(small, 0);
  EXPECT_GT(large, 0);
  for (const ClassTraffic& stage : traffic_of(c, Bytes(5)).classes) {
    for (const TrafficCall& call : stage.calls) {
      EXPECT_EQ(call.small, call.call.bytes == Bytes(4));
    }
  }
}

// [COMM-2] [COLL-8]: 64 ranks on 8 nodes, 8 experts a token: of 7 other nodes each holds some of a
// token's experts with probability 1 - (7/8)^8.
TEST(Traffic, TokensSentOnceCrossTheNodesBorderOnceForEachNode) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  const GroupSpan span = span_of(64, 1, 64, cluster);
  const Call call{.op = CollectiveOp::all_to_all,
                  .group = Group::ep,
                  .phase = Phase::forward,
                  .dtype = Precision::bf16,
                  .bytes = Bytes(1),
                  .choices = 8};
  const LevelShares shares = level_shares(call, span, cluster);
  const double nodes = 7 * (1 - std::pow(7.0 / 8, 8));     // other nodes a token goes to
  const double ranks = 63 * (1 - std::pow(63.0 / 64, 8));  // other ranks
  double outside = 0;
  for (std::size_t i = 1; i < cluster.levels.size(); ++i) outside += shares[i];
  EXPECT_NEAR(outside, nodes / ranks, 1e-12);
  EXPECT_NEAR(outside + shares[0], 1, 1e-12);
}

}  // namespace
}  // namespace headway::testing
