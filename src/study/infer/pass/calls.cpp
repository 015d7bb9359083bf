#include "study/infer/pass/calls.hpp"

#include <algorithm>
#include <cmath>

#include "cost/serving/exchange.hpp"

namespace headway {

namespace {

// Of an accelerator to those of a group: in a mesh each pair has its own link.
BytesPerSecond to_peers(const Level& level, std::int64_t ranks) {
  if (level.topology != Topology::mesh || ranks >= level.size) return level.bandwidth;
  return level.bandwidth * (static_cast<double>(ranks - 1) / static_cast<double>(level.size - 1));
}

}  // namespace

Seconds call_time(const PassContext& of, const Call& call, const Spans& spans) {
  const GroupSpan span = span_of_call(call, spans);
  const Seconds library = collective_time(call.op, call.bytes, span, of.serving.cluster,
                                          of.constants.alone.levels, call.choices);
  const Level& inner = of.serving.cluster.levels.front();
  const bool own = of.serving.engine.own_all_reduce && call.op == CollectiveOp::all_reduce &&
                   span.ranks <= inner.size && memory_levels(of.serving.cluster) > 0;
  return own ? std::min(library,
                        own_all_reduce_time(call.bytes, span.ranks, to_peers(inner, span.ranks),
                                            of.constants.kernels, inner.slowed))
             : library;
}

Seconds exchange_time(const PassContext& of, const Call& call, const Spans& spans,
                      const Experts& experts, bool back) {
  const GroupSpan span = span_of_call(call, spans);
  const std::vector<Level>& levels = of.serving.cluster.levels;
  ExpertExchange exchange;
  exchange.combine = back;
  exchange.quick = !of.work.is_prompt();
  exchange.hidden = of.serving.model.hidden;
  exchange.active = experts.active;
  const Bytes of_token(static_cast<double>(experts.active * of.serving.model.hidden) *
                       bytes_per_element(call.dtype));
  exchange.tokens = static_cast<std::int64_t>(std::ceil(call.bytes / of_token));
  exchange.ranks = span.ranks;
  exchange.ranks_of_node = span.members[0];
  exchange.bandwidth = to_peers(levels[0], exchange.ranks_of_node);
  const Level& beyond = levels[std::min<std::size_t>(1, levels.size() - 1)];
  exchange.network = beyond.bandwidth;
  const bool near = exchange.ranks <= exchange.ranks_of_node;
  exchange.slowed = near ? levels[0].slowed : beyond.slowed;
  return expert_exchange_time(exchange, of.constants.kernels);
}

Seconds transfer_time(const PassContext& of, const Layout& layout, Bytes bytes) {
  Layout stages = layout;
  stages.pp = of.serving.pp;
  const Spans all = spans(stages, of.serving.cluster);
  const Call send{.op = CollectiveOp::send_receive,
                  .group = Group::pp,
                  .phase = Phase::pipeline,
                  .dtype = of.serving.weights->activation,
                  .bytes = bytes};
  return collective_time(send.op, bytes, span_of_call(send, all), of.serving.cluster,
                         of.constants.alone.levels);
}

}  // namespace headway
