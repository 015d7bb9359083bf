#include "study/traffic/traffic.hpp"

#include "forecast/price.hpp"
#include "forecast/spread.hpp"

namespace headway {
namespace {

bool same(const Call& a, const Call& b) {
  return a.op == b.op && a.group == b.group && a.phase == b.phase && a.hidden_by == b.hidden_by &&
         a.dtype == b.dtype && a.bytes == b.bytes && a.choices == b.choices;
}

// A priced call with the kinds of layer that it serves.
struct Served {
  PricedCall priced;
  ByModule serves{};
};

// One entry for equal calls, as those of a layer's two halves or of two kinds of layer. Calls that
// move nothing are left out.
std::vector<Served> merged(const std::vector<PricedCall>& calls, const StageClass& stage,
                           const Step& step) {
  std::vector<Served> out;
  for (const PricedCall& priced : calls) {
    if (priced.ranks <= 1 || !(priced.call.bytes.value() > 0) || !(priced.call.count > 0)) continue;
    const ByModule serves = module_shares(priced, stage, step);
    auto at = out.begin();
    while (at != out.end() && !same(at->priced.call, priced.call)) ++at;
    if (at == out.end()) {
      out.push_back({priced, serves});
      continue;
    }
    double& count = at->priced.call.count;
    for (std::size_t i = 0; i < kModules; ++i) {
      at->serves[i] =
          (at->serves[i] * count + serves[i] * priced.call.count) / (count + priced.call.count);
    }
    count += priced.call.count;
    at->priced.exposed += priced.exposed;
  }
  return out;
}

// [COMM-4] What a call takes whatever its size: the time of a message of one byte. `each` may hold
// more than the network's time (a wait for the host), which does not depend on the size either.
Seconds latency_of(const PricedCall& priced, const Prices& prices) {
  Call shortest = priced.call;
  shortest.bytes = Bytes(1);
  return priced.each - call_time(priced.call, prices) + call_time(shortest, prices);
}

TrafficCall traffic_call(const Served& served, const StageCalls& stage, const Prices& prices,
                         std::optional<Bytes> small_below) {
  const PricedCall& priced = served.priced;
  TrafficCall out;
  out.serves = served.serves;
  out.call = priced.call;
  out.ranks = priced.ranks;
  out.level = priced.level;
  out.each = priced.each;
  out.exposed = priced.exposed;
  out.latency = latency_of(priced, prices);
  out.small = small_below ? out.call.bytes < *small_below : out.latency > 0.5 * out.each;
  out.algorithm = out.call.bytes * out.call.count;
  out.wire = out.algorithm * wire_factor(out.call.op, out.ranks);
  const GroupSpan& span = span_of_group(prices.spans, out.call.group);
  const bool to_stages = out.call.group == Group::pp && out.call.op == CollectiveOp::send_receive;
  const LevelShares shares =
      to_stages ? pipeline_shares(stage.first, stage.stages, prices.layout, span, prices.cluster)
                : level_shares(out.call, span, prices.cluster);
  for (std::size_t i = 0; i < shares.size(); ++i) out.wire_at[i] = shares[i] * out.wire;
  return out;
}

}  // namespace

Traffic traffic_of(const Run& run, const Calibration& calibration,
                   std::optional<Bytes> small_below) {
  const Layout& layout = run.layout;
  const Step step = lower(run);
  const Prices prices{run.job, layout, run.cluster, calibration, step.spans};
  Traffic out;
  out.ranks = layout.ranks();
  out.step_time = forecast(run, calibration).step_time;
  const std::vector<StageCalls> stages = calls_by_stage(run, calibration);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageCalls& stage = stages[i];
    ClassTraffic made;
    made.first = stage.first;
    made.stages = stage.stages;
    made.ranks = stage.stages * (layout.ranks() / layout.pp);
    made.sets_pace = stage.sets_pace;
    for (const Served& served : merged(stage.calls, step.stages[i], step)) {
      made.calls.push_back(traffic_call(served, stage, prices, small_below));
    }
    out.classes.push_back(std::move(made));
  }
  return out;
}

std::vector<TrafficCall> calls_of_mean_rank(const Traffic& traffic) {
  std::vector<TrafficCall> out;
  for (const ClassTraffic& stage : traffic.classes) {
    const double share = static_cast<double>(stage.ranks) / static_cast<double>(traffic.ranks);
    for (TrafficCall call : stage.calls) {
      call.call.count *= share;
      call.exposed *= share;
      call.algorithm *= share;
      call.wire *= share;
      for (Bytes& bytes : call.wire_at) bytes *= share;
      out.push_back(call);
    }
  }
  return out;
}

}  // namespace headway
