// Symbols: m bytes of the weights on a rank in the format of the activations (beta bytes an
// element), d ranks that hold them alike; b micro-batch, s sequence, h hidden width, L layers, M
// micro-batches; t, p, c, e tensor, pipeline, context and expert degree. Sources: docs/models/
// communication.md.
#include "study/traffic/textbook.hpp"

#include <algorithm>
#include <cmath>

#include "step/frameworks/habits.hpp"

namespace headway {
namespace {

struct Case {
  const Run& run;
  std::vector<TrafficCall> calls;  // of the mean rank
  double micro;                    // M
  double element;                  // beta
  double tokens;                   // of a micro-batch on a rank: b s/c
};

Bytes wire_of(const Case& c, std::initializer_list<Group> groups) {
  Bytes out;
  for (const TrafficCall& call : c.calls) {
    if (std::find(groups.begin(), groups.end(), call.call.group) != groups.end()) out += call.wire;
  }
  return out;
}

template <class Wanted>
bool any_call(const Case& c, Wanted wanted) {
  return std::any_of(c.calls.begin(), c.calls.end(),
                     [&](const TrafficCall& call) { return wanted(call.call); });
}

double others(std::int64_t ranks) {
  return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

std::string times_text(double count) {
  return std::to_string(static_cast<std::int64_t>(count));
}

// Layers that a rank holds in the mean, of those that `wanted` picks.
template <class Wanted>
double layers_of(const Case& c, Wanted wanted) {
  double out = 0;
  for (const std::uint8_t kind : c.run.model.pattern)
    out += wanted(c.run.model.kinds[kind]) ? 1 : 0;
  return out / static_cast<double>(c.run.layout.pp);
}

void add(std::vector<TextbookVolume>& out, TextbookVolume volume) {
  const double off = std::abs(volume.framework / volume.textbook - 1);
  if (off <= 0.01) volume.reasons.clear();
  out.push_back(std::move(volume));
}

// [COMM-5] All-reduce of the gradients: 2 m (d-1)/d, sharded in two halves or not; ZeRO-3 gathers
// the weights twice and scatters the gradients: 3 m (d-1)/d. Experts over the ranks that hold the
// same ones.
void add_data(std::vector<TextbookVolume>& out, const Case& c) {
  const Step step = lower(c.run);
  double dense = 0, experts = 0;
  for (const StageClass& stage : step.stages) {
    const double share = static_cast<double>(stage.stages) / static_cast<double>(c.run.layout.pp);
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      const HeldParameters& held = step.blocks[i].held;
      const double blocks = share * static_cast<double>(stage.counts[i]) * held.trained;
      dense += blocks * held.dense;
      experts += blocks * held.experts;
    }
  }
  const std::int64_t ranks = step.spans.dp.ranks, expert_ranks = step.spans.expert_dp.ranks;
  const bool sharded = c.run.layout.zero == 3;
  const double times = sharded ? 3 : 2;
  TextbookVolume made;
  made.of = c.run.layout.zero == 0 ? "data" : "data, ZeRO-" + std::to_string(c.run.layout.zero);
  made.formula = sharded ? "3 m (d-1)/d" : "2 m (d-1)/d";
  made.textbook =
      Bytes(times * c.element * (dense * others(ranks) + experts * others(expert_ranks)));
  if (!(made.textbook.value() > 0)) return;
  made.framework = wire_of(c, {Group::dp, Group::expert_dp, Group::dp_replica, Group::dp_secondary,
                               Group::dp_node, Group::dp_nodes, Group::copies});

  const bool whole = any_call(c, [](const Call& call) {
    return call.phase == Phase::gradient && call.op == CollectiveOp::all_reduce &&
           (call.group == Group::dp || call.group == Group::expert_dp);
  });
  const bool gathered = any_call(c, [](const Call& call) {
    return call.phase == Phase::optimizer && call.op == CollectiveOp::all_gather;
  });
  const bool shards = shards_weights(c.run.job, c.run.layout);
  if (whole && gathered && c.run.layout.shard == 0) {
    made.reasons.push_back("gradients are all-reduced whole, then weights are gathered");
  }
  if (reduced_bytes(c.run.job) > Bytes(c.element))
    made.reasons.push_back("gradients travel in fp32");
  if (c.run.layout.copies() > 1) {
    made.reasons.push_back("gradients of two copies of the model are added");
  }
  if (shards && c.run.layout.zero < 3) made.reasons.push_back("weights are sharded, too");
  if (shards && c.micro > 1) {
    made.reasons.push_back("gathers and reductions for each of " + times_text(c.micro) +
                           " micro-batches");
  } else if (c.run.layout.zero == 2 && habits(c.run.job).reduction.each_micro_batch &&
             c.micro > 1) {
    made.reasons.push_back("gradients are reduced for each of " + times_text(c.micro) +
                           " micro-batches");
  }
  // Weights that the backward pass does not gather once more.
  Bytes forward, backward;
  for (const TrafficCall& call : c.calls) {
    const bool weights = call.call.op == CollectiveOp::all_gather &&
                         (call.call.group == Group::dp || call.call.group == Group::dp_secondary ||
                          call.call.group == Group::expert_dp);
    if (weights && call.call.phase == Phase::forward) forward += call.wire;
    if (weights && call.call.phase == Phase::backward) backward += call.wire;
  }
  if (shards && backward < 0.99 * forward) {
    made.reasons.push_back(backward.value() > 0
                               ? "some gathered weights are kept for the backward pass"
                               : "gathered weights are kept for the backward pass");
  }
  if (c.run.job.quantized_weights) made.reasons.push_back("weights travel in 8 bit");
  if (c.run.job.quantized_gradients) {
    made.reasons.push_back("gradients travel in 4 bit, within nodes and between them");
  }
  if (c.run.layout.shard > 0) {
    made.reasons.push_back("shards of " + std::to_string(c.run.layout.shard) +
                           " ranks, summed over their copies");
  }
  add(out, std::move(made));
}

// [COMM-6] Four all-reduces of b s h a layer and micro-batch, or as many pairs of all-gather and
// reduce-scatter.
void add_tensor(std::vector<TextbookVolume>& out, const Case& c) {
  if (c.run.layout.tp == 1) return;
  const double layers = layers_of(c, [](const Layer&) { return true; });
  const double hidden = static_cast<double>(c.run.model.hidden);
  TextbookVolume made;
  made.of = "tensor";
  made.formula = "L M 4 b s h 2 (t-1)/t";
  made.textbook =
      Bytes(layers * c.micro * 4 * c.tokens * hidden * c.element * 2 * others(c.run.layout.tp));
  made.framework = wire_of(c, {Group::tp});
  if (c.run.layout.sequence_parallel && !c.run.layout.keep_gathered) {
    made.reasons.push_back("sequence parallelism gathers split inputs once more, backward");
  }
  if (c.run.layout.recompute == Recompute::full) {
    made.reasons.push_back("recomputation repeats the forward calls");
  }
  if (layers_of(c, [](const Layer& layer) { return layer.parallel; }) > 0) {
    made.reasons.push_back("attention and feed-forward part share their calls");
  }
  if (layers_of(c, [](const Layer& layer) { return layer.experts.has_value(); }) > 0) {
    made.reasons.push_back("routed experts are not split");
  }
  if (any_call(c, [](const Call& call) {
        return call.group == Group::tp && call.phase == Phase::pipeline;
      })) {
    made.reasons.push_back("what comes from another stage is gathered");
  }
  made.reasons.push_back("embedding, head and loss");
  add(out, std::move(made));
}

// [COMM-7] b s h forward and as much backward over each boundary for each micro-batch; p - 1
// boundaries over p ranks.
void add_pipeline(std::vector<TextbookVolume>& out, const Case& c) {
  if (c.run.layout.pp == 1) return;
  TextbookVolume made;
  made.of = "pipeline";
  made.formula = "2 M b s h (p-1)/p";
  made.textbook = Bytes(2 * c.micro * c.tokens * static_cast<double>(c.run.model.hidden) *
                        c.element * others(c.run.layout.pp));
  made.framework = wire_of(c, {Group::pp});
  const Habits& habit = habits(c.run.job);
  const bool split = c.run.layout.sequence_parallel || habit.pipeline.splits_transfers;
  if (split && c.run.layout.tp > 1) {
    made.reasons.push_back("each of " + std::to_string(c.run.layout.tp) +
                           " tensor-parallel ranks sends its part");
  }
  if (c.run.layout.vpp > 1) {
    made.reasons.push_back(std::to_string(c.run.layout.vpp) + " chunks a rank: " +
                           std::to_string(c.run.layout.pp * c.run.layout.vpp - 1) + " boundaries");
  } else if (is_folded(c.run.layout.schedule)) {
    made.reasons.push_back("2 chunks a rank, down and back up: " +
                           std::to_string(2 * c.run.layout.pp - 2) + " boundaries");
  }
  if (habit.pipeline.metadata.value() > 0 || habit.pipeline.describes_sends) {
    made.reasons.push_back("messages that announce shapes");
  }
  add(out, std::move(made));
}

// [COMM-8] Each token to its k experts and back, forward and backward: four all-to-alls. Tokens are
// spread over the tensor-parallel ranks.
void add_experts(std::vector<TextbookVolume>& out, const Case& c) {
  if (c.run.layout.ep == 1) return;
  double active = 0;  // experts of a token, over a rank's layers
  for (const std::uint8_t kind : c.run.model.pattern) {
    const auto& experts = c.run.model.kinds[kind].experts;
    if (experts) active += static_cast<double>(experts->active);
  }
  active /= static_cast<double>(c.run.layout.pp);
  TextbookVolume made;
  made.of = "expert";
  made.formula = "L M 4 k b s h/t (e-1)/e";
  made.textbook =
      Bytes(active * c.micro * 4 * c.tokens / static_cast<double>(c.run.layout.tp) *
            static_cast<double>(c.run.model.hidden) * c.element * others(c.run.layout.ep));
  made.framework = wire_of(c, {Group::ep});
  if (c.run.layout.tp > 1 && !c.run.layout.sequence_parallel) {
    made.reasons.push_back("without sequence parallelism each tensor-parallel rank sends all");
  }
  if (c.run.layout.dispatch == Dispatch::once) {
    made.reasons.push_back("tokens are sent once to each rank that holds some of their experts");
  }
  if (c.run.layout.recompute == Recompute::full) {
    made.reasons.push_back("recomputation repeats the forward calls");
  }
  if (c.run.model.prediction_layers > 0) made.reasons.push_back("prediction modules");
  add(out, std::move(made));
}

// [COMM-9] Ring: a rank's keys and values c - 1 times forward, with their gradients backward.
// All-to-all: queries, keys, values and results forward, the same backward.
void add_context(std::vector<TextbookVolume>& out, const Case& c) {
  if (c.run.layout.cp == 1) return;
  const bool ring = c.run.layout.context_exchange == ContextExchange::ring;
  double widths = 0;  // elements of a token, over a rank's layers
  for (const std::uint8_t kind : c.run.model.pattern) {
    const auto& attention = c.run.model.kinds[kind].attention;
    if (!attention) continue;
    const auto width = static_cast<double>(attention->head_dim + attention->value_dim);
    widths += width * static_cast<double>(attention->kv_heads + (ring ? 0 : attention->heads));
  }
  widths /= static_cast<double>(c.run.layout.pp * c.run.layout.tp);
  TextbookVolume made;
  made.of = ring ? "context, ring" : "context, all-to-all";
  made.formula = ring ? "L M 3 (c-1) b s/c (k+v)" : "L M 2 b s/c (q+k+v+o) (c-1)/c";
  made.textbook =
      Bytes(c.micro * c.tokens * widths * c.element *
            (ring ? 3 * static_cast<double>(c.run.layout.cp - 1) : 2 * others(c.run.layout.cp)));
  made.framework = wire_of(c, {Group::cp});
  if (c.run.layout.recompute == Recompute::full) {
    made.reasons.push_back("recomputation repeats the forward calls");
  }
  if (layers_of(c, [&](const Layer& layer) {
        return layer.attention && layer.attention->kv_heads < c.run.layout.tp;
      }) > 0) {
    made.reasons.push_back("key-value heads are repeated on tensor-parallel ranks");
  }
  if (c.run.model.prediction_layers > 0) made.reasons.push_back("prediction modules");
  add(out, std::move(made));
}

}  // namespace

std::vector<TextbookVolume> textbook_volumes(const Run& run, const Traffic& traffic) {
  const Job& job = run.job;
  const Layout& layout = run.layout;
  const Case c{run, calls_of_mean_rank(traffic), static_cast<double>(micro_batches(job, layout)),
               bytes_per_element(job.recipe->activation),
               static_cast<double>(layout.micro_batch) * static_cast<double>(job.sequence) /
                   static_cast<double>(layout.cp)};
  std::vector<TextbookVolume> out;
  add_data(out, c);
  add_tensor(out, c);
  add_pipeline(out, c);
  add_context(out, c);
  add_experts(out, c);
  return out;
}

}  // namespace headway
