#include "forecast/price.hpp"

#include <algorithm>

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

// Computation of one direction that can still hide communication: `in_block` of it that of the same
// block, `all` of it that of the next.
struct Room {
  Seconds in_block, all;

  Seconds hide(Seconds call, bool in_same_block) {
    const Seconds hidden = std::min(call, in_same_block ? std::min(in_block, all) : all);
    if (in_same_block) in_block -= hidden;
    all -= hidden;
    return hidden;
  }
};

}  // namespace

GroupSpan span_of_call(const Call& call, const Spans& spans) {
  GroupSpan span = span_of_group(spans, call.group);
  if (!is_of_two(call)) return span;
  for (std::int64_t& members : span.members) members = members == span.ranks ? 2 : 1;
  span.ranks = 2;
  return span;
}

Seconds op_time(const Op& op, const Prices& prices) {
  const Accelerator& accelerator = prices.cluster.accelerator;
  const KernelParameters& kernels = prices.calibration.kernels;
  if (const auto* product = std::get_if<Matmul>(&op.shape)) {
    const bool scaled = prices.job.recipe->block_scaled && op.precision >= Precision::fp8;
    const Seconds apart = product->batch > 1
                              ? prices.calibration.of(prices.job.framework).grouped_overhead *
                                    static_cast<double>(product->batch)
                              : Seconds(0);
    return apart + matmul_time(*product, op.precision, accelerator, kernels, product->result_bytes,
                               scaled ? kernels.block_scaled : 1.0);
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

Seconds call_time(const Call& call, const Prices& prices) {
  return collective_time(call.op, call.bytes, span_of_call(call, prices.spans), prices.cluster,
                         prices.calibration.levels, call.choices);
}

namespace {

CallPrice price_of(const Call& call, const Prices& prices) {
  const GroupSpan span = span_of_call(call, prices.spans);
  return {span.ranks, crossed_level(span, prices.cluster),
          collective_time(call.op, call.bytes, span, prices.cluster, prices.calibration.levels,
                          call.choices)};
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

PricedWork price_work(const Block& block, const Prices& prices) {
  PricedWork out;
  out.recomputed = recomputed_flops(block, prices.job, AttentionFlops::full);
  for (const Op& op : only<Op>(block.items)) {
    const Seconds seconds = op_time(op, prices);
    const double kernels = issued(prices.job.graphs, op.routed) ? op.kernels : 0;
    if (op.phase == Phase::backward) {
      out.backward += seconds;
      out.backward_kernels += kernels;
      if (op.weight_gradient) out.weight_gradient += seconds;
    } else {
      out.forward += seconds;
      out.forward_kernels += kernels;
    }
    if (op.recomputed) {
      out.recompute += block.again * seconds;
      out.recompute_kernels += block.again * kernels;
    }
  }
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

  // What computation can hide. A tensor-parallel gather or reduction runs under one of the two
  // products that follow it; split products (user buffers) let all of a group's pieces but the
  // first run under their neighbours; a ring's passes run under the attention of the piece before.
  // No computation hides two calls at once [FORECAST-8].
  Room forward{out.forward.compute, out.forward.compute};
  Room backward{out.backward.compute * 0.5, out.backward.compute + out.recompute.compute};
  // [FORECAST-9] What the hosts need to issue and to check, by direction.
  const FrameworkConstants& host = prices.calibration.of(prices.job.framework);
  Seconds forward_host = work.forward_kernels * host.host_launch;
  Seconds recompute_host = work.recompute_kernels * host.host_launch;
  Seconds backward_host = work.backward_kernels * host.host_launch;
  for (const Call& call : only<Call>(block.items)) {
    const CallPrice price =
        prices.memo != nullptr ? prices.memo->get(call, prices) : price_of(call, prices);
    PricedCall priced{call, price.ranks, price.level, price.each, Seconds(0)};
    const Seconds all = priced.each * call.count;
    Direction& direction = direction_of(out, call.phase);
    Room& room = call.phase == Phase::backward ? backward : forward;
    Seconds hidden(0);
    if (call.hidden_by == HiddenBy::same_block) {
      hidden = room.hide(all, /*in_same_block=*/true);
    } else if (call.hidden_by == HiddenBy::next_block) {
      hidden = room.hide(all, /*in_same_block=*/false);
      if (call.op == CollectiveOp::all_gather) {
        out.first_gather = std::max(out.first_gather, priced.each);
      } else {
        out.last_reduce = std::max(out.last_reduce, priced.each);
      }
    } else if (call.hidden_by == HiddenBy::other_batch) {
      hidden = room.hide(all, /*in_same_block=*/false);
    } else if (call.hidden_by == HiddenBy::pieces) {
      const double pieces = static_cast<double>(std::max<std::int64_t>(1, price.ranks));
      hidden = room.hide(all * (1 - 1 / pieces), /*in_same_block=*/true);
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

  // Where kernels and calls are shorter than the host needs to issue them, the host sets the pace.
  // So does the link to the host where offloaded bytes take longer than the block.
  const Seconds transfer = block.host_transfer.value() > 0
                               ? block.host_transfer / prices.cluster.accelerator.host_bandwidth
                               : Seconds(0);
  const auto bound_by_host = [](Direction& direction, Seconds needed, Seconds moved) {
    const Seconds device = direction.total();
    direction.host = std::max({Seconds(0), needed - device, moved - device});
  };
  bound_by_host(out.forward, forward_host, transfer);
  bound_by_host(out.recompute, recompute_host, Seconds(0));
  bound_by_host(out.backward, backward_host, transfer);
  return out;
}

}  // namespace headway
