// The forward pass that training begins with, its tokens spread over experts as serving does, its
// attention over the cache, priced item by item.
#include "study/infer/pass/pricer.hpp"

#include <algorithm>

#include "cost/kernels/traffic.hpp"
#include "cost/serving/experts.hpp"
#include "step/forward/forward.hpp"
#include "step/passes/passes.hpp"
#include "study/infer/parts.hpp"
#include "study/infer/pass/attention.hpp"
#include "study/infer/pass/calls.hpp"
#include "study/infer/pass/products.hpp"

namespace headway {
namespace {

class Pricer {
 public:
  Pricer(const Serving& serving, const ServingConstants& constants, const PassWork& work,
         std::vector<PassItem>* items)
      : of_(context_of(serving, constants, work)),
        items_(items),
        layout_(layout_of(serving, work.sequences, of_.cp)),
        job_(serving_job(serving, (work.tokens + of_.cp - 1) / of_.cp * of_.cp)),
        last_(serving_job(serving, work.checks ? work.tokens : 1)),
        spans_(spans(layout_of(serving, 1, serving.cp), serving.cluster)),
        routed_(routed_format(serving)),
        fuses_casts_(fuses_casts(serving)) {
    of_.kernel = job_.attention;
  }

  PricedPass run() {
    const Share share(of_.serving.model, job_, layout_);
    block_ = BlockKind::embedding;
    add(forward_embedding(share), share, 1, nullptr);
    block_ = BlockKind::layer;
    const std::vector<double> layers = layers_of_kinds(of_.serving.model);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = of_.serving.model.kinds[i];
      kind_ = i;
      layers_.push_back({.count = layers[i]});
      add(forward_layer(share, layer), share, layers[i], &layer);
    }
    if (of_.serving.predicts) add_projection(share);
    // Of each sequence the last token alone goes on, and guesses that are checked.
    const Layout whole = layout_of(of_.serving, of_.work.sequences);
    const Share last(of_.serving.model, last_, whole);
    block_ = BlockKind::head;
    add(forward_head(last), last, 1, nullptr);
    if (of_.serving.pp > 1) {
      const Bytes sent = share.rows * share.hidden * share.element;
      const Bytes each = sent / static_cast<double>(of_.serving.tp);
      take({.part = ServingPart::pp,
            .count = static_cast<double>(of_.serving.pp - 1),
            .each = transfer_time(of_, layout_, each),
            .bytes = each});
    }
    out_.kernels = kernels_;
    return {.time = out_, .layers = std::move(layers_)};
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
      spread_experts(program, share, *layer->experts, of_.serving.routing,
                     quantised_bytes(routed_.precision, routed_.scaling));
    }
    split_tensors(program, share);
    exchange_context(program, share);
    route_experts(program, share);
    returns_ = false;
    std::vector<PassItem> ring;
    const Seconds attention = out_[ServingPart::attention];
    bool is_behind = false;  // tokens are at their experts, or came back
    Seconds so_far = alone();
    if (layer != nullptr && !of_.work.is_prompt()) add_state(*layer, times);
    const auto ends = [&](Seconds LayerParts::*part) {
      const Seconds now = alone();
      if (layer != nullptr) layers_.back().*part += (now - so_far) / times;
      so_far = now;
    };
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
          continue;
        }
        const bool exchanges = made.part == ServingPart::ep;
        if (exchanges) ends(is_behind ? &LayerParts::experts : &LayerParts::before);
        take(std::move(made));
        if (exchanges) {
          ends(is_behind ? &LayerParts::combine : &LayerParts::dispatch);
          is_behind = true;
        }
      }
    }
    if (layer != nullptr && of_.cp > 1) {
      take_ring(std::move(ring), out_[ServingPart::attention] - attention);
    } else if (layer != nullptr && layer->attention && of_.serving.cp > 1) {
      take(merged(*layer, times));
    }
    ends(is_behind ? &LayerParts::after : &LayerParts::before);
  }

  // But for what ranks of tp and cp send each other.
  Seconds alone() const { return out_.total() - out_[ServingPart::tp] - out_[ServingPart::cp]; }

  // [INFER-39] Whether engines make the input of products where a norm, an activation or attention
  // writes it. 8 bits by blocks have kernels of their own.
  static bool fuses_casts(const Serving& serving) {
    const Recipe& recipe = *serving.weights;
    const bool blocks =
        format_of(recipe.matmul, scaling_of(recipe)) == ProductFormat::bits_8_blocks;
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
    const double behind = static_cast<double>(of_.cp - 1) / static_cast<double>(of_.cp);
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
    const std::int64_t heads = std::max<std::int64_t>(1, attention.heads / of_.serving.tp);
    const std::int64_t width =
        attention.latent ? attention.latent->key_value_rank : attention.value_dim;
    const Call sum{.op = CollectiveOp::all_reduce,
                   .group = Group::cp,
                   .phase = Phase::forward,
                   .dtype = Precision::fp32,
                   .bytes = Bytes(4 * static_cast<double>(of_.work.sequences * of_.work.tokens *
                                                          heads * (width + 1)))};
    return {.part = ServingPart::cp,
            .what = sum,
            .count = times,
            .each = time_of_call(sum, nullptr),
            .bytes = sum.bytes};
  }

  // [INFER-21] The scan of a selective layer [STEP-30] has what is of its tokens; of decoded ones
  // the state is read and written beside it.
  void add_state(const Layer& layer, double times) {
    const bool linear = layer.attention && layer.attention->linear;
    if (!linear || layer.attention->linear->form != LinearForm::selective) return;
    const Bytes state = state_of(*layer.attention, of_.serving.tp);
    take({.part = ServingPart::attention,
          .what = Op{.shape = AttentionShape{}, .kernels = 0},
          .count = times,
          .each = state_attention_time(of_.work.sequences, state, of_.serving.cluster.accelerator,
                                       of_.constants.kernels),
          .bytes = 2 * static_cast<double>(of_.work.sequences) * state});
  }

  // Of the embedding of a token beside what the model made of the one before it.
  void add_projection(const Share& share) {
    const std::int64_t hidden = of_.serving.model.hidden;
    const Matmul product{static_cast<std::int64_t>(share.rows), hidden / of_.serving.tp,
                         2 * hidden};
    add(Op{.shape = product, .precision = of_.serving.weights->activation}, 1, nullptr);
  }

  void add(const Op& op, double times, const Layer* layer) {
    const Accelerator& accelerator = of_.serving.cluster.accelerator;
    const KernelParameters& kernels = of_.constants.alone.kernels;
    PassItem item{.what = op, .count = times};
    if (items_ != nullptr) {
      item.flops = work(op);
      item.bytes = traffic_of(op, job_.attention);
    }
    if (const auto* product = std::get_if<Matmul>(&op.shape)) {
      item.part = ServingPart::products;
      item.each = product_time(of_, op, *product, layer != nullptr, item);
      out_.rated += times * rated_time(of_, op, layer != nullptr);
    } else if (const auto* core = std::get_if<AttentionShape>(&op.shape)) {
      item.part = ServingPart::attention;
      item.each = attention_time(of_, *core, *layer->attention, item);
      if (of_.work.tokens > 1) out_.rated += times * rated_time(of_, op, true);
    } else {
      const Pass& pass = std::get<Pass>(op.shape);
      item.part = ServingPart::passes;
      item.each = routed_pass_time(pass.moved, op.routed && routed_.sorted, accelerator, kernels,
                                   of_.constants.kernels);
    }
    take(std::move(item));
  }

  // [INFER-33] Tokens go to their experts by the first exchange of a layer, and come back by the
  // second.
  Seconds time_of_call(const Call& call, const Layer* layer) {
    const bool exchanges = of_.serving.own_exchange && call.group == Group::ep;
    if (!exchanges || layer == nullptr || !layer->experts) return call_time(of_, call, spans_);
    const Seconds time = exchange_time(of_, call, spans_, *layer->experts, returns_);
    returns_ = !returns_;
    return time;
  }

  PassContext of_;
  std::vector<PassItem>* items_;  // null: nobody asks
  Layout layout_;
  Job job_, last_;
  Spans spans_;
  BlockKind block_ = BlockKind::layer;
  std::size_t kind_ = 0;
  RoutedFormat routed_;
  bool fuses_casts_;
  double kernels_ = 0;
  bool returns_ = false;  // the next exchange of a layer's tokens is the way back
  PassTime out_;
  std::vector<LayerParts> layers_;
};

}  // namespace

PricedPass price_pass(const Serving& serving, const ServingConstants& constants,
                      const PassWork& work, std::vector<PassItem>* items) {
  return Pricer(serving, constants, work, items).run();
}

}  // namespace headway
