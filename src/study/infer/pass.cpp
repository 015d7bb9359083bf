// One pass of a serving: the forward pass that training begins with, its tokens spread over experts
// as serving does, its attention over the cache, priced item by item.
#include <algorithm>
#include <cmath>

#include "forecast/price.hpp"
#include "model/count.hpp"
#include "step/forward/forward.hpp"
#include "step/passes/passes.hpp"
#include "study/infer/serving.hpp"

namespace headway {
namespace {

Job job_of(const Serving& serving, std::int64_t tokens) {
  Job out;
  out.sequence = tokens;
  out.global_batch = 1;
  out.recipe = serving.weights;
  out.dropout = 0;
  out.fused = out.fused_experts = true;
  out.attention = usual_attention(out, serving.cluster.accelerator);
  return out;
}

std::vector<double> layers_of_kinds(const Model& model) {
  std::vector<double> out(model.kinds.size());
  for (const std::uint8_t kind : model.pattern) ++out[kind];
  return out;
}

// Where experts lie inside the group every rank has all tokens already: each adds up what its
// experts, or parts of them, make. Else the ranks of a copy of attention send a part of its tokens
// each.
void spread_experts(Program& program, const Share& share, const Experts& experts) {
  const LayerSplit& split = share.split;
  const bool inside = split.ep <= split.tp;
  const double group = inside ? 1 : static_cast<double>(split.ep) / static_cast<double>(split.tp);
  const double tokens = share.rows * group;
  const double active = static_cast<double>(experts.active);
  const double ranks = static_cast<double>(split.ep);
  const double chosen = chosen_experts(static_cast<double>(experts.count), active, tokens) / ranks;
  const double copies = tokens * active / ranks;
  const auto busy = std::max<std::int64_t>(1, std::llround(chosen));
  const auto rows = std::max<std::int64_t>(1, std::llround(copies / static_cast<double>(busy)));
  std::erase_if(program.items, [&](const Item& item) {
    const auto* crossing = std::get_if<Crossing>(&item.what);
    return crossing != nullptr && inside &&
           (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine ||
            crossing->seam == Seam::share);
  });
  for (Item& item : program.items) {
    if (auto* op = std::get_if<Op>(&item.what)) {
      auto* product = op->routed ? std::get_if<Matmul>(&op->shape) : nullptr;
      if (product == nullptr) continue;
      product->m = rows;
      product->batch = busy;
    } else if (auto* crossing = std::get_if<Crossing>(&item.what)) {
      if (inside && crossing->seam == Seam::sum) {
        item.what = Crossing{.seam = Seam::exit,
                             .tensor = share.rows * share.hidden * share.element,
                             .module = Module::experts};
      } else if (crossing->seam == Seam::dispatch || crossing->seam == Seam::combine) {
        crossing->tensor = crossing->tensor / static_cast<double>(split.tp);
      }
    }
  }
}

// What one token leaves in the cache of a layer, in values, on one rank.
double cached_values(const Attention& attention, std::int64_t tp) {
  if (attention.latent) {
    return static_cast<double>(attention.latent->key_value_rank + attention.latent->rope_dim);
  }
  const std::int64_t heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  return static_cast<double>(heads * (attention.head_dim + attention.value_dim));
}

class Pricer {
 public:
  Pricer(const Serving& serving, const ServingConstants& constants, const PassWork& work)
      : serving_(serving),
        constants_(constants),
        work_(work),
        layout_(layout_of(serving, work.sequences)),
        job_(job_of(serving, work.tokens)),
        last_(job_of(serving, 1)),
        spans_(spans(layout_, serving.cluster)) {
    const auto& untuned = serving.engine.untuned;
    const auto known = untuned.find(serving.cluster.accelerator.architecture);
    if (work.tokens == 1 && known != untuned.end()) untuned_ = known->second;
  }

  PassTime run() {
    const Share share(serving_.model, job_, layout_);
    add(forward_embedding(share), share, 1, nullptr);
    const std::vector<double> layers = layers_of_kinds(serving_.model);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = serving_.model.kinds[i];
      add(forward_layer(share, layer), share, layers[i], &layer);
    }
    // Of each sequence the last token alone goes on.
    const Share last(serving_.model, last_, layout_);
    add(forward_head(last), last, 1, nullptr);
    if (serving_.pp > 1) {
      const Bytes sent = share.rows * share.hidden * share.element;
      out_[ServingPart::pp] += static_cast<double>(serving_.pp - 1) *
                               transfer_time(sent / static_cast<double>(serving_.tp));
    }
    out_.kernels = kernels_;
    out_[ServingPart::host] += host_time();
    return out_;
  }

 private:
  void add(Program program, const Share& share, double times, const Layer* layer) {
    if (layer != nullptr && layer->experts) spread_experts(program, share, *layer->experts);
    split_tensors(program, share);
    route_experts(program, share);
    for (const Item& item : program.items) {
      if (const auto* op = std::get_if<Op>(&item.what)) {
        kernels_ += times * op->kernels;
        add(*op, times, layer);
      } else if (const auto* call = std::get_if<Call>(&item.what)) {
        out_[call->group == Group::ep ? ServingPart::ep : ServingPart::tp] +=
            times * call->count * time_of_call(*call);
      }
    }
  }

  void add(const Op& op, double times, const Layer* layer) {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const KernelParameters& kernels = constants_.alone.kernels;
    if (const auto* product = std::get_if<Matmul>(&op.shape)) {
      const Scaling scaling = serving_.weights->block_scaled ? Scaling::blocks : Scaling::whole;
      const Seconds each =
          product->batch > 1
              ? batched_matmul_time(*product, op.precision, accelerator, kernels, scaling)
              : matmul_time(*product, op.precision, accelerator, kernels, 0, scaling);
      out_[ServingPart::products] += times * std::max(each, untuned_time(*product));
    } else if (const auto* core = std::get_if<AttentionShape>(&op.shape)) {
      out_[ServingPart::attention] += times * attention_time(*core, *layer->attention);
    } else {
      const Pass& pass = std::get<Pass>(op.shape);
      out_[ServingPart::passes] += times * pass_time(pass.moved, accelerator, kernels);
    }
  }

  // [INFER-12] Nothing where kernels are as measured.
  Seconds untuned_time(const Matmul& product) const {
    if (!(untuned_.products > 0)) return Seconds(0);
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const FlopsPerSecond peak =
        std::max(accelerator.peak_of(Precision::bf16), accelerator.peak_of(Precision::fp16));
    const Flops work(2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
                     static_cast<double>(product.k) * static_cast<double>(product.batch));
    return work / (peak * untuned_.products);
  }

  Seconds attention_time(AttentionShape core, const Attention& attention) const {
    core.keys = work_.cached + work_.tokens;
    if (attention.window > 0) core.keys = std::min(core.keys, attention.window + work_.tokens - 1);
    if (work_.tokens > 1) {
      return attention_forward_time(core, job_.attention, serving_.weights->activation,
                                    serving_.cluster.accelerator, constants_.alone.kernels);
    }
    CachedAttention shape;
    shape.sequences = work_.sequences;
    shape.keys = core.keys;
    shape.heads = core.heads;
    shape.latent = attention.latent.has_value();
    // Latent: queries come to the keys' width, and results leave it, by products that stand in the
    // program as those of keys and values.
    shape.width = shape.latent ? 2 * attention.latent->key_value_rank + attention.latent->rope_dim
                               : core.head_dim + core.value_dim;
    shape.cached_of_token =
        Bytes(cached_values(attention, serving_.tp) * bytes_per_element(serving_.cache));
    if (!(untuned_.attention > 0) || shape.latent) {
      return cached_attention_time(shape, serving_.cluster.accelerator, constants_.kernels);
    }
    shape.cached_of_token = shape.cached_of_token * static_cast<double>(core.heads) /
                            static_cast<double>(core.kv_heads);
    ServingKernels kernels = constants_.kernels;
    kernels.decode.memory = untuned_.attention;
    return cached_attention_time(shape, serving_.cluster.accelerator, kernels);
  }

  Seconds time_of_call(const Call& call) const {
    const GroupSpan span = span_of_call(call, spans_);
    const Seconds library = collective_time(call.op, call.bytes, span, serving_.cluster,
                                            constants_.alone.levels, call.choices);
    const Level& inner = serving_.cluster.levels.front();
    const bool own = serving_.engine.own_all_reduce && call.op == CollectiveOp::all_reduce &&
                     span.ranks <= inner.size && memory_levels(serving_.cluster) > 0;
    return own ? std::min(library, own_all_reduce_time(call.bytes, span.ranks, inner.bandwidth,
                                                       constants_.kernels))
               : library;
  }

  // [INFER-8] Of a replayed pass what lies between its kernels; of another what the host needs to
  // launch them beyond what they take.
  Seconds host_time() {
    const Engine& engine = serving_.engine;
    const Seconds device = out_.total();
    if (!work_.replayed) {
      return engine.step + std::max(Seconds(0), kernels_ * engine.launch - device);
    }
    return engine.step + static_cast<double>(work_.sequences) * engine.sequence +
           static_cast<double>(serving_.model.layers()) *
               gap_of_layer(engine, serving_.cluster.accelerator);
  }

  Seconds transfer_time(Bytes bytes) const {
    Layout stages = layout_;
    stages.pp = serving_.pp;
    const Spans all = spans(stages, serving_.cluster);
    const Call send{.op = CollectiveOp::send_receive,
                    .group = Group::pp,
                    .phase = Phase::pipeline,
                    .dtype = serving_.weights->activation,
                    .bytes = bytes};
    return collective_time(send.op, bytes, span_of_call(send, all), serving_.cluster,
                           constants_.alone.levels);
  }

  const Serving& serving_;
  const ServingConstants& constants_;
  const PassWork& work_;
  Layout layout_;
  Job job_, last_;
  Spans spans_;
  Untuned untuned_;
  double kernels_ = 0;
  PassTime out_;
};

// Bytes of an element of a layer's weights: with the factor of each 16 (fp4) or 128 by 128 (by
// blocks) of them.
double weight_bytes(const Recipe& recipe) {
  const double element = bytes_per_element(recipe.matmul);
  return recipe.matmul == Precision::fp4 ? element + 1.0 / 16 : element;
}

}  // namespace

// [INFER-3] E · (1 - (1 - k/E)^T). Benchmarks that spread tokens evenly hit more of them.
double chosen_experts(double experts, double active, double tokens) {
  return experts * (1 - std::pow(1 - active / experts, tokens));
}

Seconds gap_of_layer(const Engine& engine, const Accelerator& accelerator) {
  const auto known = engine.layer.find(accelerator.architecture);
  const auto usual = known != engine.layer.end() ? known : engine.layer.find("default");
  return usual != engine.layer.end() ? usual->second : Seconds(0);
}

Layout layout_of(const Serving& serving, std::int64_t sequences) {
  Layout out;
  out.tp = serving.tp;
  out.dp = serving.dp;
  out.ep = serving.ep;
  const std::vector<Layer>& kinds = serving.model.kinds;
  const bool experts = std::any_of(kinds.begin(), kinds.end(),
                                   [](const Layer& layer) { return layer.experts.has_value(); });
  if (experts) out.etp = std::max<std::int64_t>(1, serving.tp / serving.ep);
  out.micro_batch = sequences;
  out.sequence_parallel = false;
  return out;
}

Result<ServingConstants> serving_constants(const Cluster& cluster) {
  const auto alone = benchmarked_for(cluster);
  if (!alone) return alone.problems();
  const auto kernels = serving_kernels_for(cluster.accelerator);
  if (!kernels) return kernels.problems();
  return ServingConstants{*alone, *kernels};
}

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work) {
  return Pricer(serving, constants, work).run();
}

// [INFER-4] [INFER-5] A stage has an even share of the layers, the first the embedding, the last
// the head.
ServingMemory memory_of(const Serving& serving, std::int64_t context) {
  const Layout layout = layout_of(serving, 1);
  const Job job = job_of(serving, 1);
  const Share share(serving.model, job, layout);
  const std::vector<double> layers = layers_of_kinds(serving.model);
  double layer_values = 0, cached = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = serving.model.kinds[i];
    const HeldParameters held = forward_layer(share, layer).held;
    layer_values += layers[i] * (held.dense + held.experts);
    const std::int64_t window = layer.attention->window;
    const double kept = window > 0 && window < context
                            ? static_cast<double>(window) / static_cast<double>(context)
                            : 1.0;
    cached += layers[i] * kept * cached_values(*layer.attention, serving.tp);
  }
  const double stages = static_cast<double>(serving.pp);
  const double ends = forward_embedding(share).held.dense, head = forward_head(share).held.dense;
  ServingMemory out;
  out.weights = Bytes(layer_values / stages * weight_bytes(*serving.weights) +
                      (serving.pp > 1 ? std::max(ends, head) : ends + head) *
                          bytes_per_element(serving.weights->activation));
  out.cache_of_token = Bytes(cached / stages * bytes_per_element(serving.cache));
  out.reserved = serving.engine.reserved;
  out.capacity = serving.cluster.accelerator.memory * serving.engine.memory;
  out.cached_tokens = (out.capacity - out.weights - out.reserved) / out.cache_of_token;
  return out;
}

}  // namespace headway
