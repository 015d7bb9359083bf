// One pass of a serving: the forward pass that training begins with, its tokens spread over experts
// as serving does, its attention over the cache, priced item by item.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/kernels/traffic.hpp"
#include "cost/serving/exchange.hpp"
#include "cost/serving/experts.hpp"
#include "forecast/price.hpp"
#include "step/forward/forward.hpp"
#include "step/passes/passes.hpp"
#include "study/infer/items.hpp"
#include "study/infer/parts.hpp"

namespace headway {
namespace {

// Rows of one tile: a product of no more leaves units without one.
constexpr std::int64_t kFewRows = 128;

class Pricer {
 public:
  Pricer(const Serving& serving, const ServingConstants& constants, const PassWork& work,
         std::vector<PassItem>* items = nullptr)
      : serving_(serving),
        constants_(constants),
        work_(work),
        items_(items),
        cp_(work.is_prompt() ? serving.cp : 1),
        layout_(layout_of(serving, work.sequences, cp_)),
        job_(serving_job(serving, (work.tokens + cp_ - 1) / cp_ * cp_)),
        last_(serving_job(serving, work.checks ? work.tokens : 1)),
        spans_(spans(layout_of(serving, 1, serving.cp), serving.cluster)),
        routed_(routed_format(serving)),
        fuses_casts_(fuses_casts(serving)) {
    const auto& untuned = serving.engine.untuned;
    const auto known = untuned.find(serving.cluster.accelerator.architecture);
    if ((work.tokens == 1 || work.checks) && known != untuned.end()) untuned_ = known->second;
  }

  PassTime run() {
    const Share share(serving_.model, job_, layout_);
    block_ = BlockKind::embedding;
    add(forward_embedding(share), share, 1, nullptr);
    block_ = BlockKind::layer;
    const std::vector<double> layers = layers_of_kinds(serving_.model);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = serving_.model.kinds[i];
      kind_ = i;
      add(forward_layer(share, layer), share, layers[i], &layer);
    }
    if (serving_.predicts) add_projection(share);
    // Of each sequence the last token alone goes on, and guesses that are checked.
    const Layout whole = layout_of(serving_, work_.sequences);
    const Share last(serving_.model, last_, whole);
    block_ = BlockKind::head;
    add(forward_head(last), last, 1, nullptr);
    if (serving_.pp > 1) {
      const Bytes sent = share.rows * share.hidden * share.element;
      const Bytes each = sent / static_cast<double>(serving_.tp);
      take({.part = ServingPart::pp,
            .count = static_cast<double>(serving_.pp - 1),
            .each = transfer_time(each),
            .bytes = each});
    }
    out_.kernels = kernels_;
    take({.part = ServingPart::host, .each = host_time()});
    return out_;
  }

 private:
  void take(PassItem item) {
    out_[item.part] += item.count * item.each;
    if (items_ == nullptr) return;
    item.block = block_;
    item.kind = kind_;
    items_->push_back(std::move(item));
  }

  void add(Program program, const Share& share, double times, const Layer* layer) {
    join_projections(program);
    if (layer != nullptr && layer->experts) {
      spread_experts(program, share, *layer->experts, serving_.routing,
                     quantised_bytes(routed_.precision, routed_.scaling));
    }
    split_tensors(program, share);
    exchange_context(program, share);
    route_experts(program, share);
    returns_ = false;
    std::vector<PassItem> ring;
    const Seconds attention = out_[ServingPart::attention];
    for (const Item& item : program.items) {
      if (const auto* op = std::get_if<Op>(&item.what)) {
        if (is_fused(*op)) continue;
        kernels_ += times * launches_of(*op);
        add(*op, times, layer);
      } else if (const auto* call = std::get_if<Call>(&item.what)) {
        PassItem made{.part = part_of(call->group),
                      .what = *call,
                      .count = times * call->count,
                      .each = time_of_call(*call, layer),
                      .bytes = call->bytes};
        if (made.part == ServingPart::cp) {
          ring.push_back(std::move(made));
        } else {
          take(std::move(made));
        }
      }
    }
    if (layer == nullptr || serving_.cp == 1) return;
    if (cp_ > 1) {
      take_ring(std::move(ring), out_[ServingPart::attention] - attention);
    } else {
      take(merged(*layer, times));
    }
  }

  // [INFER-39] Whether engines make the input of products where a norm, an activation or attention
  // writes it. 8 bits by blocks have kernels of their own.
  static bool fuses_casts(const Serving& serving) {
    const Recipe& recipe = *serving.weights;
    const bool blocks = recipe.block_scaled && recipe.matmul != Precision::fp4;
    const auto& fused = serving.engine.fuses_casts;
    return serving.stored == nullptr && !blocks &&
           std::find(fused.begin(), fused.end(), to_name(recipe.matmul)) != fused.end();
  }
  bool is_fused(const Op& op) const {
    const auto* pass = std::get_if<Pass>(&op.shape);
    return fuses_casts_ && pass != nullptr && pass->cast;
  }

  // Training chooses experts, sorts tokens and multiplies expert by expert with kernels of its
  // framework. Engines have one kernel for the products of all experts, and two for each of what
  // lies about them: choice and order of tokens, activation and scales, the way back and the sum
  // (github.com/vllm-project/vllm, fused_moe.py: topk_softmax, moe_align_block_size, fused_moe
  // twice, silu_and_mul and per_token_quant, moe_sum).
  static double launches_of(const Op& op) {
    constexpr double kOfPass = 2;
    return std::holds_alternative<Matmul>(op.shape) ? 1 : std::min(op.kernels, kOfPass);
  }

  static ServingPart part_of(Group group) {
    if (group == Group::cp) return ServingPart::cp;
    return group == Group::ep ? ServingPart::ep : ServingPart::tp;
  }

  // [INFER-25] Keys and values go round under the attention of the pieces that came before.
  void take_ring(std::vector<PassItem> ring, Seconds attention) {
    Seconds all;
    for (const PassItem& item : ring) all += item.count * item.each;
    const double behind = static_cast<double>(cp_ - 1) / static_cast<double>(cp_);
    const Seconds exposed = std::max(Seconds(0), all - behind * attention);
    for (PassItem& item : ring) {
      item.each *= all > Seconds(0) ? exposed / all : 0.0;
      take(std::move(item));
    }
  }

  // [INFER-25] Of a decoded token the parts of its result are put together: of each head of a
  // sequence its result and the sum of its weights, in 32 bits, of all ranks.
  PassItem merged(const Layer& layer, double times) {
    const Attention& attention = *layer.attention;
    const std::int64_t heads = std::max<std::int64_t>(1, attention.heads / serving_.tp);
    const std::int64_t width =
        attention.latent ? attention.latent->key_value_rank : attention.value_dim;
    const Call sum{.op = CollectiveOp::all_reduce,
                   .group = Group::cp,
                   .phase = Phase::forward,
                   .dtype = Precision::fp32,
                   .bytes = Bytes(4 * static_cast<double>(work_.sequences * work_.tokens * heads *
                                                          (width + 1)))};
    return {.part = ServingPart::cp,
            .what = sum,
            .count = times,
            .each = time_of_call(sum, nullptr),
            .bytes = sum.bytes};
  }

  // Of the embedding of a token beside what the model made of the one before it.
  void add_projection(const Share& share) {
    const std::int64_t hidden = serving_.model.hidden;
    const Matmul product{static_cast<std::int64_t>(share.rows), hidden / serving_.tp, 2 * hidden};
    add(Op{.shape = product, .precision = serving_.weights->activation}, 1, nullptr);
  }

  void add(const Op& op, double times, const Layer* layer) {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const KernelParameters& kernels = constants_.alone.kernels;
    PassItem item{.what = op, .count = times};
    if (items_ != nullptr) {
      item.flops = work(op);
      item.bytes = traffic_of(op, job_.attention);
    }
    if (const auto* product = std::get_if<Matmul>(&op.shape)) {
      item.part = ServingPart::products;
      item.each = std::max(product_time(op, *product, layer, item), untuned_time(*product));
      out_.rated += times * rated_time(op, layer != nullptr);
    } else if (const auto* core = std::get_if<AttentionShape>(&op.shape)) {
      item.part = ServingPart::attention;
      item.each = attention_time(*core, *layer->attention, item);
      if (work_.tokens > 1) out_.rated += times * rated_time(op, true);
    } else {
      const Pass& pass = std::get<Pass>(op.shape);
      item.part = ServingPart::passes;
      item.each = routed_pass_time(pass.moved, op.routed && routed_.sorted, accelerator, kernels,
                                   constants_.kernels);
    }
    take(std::move(item));
  }

  // [INFER-22] What a product takes at the rate that long ones of its arithmetic sustain.
  Seconds rated_time(const Op& op, bool of_layer) const {
    const Arithmetic arithmetic = arithmetic_of(serving_, constants_, op, of_layer);
    return work(op, AttentionFlops::full) /
           (arithmetic.peak * sustained_share(constants_.alone.kernels, arithmetic.format));
  }

  // Embedding and head, which are no layer's, are in 16 bits whatever the weights.
  Seconds product_time(const Op& op, const Matmul& product, const Layer* layer,
                       PassItem& item) const {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const KernelParameters& kernels = constants_.alone.kernels;
    const WeightFormat* stored = serving_.stored;
    if (stored != nullptr && layer != nullptr && is_stored(*stored, serving_.model, op.routed)) {
      const double weights = static_cast<double>(product.batch * product.n * product.k);
      item.bytes += Bytes(weights * (stored->bytes() - bytes_per_element(op.precision)));
      return unpacked_product_time(product, *stored, accelerator, kernels, constants_.formats);
    }
    const Scaling scaling = serving_.weights->block_scaled ? Scaling::blocks : Scaling::whole;
    if (op.routed) {
      return expert_product_time(product, op.precision, scaling, accelerator, kernels,
                                 constants_.kernels);
    }
    const Seconds whole = matmul_time(product, op.precision, accelerator, kernels, 0, scaling);
    if (product.m > kFewRows || product.batch > 1) return whole;
    return std::min(whole,
                    split_product_time(product, op.precision, scaling, accelerator, kernels));
  }

  // [INFER-27] Of few rows, which leave units without a tile, parts of the sum beside each other,
  // and a pass that adds them up, in 32 bits: as many as there are units for; of 4 bits, whose
  // kernels that were measured split none, two.
  static Seconds split_product_time(const Matmul& product, Precision precision, Scaling scaling,
                                    const Accelerator& accelerator,
                                    const KernelParameters& kernels) {
    constexpr std::int64_t kTile = 64, kMostParts = 8;
    const bool four = precision == Precision::fp4;
    const std::int64_t tiles =
        ((product.m + kTile - 1) / kTile) * ((product.n + kTile - 1) / kTile);
    Seconds best(std::numeric_limits<double>::infinity());
    for (std::int64_t parts = 2; parts <= (four ? 2 : kMostParts); parts *= 2) {
      if (!four &&
          (tiles * parts > accelerator.compute_units || product.k % (kTile * parts) != 0)) {
        break;
      }
      Matmul part = product;
      part.k = (product.k + parts - 1) / parts;
      part.batch = parts;
      const double results =
          static_cast<double>(part.batch) * static_cast<double>(product.m * product.n);
      best = std::min(best, batched_matmul_time(part, precision, accelerator, kernels, scaling) +
                                pass_time(Bytes(4 * results), accelerator, kernels));
    }
    return best;
  }

  // [INFER-12] Nothing where kernels are as measured.
  Seconds untuned_time(const Matmul& product) const {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const double values =
        static_cast<double>(product.n) * static_cast<double>(product.k * product.batch);
    Seconds out(0);
    if (untuned_.products > 0) {
      out = Flops(2.0 * static_cast<double>(product.m) * values) /
            (peak_of_16_bits(accelerator) * untuned_.products);
    }
    if (untuned_.weights > 0) {
      out = std::max(out, Bytes(2 * values) / (accelerator.memory_bandwidth * untuned_.weights));
    }
    return out;
  }

  Seconds attention_time(AttentionShape core, const Attention& attention, PassItem& item) const {
    if (attention.linear) return linear_attention_time(core, attention, item);
    core.keys = work_.cached + work_.tokens;
    if (attention.indexer && !reads_all(attention)) return chosen_keys_time(core, attention, item);
    if (attention.window > 0) core.keys = std::min(core.keys, attention.window + work_.tokens - 1);
    if (work_.is_prompt()) {
      // [INFER-25] Every rank has an early and a late piece, which see as much as all in the mean.
      if (cp_ > 1) core.keys = work_.cached + (work_.tokens + core.queries) / 2;
      core.ring = 1;
      Op op = std::get<Op>(item.what);
      op.shape = core;
      item.flops = work(op);
      item.bytes = traffic_of(op, job_.attention);
      return prompt_attention_time({core, precision_of_prompts(attention)},
                                   serving_.cluster.accelerator, constants_.alone.kernels,
                                   constants_.kernels);
    }
    CachedAttention shape;
    shape.sequences = work_.sequences;
    shape.queries = work_.tokens;
    shape.keys = (core.keys + serving_.cp - 1) / serving_.cp;
    shape.heads = core.heads;
    shape.latent = attention.latent.has_value();
    // Latent: queries come to the keys' width, and results leave it, by products that stand in the
    // program as those of keys and values.
    shape.width = shape.latent ? 2 * attention.latent->key_value_rank + attention.latent->rope_dim
                               : core.head_dim + core.value_dim;
    shape.cached_of_token = Bytes(cached_values(attention, serving_.tp) * serving_.cache->bytes);
    item.flops = work(shape);
    const bool tuned = !(untuned_.attention > 0) || shape.latent;
    ServingKernels kernels = constants_.kernels;
    if (!tuned) {
      shape.cached_of_token = shape.cached_of_token * static_cast<double>(core.heads) /
                              static_cast<double>(core.kv_heads);
      kernels.decode.memory = untuned_.attention;
    }
    const Accelerator& accelerator = serving_.cluster.accelerator;
    item.bytes = traffic_of(shape);
    const Seconds time = cached_attention_time(shape, accelerator, kernels);
    const GroupedAttention& grouped = serving_.engine.grouped;
    if (grouped.has(attention)) return time;
    const double read = static_cast<double>(core.heads) / static_cast<double>(core.kv_heads);
    return std::max(time, kernels.decode.start +
                              read * item.bytes / (accelerator.memory_bandwidth * grouped.others));
  }

  // Engines attend in 16 bits, whatever the weights, unless the cache is kept in 8 bits; latent
  // attention always, whose keys and values are made anew.
  Precision precision_of_prompts(const Attention& attention) const {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    const bool eight = serving_.cache->name == "fp8" && !attention.latent &&
                       accelerator.peak_of(Precision::fp8) > peak_of_16_bits(accelerator);
    if (eight) return Precision::fp8;
    const bool brain = accelerator.peak_of(Precision::bf16) >= accelerator.peak_of(Precision::fp16);
    return brain ? Precision::bf16 : Precision::fp16;
  }

  // A prompt that keeps all of its keys needs no scores: engines pass it as if there were no
  // indexer. Passes that a graph replays are of any length.
  bool reads_all(const Attention& attention) const {
    return work_.is_prompt() && work_.cached + work_.tokens <= attention.indexer->keep;
  }

  // [INFER-26] The scores of all keys, and attention over those that are kept.
  Seconds chosen_keys_time(const AttentionShape& core, const Attention& attention,
                           PassItem& item) const {
    const LatentProjection& latent = *attention.latent;
    const KeyIndexer& indexer = *attention.indexer;
    const SparseWork shape{work_.sequences, work_.tokens, work_.cached, work_.is_prompt()};
    const ChosenKeys chosen{core.heads, 2 * latent.key_value_rank + latent.rope_dim, indexer.keep,
                            Bytes(cached_values(attention, 1) * serving_.cache->bytes)};
    const Accelerator& accelerator = serving_.cluster.accelerator;
    item.flops = work(shape, indexer) + work(shape, chosen);
    item.bytes = traffic_of(shape, indexer) + traffic_of(shape, chosen);
    return index_time(shape, indexer, accelerator, constants_.alone.kernels, constants_.kernels,
                      constants_.sparse) +
           chosen_time(shape, chosen, accelerator, constants_.kernels, constants_.sparse);
  }

  // Of a prompt as training has it, chunk by chunk; of a token the state alone.
  Seconds linear_attention_time(const AttentionShape& core, const Attention& attention,
                                PassItem& item) const {
    const Accelerator& accelerator = serving_.cluster.accelerator;
    if (work_.tokens == 1) {
      // The state is read and written.
      item.bytes = 2 * static_cast<double>(work_.sequences) * state_of(attention, serving_.tp);
      return state_attention_time(work_.sequences, state_of(attention, serving_.tp), accelerator,
                                  constants_.kernels);
    }
    return attention_forward_time(core, job_.attention, serving_.weights->activation, accelerator,
                                  constants_.alone.kernels);
  }

  // [INFER-33] Tokens go to their experts by the first exchange of a layer, and come back by the
  // second; of a prompt by the kernels of many, of decoded ones by those of few.
  Seconds time_of_exchange(const Call& call, const GroupSpan& span, const Experts& experts) {
    const std::vector<Level>& levels = serving_.cluster.levels;
    ExpertExchange exchange;
    exchange.combine = returns_;
    exchange.quick = !work_.is_prompt();
    exchange.hidden = serving_.model.hidden;
    exchange.active = experts.active;
    const Bytes of_token(static_cast<double>(experts.active * serving_.model.hidden) *
                         bytes_per_element(call.dtype));
    exchange.tokens = static_cast<std::int64_t>(std::ceil(call.bytes / of_token));
    exchange.ranks = span.ranks;
    exchange.ranks_of_node = span.members[0];
    exchange.bandwidth = levels[0].bandwidth;
    exchange.network = levels[std::min<std::size_t>(1, levels.size() - 1)].bandwidth;
    returns_ = !returns_;
    return expert_exchange_time(exchange, constants_.kernels);
  }

  Seconds time_of_call(const Call& call, const Layer* layer) {
    const GroupSpan span = span_of_call(call, spans_);
    if (serving_.own_exchange && call.group == Group::ep && layer != nullptr && layer->experts) {
      return time_of_exchange(call, span, *layer->experts);
    }
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
      const double prompts = work_.is_prompt() ? static_cast<double>(work_.sequences) : 0;
      return engine.step + std::max(Seconds(0), launch_time(serving_, kernels_) - device) +
             prompts * (engine.prompt + static_cast<double>(work_.tokens) * engine.token);
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
  std::vector<PassItem>* items_;  // null: nobody asks
  std::int64_t cp_;               // ranks that share each sequence: of prompts alone
  Layout layout_;
  Job job_, last_;
  Spans spans_;
  BlockKind block_ = BlockKind::layer;
  std::size_t kind_ = 0;
  Untuned untuned_;
  RoutedFormat routed_;
  bool fuses_casts_;
  double kernels_ = 0;
  bool returns_ = false;  // the next exchange of a layer's tokens is the way back
  PassTime out_;
};

}  // namespace

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work) {
  return Pricer(serving, constants, work).run();
}

PassTime time_of(const Serving& serving, const ServingConstants& constants, const PassWork& work,
                 std::vector<PassItem>& items) {
  items.clear();
  return Pricer(serving, constants, work, &items).run();
}

}  // namespace headway
