#include "study/traffic/modules.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "cluster/load.hpp"
#include "forecast/random_run_for_test.hpp"
#include "model/reading/load.hpp"
#include "study/traffic/sums.hpp"

namespace headway::testing {
namespace {

Case run_of(const char* model, const char* framework) {
  Case out;
  out.model = load_model(model).value();
  out.cluster = load_cluster("dgx-h100").value();
  out.calibration = calibration_for(out.cluster).value();
  out.job.framework = framework_from(framework).value();
  out.job.sequence = 2048;
  out.job.global_batch = 64;
  out.layout = Layout();
  return out;
}

std::vector<TrafficCall> calls_of(const Case& c) {
  EXPECT_TRUE(check(c).empty());
  return calls_of_mean_rank(headway::traffic_of(c, c.calibration));
}

std::map<std::string, double> wire_by_module(const std::vector<TrafficCall>& calls) {
  std::map<std::string, double> out;
  for (const TrafficSum& sum : sums_by_module(calls)) out[sum.name] = sum.wire.value();
  return out;
}

// [COMM-10]
RC_GTEST_PROP(Modules, KindsOfLayerAddUpToAllThatIsSent, ()) {
  const std::vector<TrafficCall> calls = calls_of(random_case());
  for (const TrafficCall& call : calls) {
    double all = 0;
    for (const double share : call.serves) {
      RC_ASSERT(share >= 0);
      all += share;
    }
    RC_ASSERT(std::abs(all - 1) < 1e-9);
  }
  const TrafficSum all = sum_of(calls);
  TrafficSum added;
  for (const TrafficSum& sum : sums_by_module(calls)) {
    added.calls += sum.calls;
    added.wire += sum.wire;
    added.exposed += sum.exposed;
  }
  RC_ASSERT(std::abs(added.calls - all.calls) <= 1e-9 * all.calls);
  RC_ASSERT(std::abs((added.wire - all.wire).value()) <= 1e-9 * all.wire.value());
  RC_ASSERT(std::abs((added.exposed - all.exposed).value()) <= 1e-9 * (1 + all.exposed.value()));
}

// Tensor parallelism sums b·s·h once forward and once backward for each half of a layer, whatever
// their weights; the embedding once forward, the head once backward (arXiv 1909.08053 §3).
TEST(Modules, TensorParallelismSendsAsMuchForAttentionAsForFeedForward) {
  Case c = run_of("gpt-neox-1.3b", "megatron");
  c.layout.tp = 4;
  c.layout.sequence_parallel = false;
  c.job.global_batch = 1;
  const auto wire = wire_by_module(calls_of(c));
  const double message = 2048.0 * 2048 * 2 * 1.5;  // of a rank in one all-reduce over four
  EXPECT_DOUBLE_EQ(wire.at("attention"), 24 * 2 * message);
  EXPECT_DOUBLE_EQ(wire.at("feed_forward"), 24 * 2 * message);
  EXPECT_NEAR(wire.at("embedding") / message, 1, 0.01);
  EXPECT_NEAR(wire.at("head") / message, 1, 0.01);
  EXPECT_FALSE(wire.contains("experts"));
}

// Data parallelism sends each parameter alike: of Llama 2 7B a layer has 4 h² in attention and
// 3 h f in its feed-forward, each with a norm of h; embedding and head have V h, the head a norm.
TEST(Modules, WeightsAndGradientsServeEachKindByItsParameters) {
  const double h = 4096, f = 11008, layers = 32, vocabulary = 32000;
  const std::map<std::string, double> parameters = {{"attention", layers * (4 * h * h + h)},
                                                    {"feed_forward", layers * (3 * h * f + h)},
                                                    {"embedding", vocabulary * h},
                                                    {"head", vocabulary * h + h}};
  double whole = 0;
  for (const auto& [name, count] : parameters) whole += count;
  for (const int zero : {1, 3}) {
    Case c = run_of("llama-2-7b", "fsdp");
    c.layout.dp = 64;
    c.layout.zero = zero;
    // What FSDP keeps gathered, embedding and head, it sends once instead of twice.
    c.layout.reshard_after_forward = false;
    const std::vector<TrafficCall> calls = calls_of(c);
    const double all = sum_of(calls).wire.value();
    const auto wire = wire_by_module(calls);
    for (const auto& [name, count] : parameters) {
      EXPECT_NEAR(wire.at(name) / all, count / whole, 1e-6) << name << " at " << zero;
    }
  }
}

TEST(Modules, TokensServeExpertsAndRingsServeAttention) {
  Case c = run_of("mixtral-8x7b", "megatron");
  c.layout.dp = 8;
  c.layout.ep = 8;
  c.layout.cp = 2;
  for (const TrafficCall& call : calls_of(c)) {
    const Module expected = call.call.group == Group::ep          ? Module::experts
                            : call.call.group == Group::expert_dp ? Module::experts
                            : call.call.group == Group::cp        ? Module::attention
                                                                  : Module::other;
    if (expected == Module::other) continue;
    EXPECT_EQ(call.serves[static_cast<std::size_t>(expected)], 1) << to_name(call.call.group);
  }
}

// Adapters beside queries, keys and values alone: all that is reduced is attention's.
TEST(Modules, GradientsOfAdaptersServeWhatTheyStandBeside) {
  Case c = run_of("llama-2-7b", "megatron");
  c.layout.dp = 8;
  c.job.task = Task::lora;
  c.job.adapters = Adapters::query_key_value;
  bool seen = false;
  for (const TrafficCall& call : calls_of(c)) {
    if (call.call.phase != Phase::gradient) continue;
    seen = true;
    EXPECT_EQ(call.serves[static_cast<std::size_t>(Module::attention)], 1);
  }
  EXPECT_TRUE(seen);
}

// Between stages activations serve no layer alone; a tied table's sum is the embedding's.
TEST(Modules, SendsBetweenStagesServeNoKindAlone) {
  Case c = run_of("gpt2-xl", "megatron");
  c.job.sequence = 1024;
  c.layout.pp = 4;
  for (const TrafficCall& call : calls_of(c)) {
    if (call.call.group == Group::pp) {
      EXPECT_EQ(call.serves[static_cast<std::size_t>(Module::other)], 1);
    } else if (call.call.group == Group::embedding) {
      EXPECT_EQ(call.serves[static_cast<std::size_t>(Module::embedding)], 1);
    }
  }
}

}  // namespace
}  // namespace headway::testing
