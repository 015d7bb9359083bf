#include "forecast/price.hpp"

#include <algorithm>

#include "forecast/beside.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

Direction& direction_of(PricedBlock& block, Phase phase) {
  if (phase == Phase::recompute) return block.recompute;
  return phase == Phase::forward ? block.forward : block.backward;
}

// Whether the host issues a kernel or call itself, of routed experts or not; CUDA graphs replay the
// others.
bool issued(Graphs graphs, bool routed) {
  return graphs == Graphs::none || (graphs == Graphs::dense && routed);
}

}  // namespace

GroupSpan span_of_call(const Call& call, const Spans& spans) {
  GroupSpan span = span_of_group(spans, call.group);
  if (!is_of_two(call)) return span;
  for (std::int64_t& members : span.members) members = members == span.ranks ? 2 : 1;
  span.ranks = 2;
  return span;
}

namespace {

Seconds time_of_one(const Op& op, const Prices& prices) {
  const Accelerator& accelerator = prices.cluster.accelerator;
  const KernelParameters& kernels = prices.calibration.kernels;
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    if (product->image > 0) {
      return convolution_time(*product, op.precision, accelerator, kernels);
    }
    const Scaling scaling = scaling_of(*prices.job.recipe);
    const Seconds apart = product->batch > 1
                              ? prices.calibration.of(prices.job.framework).grouped_overhead *
                                    static_cast<double>(product->batch)
                              : Seconds(0);
    return apart + matmul_time(*product, op.precision, accelerator, kernels, product->result_bytes,
                               scaling);
  }
  if (const auto* attention = std::get_if<AttentionShape>(&op.shape)) {
    return op.phase == Phase::backward ? attention_backward_time(*attention, prices.job.attention,
                                                                 op.precision, accelerator, kernels)
                                       : attention_forward_time(*attention, prices.job.attention,
                                                                op.precision, accelerator, kernels);
  }
  const Pass& pass = std::get<Pass>(op.shape);
  const bool quantised = prices.job.recipe->matmul >= Precision::fp8;
  const double unfused =
      quantised && op.phase != Phase::optimizer ? prices.calibration.passes_8_bit : 1.0;
  return pass_time(pass.moved * unfused, accelerator, kernels, pass.eager);
}

}  // namespace

Seconds op_time(const Op& op, const Prices& prices) {
  return op.times * time_of_one(op, prices);
}

Seconds call_time(const Call& call, const Prices& prices) {
  if (prices.other != nullptr && *prices.other) {
    if (const auto time = (*prices.other)(call)) return *time;
  }
  return collective_time(call.op, call.bytes, span_of_call(call, prices.spans), prices.cluster,
                         prices.calibration.levels, call.choices);
}

namespace {

CallPrice price_of(const Call& call, const Prices& prices) {
  const GroupSpan span = span_of_call(call, prices.spans);
  return {span.ranks, crossed_level(span, prices.cluster), call_time(call, prices)};
}

}  // namespace

const CallPrice& CallMemo::get(const Call& call, const Prices& prices) {
  const auto bytes = static_cast<std::uint64_t>(call.bytes.value());
  const std::uint64_t hash = (bytes ^ static_cast<std::uint64_t>(call.op) << 40 ^
                              static_cast<std::uint64_t>(call.group) << 48) *
                             0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  Slot& slot = slots_[hash >> 58];
  if (!slot.used || slot.op != call.op || slot.group != call.group || slot.bytes != call.bytes ||
      slot.choices != call.choices) {
    slot = {true, call.op, call.group, call.bytes, call.choices, price_of(call, prices)};
  }
  return slot.price;
}

void CallMemo::clear() {
  for (Slot& slot : slots_) slot.used = false;
}

Seconds check_time(std::int64_t ranks, std::int64_t on_a_node, const Prices& prices) {
  if (!prices.job.checked_collectives || ranks <= 1) return Seconds(0);
  const FrameworkConstants& constants = prices.calibration.of(prices.job.framework);
  const std::int64_t near = std::min(ranks, on_a_node);
  return static_cast<double>(near) * constants.near_check +
         static_cast<double>(ranks - near) * constants.far_check;
}

Seconds check_time(const Call& call, std::int64_t ranks, const Prices& prices) {
  if (call.op == CollectiveOp::send_receive) return Seconds(0);
  return check_time(ranks, span_of_group(prices.spans, call.group).members.front(), prices);
}

Seconds message_host(const Prices& prices) {
  if (!issued(prices.job.graphs, /*routed=*/true)) return Seconds(0);
  const FrameworkConstants& host = prices.calibration.of(prices.job.framework);
  return host.host_launch + host.host_call;
}

PricedWork price_work(const Block& block, const Prices& prices) {
  PricedWork out;
  out.recomputed = recomputed_flops(block, prices.job, AttentionFlops::full);
  Beside beside;
  for (const Item& item : block.items) {
    if (const auto* call = std::get_if<Call>(&item.what)) {
      beside.add(*call, item.flow);
      continue;
    }
    const Op& op = std::get<Op>(item.what);
    const Seconds seconds = op_time(op, prices);
    const double kernels = issued(prices.job.graphs, op.routed) ? op.kernels : 0;
    // Recomputed products beside the forward ones are no neighbours of calls: see Beside.
    if (op.phase != Phase::recompute) beside.add(op, seconds);
    if (op.phase == Phase::backward) {
      out.backward += seconds;
      out.backward_kernels += kernels;
      if (op.weight_gradient) out.weight_gradient += seconds;
    } else if (op.phase != Phase::recompute) {
      out.forward += seconds;
      out.forward_kernels += kernels;
    }
    if (op.recomputed) {
      out.recompute += block.again * seconds;
      out.recompute_kernels += block.again * kernels;
    }
  }
  out.beside = beside.times();
  return out;
}

PricedBlock price_block(const Block& block, const Prices& prices, std::vector<PricedCall>& calls) {
  return price_block(block, price_work(block, prices), prices, calls);
}

PricedBlock price_block(const Block& block, const PricedWork& work, const Prices& prices,
                        std::vector<PricedCall>& calls) {
  PricedBlock out;
  out.forward.compute = work.forward;
  out.recompute.compute = work.recompute;
  out.backward.compute = work.backward;
  out.weight_gradient = work.weight_gradient;
  out.recomputed = work.recomputed;
  out.on_all_stages = block.kind == BlockKind::vocabulary;

  // [FORECAST-8] What no call beside it hides of a direction's computation is left for calls of the
  // next block, or of another micro-batch: they take turns on the wire.
  Seconds left_forward = out.forward.compute;
  Seconds left_backward = out.backward.compute + out.recompute.compute;
  // [FORECAST-9] What the hosts need to issue and to check, by direction.
  const FrameworkConstants& host = prices.calibration.of(prices.job.framework);
  Seconds forward_host = work.forward_kernels * host.host_launch;
  Seconds recompute_host = work.recompute_kernels * host.host_launch;
  Seconds backward_host = work.backward_kernels * host.host_launch;
  // An exchange of tokens under another micro-batch's work takes what the other calls leave, so
  // that none of them is slower for it.
  for (const bool under_others : {false, true}) {
    std::size_t at = 0;  // of the call among those of the block
    for (const Call& call : only<Call>(block.items)) {
      const Seconds beside = at < work.beside.size() ? work.beside[at] : Seconds(0);
      ++at;
      const bool waits = call.hidden_by == HiddenBy::other_batch && call.group == Group::ep;
      if (waits != under_others) continue;
      const CallPrice price =
          prices.memo != nullptr ? prices.memo->get(call, prices) : price_of(call, prices);
      PricedCall priced{call, price.ranks, price.level, price.each, Seconds(0)};
      const Seconds all = priced.each * call.count;
      Direction& direction = direction_of(out, call.phase);
      Seconds& left = call.phase == Phase::backward ? left_backward : left_forward;
      Seconds hidden(0);
      if (call.hidden_by == HiddenBy::same_block) {
        hidden = std::min({all, beside, left});
      } else if (call.hidden_by == HiddenBy::pieces) {
        // All pieces but one run under their neighbours' products.
        const double pieces = static_cast<double>(std::max<std::int64_t>(1, price.ranks));
        hidden = std::min({all * (1 - 1 / pieces), beside, left});
      } else if (call.hidden_by == HiddenBy::next_block ||
                 call.hidden_by == HiddenBy::other_batch) {
        hidden = std::min(all, left);
      }
      left -= hidden;
      if (call.hidden_by == HiddenBy::next_block) {
        Seconds& bare = call.op == CollectiveOp::all_gather ? out.first_gather : out.last_reduce;
        bare = std::max(bare, priced.each);
      }
      priced.exposed = all - hidden;
      direction.exposed[static_cast<std::size_t>(call.group)] += priced.exposed;
      direction.compute += hidden * prices.calibration.shared.interference;
      Seconds& needed = call.phase == Phase::forward     ? forward_host
                        : call.phase == Phase::recompute ? recompute_host
                                                         : backward_host;
      if (issued(prices.job.graphs, call.group == Group::ep)) needed += call.count * host.host_call;
      needed += call.count * check_time(call, price.ranks, prices);
      calls.push_back(priced);
    }
  }

  // Where kernels and calls are shorter than the host needs to issue them, the host sets the pace.
  // So does the link to the host where offloaded bytes take longer than the block.
  const Seconds transfer = block.host_transfer.value() > 0
                               ? block.host_transfer / prices.cluster.accelerator.host_bandwidth
                               : Seconds(0);
  const auto bound_by_host = [](Direction& direction, Seconds needed, Seconds moved) {
    const Seconds device = direction.total();
    direction.host = std::max({Seconds(0), needed - device, moved - device});
    direction.ahead = std::max(Seconds(0), direction.total() - needed);
  };
  bound_by_host(out.forward, forward_host, transfer);
  bound_by_host(out.recompute, recompute_host, Seconds(0));
  bound_by_host(out.backward, backward_host, transfer);
  return out;
}

}  // namespace headway
