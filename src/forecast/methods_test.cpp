// What methods of training bring to a step's time, by hand.
#include "method/methods.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/statistics.hpp"
#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

Case learning(Case c, const std::string& method) {
  c.job.method = method_from(method, FieldName("method")).value();
  follow(c.job.method, c.layout);
  EXPECT_TRUE(c.legal()) << method;
  return c;
}

// Four nodes whose network is slow, so that exchanges show.
Case on_slow_links(std::int64_t dp = 32) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 2 * dp;
  c.layout = {{}, {}, {.dp = dp}};
  c.layout.recompute = Recompute::full;
  c.cluster.levels[1].bandwidth = c.cluster.levels[1].port_bandwidth = BytesPerSecond(1e9);
  // Waiting for the slowest has a rule of its own.
  c.calibration.shared.straggling = 0;
  return c;
}

Seconds exposed(const Forecast& forecast, Group group) {
  Seconds out(0);
  for (const PricedCall& call : forecast.calls) {
    if (call.call.group == group) out += call.exposed;
  }
  return out;
}

// [METHOD-1] Nothing hides the exchange of a cycle of H steps: of a step it is 1/H of one
// all-reduce of all weights, which takes what synchronous training takes for one of as many bytes.
TEST(Methods, ExposeOneExchangeOfACycle) {
  const Case base = on_slow_links();
  const Forecast often = learning(base, "diloco:every=10").priced();
  const Forecast seldom = learning(base, "diloco:every=40").priced();
  const Seconds one = exposed(often, Group::dp_meeting) * 10;
  EXPECT_GT(one, Seconds(1));
  EXPECT_NEAR(exposed(seldom, Group::dp_meeting) * 40 / one, 1, 1e-9);
  // What else comes once in a cycle is the outer update.
  const Seconds less = often.step_time - seldom.step_time;
  const Seconds update = often.parts.optimizer - seldom.parts.optimizer;
  EXPECT_NEAR(less / (one * (1.0 / 10 - 1.0 / 40) + update), 1, 1e-9);
  // Read and written: fp32 weights, copy and momentum, 24 bytes a parameter.
  const double bytes = 24 * (1.0 / 10 - 1.0 / 40) * 6.74e9;
  const double least = bytes / base.cluster.accelerator.memory_bandwidth.value();
  EXPECT_GT(update.value(), least);
  EXPECT_LT(update.value(), 2 * least);
  // In fp32 on the wire, as gradients: at least 2 (n - 1)/n of N, n nodes, over a node's 8 links.
  const double volume = 2 * 3.0 / 4 * 4 * 6.74e9 / 8;
  EXPECT_GT(one.value(), volume / 1e9);
}

// [METHOD-1] An exchange beside the steps leaves open what is longer than the steps that it has.
TEST(Methods, HideAnExchangeBesideTheStepsThatItHas) {
  const Case base = on_slow_links();
  const Forecast alone = learning(base, "ensemble").priced();
  for (const int delay : {1, 5, 20}) {
    const Case c = learning(base, "diloco:every=20,delay=" + std::to_string(delay));
    const Forecast found = c.priced();
    const Seconds open = learning(base, "diloco:every=20").priced().parts.dp - alone.parts.dp;
    const Seconds inner = found.step_time - found.parts.dp + alone.parts.dp;
    const double slower = c.calibration.shared.interference;
    // Of the time of all else, before kernels became slower.
    const Seconds room = inner * (delay / 20.0);
    const Seconds hidden = std::min(open, room);
    const Seconds left = std::max(Seconds(0), open - hidden * (1 + slower));
    EXPECT_NEAR((found.parts.dp - alone.parts.dp).value(), left.value(),
                0.02 * open.value() * slower + 1e-6)
        << delay;
  }
}

// A step is never longer for meeting less often, and never shorter than without any meeting.
RC_GTEST_PROP(Methods, meetingLessOftenIsNoSlower, ()) {
  Case c = on_slow_links(*rc::gen::element<std::int64_t>(2, 8, 32, 64));
  c.calibration.shared.straggling = 0.01;
  const auto every = *rc::gen::inRange(1, 500), more = every + *rc::gen::inRange(1, 500);
  const char* name = *rc::gen::element("local-sgd", "diloco", "federated");
  const auto time = [&](int steps) {
    return learning(c, std::string(name) + ":every=" + std::to_string(steps)).priced().step_time;
  };
  RC_ASSERT(time(more) <= time(every) * (1 + 1e-12));
  RC_ASSERT(time(more) >= learning(c, "ensemble").priced().step_time * (1 - 1e-12));
}

// Parts are the whole, whatever the method, and no step is shorter than its products.
TEST(Methods, PartsOfEveryMethodAddUp) {
  for (const MethodRow& row : methods()) {
    SCOPED_TRACE(row.name);
    if (row.usual.submodels > 1) continue;  // another model
    Case c = on_slow_links(8);
    // Parts of the layers have the machine to themselves; selected keys are of ranks that share
    // them.
    if (row.name == "semantic-exchange") {
      c.layout.cp = 4;
    } else if (row.name != "synthetic-labels") {
      c.layout.pp = 4;
    }
    const Forecast f = learning(c, row.name).priced();
    EXPECT_NEAR(f.parts.total() / f.step_time, 1, 1e-12);
    EXPECT_GE(f.step_time, f.least_time);
    for (const PartRow& part : kParts) EXPECT_GE(f.parts[part.part], Seconds(0)) << part.name;
  }
}

// [METHOD-2] No stage waits for what comes back: no bubble, and each has one micro-batch at work.
TEST(Methods, LossesBehindEachStageLeaveNoBubble) {
  Case c = on_slow_links(1);
  c.layout.pp = 4;
  c.layout.recompute = Recompute::none;
  c.job.global_batch = 8;
  const Forecast own = learning(c, "local-updates").priced();
  const Forecast all = learning(c, "synchronous").priced();
  EXPECT_EQ(own.parts.bubble, Seconds(0));
  // 1F1B: (p - 1)/m of the work, 3/8.
  EXPECT_GT(all.parts.bubble / all.step_time, 0.2);
  EXPECT_LT(own.step_time, all.step_time);
  EXPECT_LT(own.memory.activations, all.memory.activations);
  EXPECT_GT(own.memory.parameters, all.memory.parameters);  // heads
}

// [METHOD-5] Of 32 replicas that meet every 25 steps a fifth of the waiting is left.
TEST(Methods, ReplicasWaitForEachOtherWhenTheyMeet) {
  Case base = on_slow_links();
  const auto other = [&](double straggling) {
    Case c = base;
    c.calibration.shared.straggling = straggling;
    return learning(c, "local-sgd:every=25").priced();
  };
  const double waits = other(0.01).step_time / other(0).step_time - 1;
  EXPECT_NEAR(waits, 0.01 * expected_maximum(32) / 5, 1e-9);
}

// Fewer bytes, and kernels that make them: compression pays where links are slow.
TEST(Methods, CompressionTradesKernelsForBytes) {
  const Case slow = on_slow_links();
  Case fast = case_of("llama-2-7b", "dgx-h100");
  fast.job = slow.job;
  fast.layout = slow.layout;
  fast.layout.dp = 8;
  fast.job.global_batch = 16;
  const auto saves = [](const Case& c, const char* method) {
    return 1 -
           learning(c, method).priced().step_time / learning(c, "synchronous").priced().step_time;
  };
  for (const char* method : {"qsgd", "signs", "powersgd"}) {
    EXPECT_GT(saves(slow, method), 0.2) << method;
    EXPECT_LT(saves(fast, method), 0.05) << method;
  }
  // Parts go to who adds them up in one all-to-all, past the nodes that would have added up first:
  // 8 bit save nothing there.
  EXPECT_LT(saves(slow, "fp8-exchange"), 0);
}

}  // namespace
}  // namespace headway::testing
