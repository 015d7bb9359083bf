// What the ranks of a serving hold.
#include <algorithm>

#include "step/forward/forward.hpp"
#include "study/infer/parts.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

// Sequences whose last tokens go through the head at a time, as engines plan for: vLLM's
// max_num_seqs.
constexpr double kPlannedSequences = 256;

// Bytes of activations a token of a pass needs at its widest, in 16 bit: the stream and its norm,
// and what one layer's feed-forward part holds at once, on one rank.
double widest_token(const Serving& serving) {
  const Model& model = serving.model;
  const auto held = [](const FeedForward& part, double width) {
    return (part.gated ? 3 : 2) * width;  // up, gate, and their product
  };
  const double tp = static_cast<double>(serving.tp), hidden = static_cast<double>(model.hidden);
  double widest = 0;
  for (const Layer& layer : model.kinds) {
    double width = 0;
    if (layer.feed_forward) {
      const FeedForward& part = *layer.feed_forward;
      width = held(part, static_cast<double>(part.width)) / tp;
    }
    if (layer.experts) {
      const Experts& experts = *layer.experts;
      const double each = held(experts.each, static_cast<double>(experts.each.width)) + hidden;
      width = static_cast<double>(experts.active) * each / tp +
              held(experts.each, static_cast<double>(experts.shared_width)) / tp;
    }
    widest = std::max(widest, width);
  }
  return 2 * (2 * hidden + widest);
}

// Where memory is large, all that it takes at most; else 256.
double planned_to_sample(const Serving& serving) {
  constexpr double kLarge = 70.0 * (1 << 30);
  const Accelerator& accelerator = serving.cluster.accelerator;
  const auto most = static_cast<double>(serving.engine.policy.most_sequences);
  const auto& few_on = serving.engine.few_on;
  const bool few =
      accelerator.memory.value() < kLarge ||
      std::find(few_on.begin(), few_on.end(), accelerator.architecture) != few_on.end();
  return few ? std::min(most, kPlannedSequences) : most;
}

// [INFER-24] activations: of as many tokens as a pass has at most. head: logits of 16 bits, the
// same in 32 and their probabilities.
Reserved reserved_of(const Serving& serving) {
  Reserved out;
  out.context = serving.engine.reserved;
  if (serving.ranks() > 1) out.communicators = serving.engine.communicators;
  if (serving.engine.whole.only()) return out;  // by the batch
  out.activations =
      Bytes(static_cast<double>(serving.engine.policy.most_tokens) * widest_token(serving));
  const double vocabulary = static_cast<double>(serving.model.vocabulary);
  if (serving.engine.sampled > Bytes(0)) {
    // What a pass held is free again when its results are sampled.
    out.head = planned_to_sample(serving) * vocabulary * serving.engine.sampled;
    out.activations = std::max(Bytes(0), out.activations - out.head);
    return out;
  }
  out.head = Bytes(kPlannedSequences * 10 * vocabulary / static_cast<double>(serving.tp));
  return out;
}

// [INFER-34] Of each sequence of a batch: buffers for its prompt's tokens, all of a layer's parts
// at once, and its logits twice in 32 bits, which each rank has of the whole vocabulary.
Bytes buffers_of_sequence(const Serving& serving, std::int64_t prompt) {
  constexpr double kBytesOfLogit = 8;
  const WholeBatches& whole = serving.engine.whole;
  const Model& model = serving.model;
  const double tp = static_cast<double>(serving.tp);
  double widest = 0;
  for (const Layer& layer : model.kinds) {
    const double heads =
        layer.attention ? static_cast<double>(layer.attention->heads * layer.attention->head_dim)
                        : 0;
    const double width = layer.feed_forward ? static_cast<double>(layer.feed_forward->width) : 0;
    widest = std::max(widest, (whole.heads * heads + whole.feed_forward * width) / tp);
  }
  const double each = 2 * (whole.stream * static_cast<double>(model.hidden) + widest);
  return Bytes(static_cast<double>(prompt) * each +
               kBytesOfLogit * static_cast<double>(model.vocabulary));
}

// And the head's weights, which are the embedding's, a second time.
void hold_whole_batches(ServingMemory& memory, const Serving& serving, std::int64_t prompt) {
  const double spare = serving.engine.whole.spare;
  memory.cache_of_token *= spare;
  memory.state_of_sequence += buffers_of_sequence(serving, prompt);
  memory.state_of_sequence *= spare;
  if (!serving.model.tied_embeddings) return;
  memory.weights += Bytes(static_cast<double>(serving.model.hidden * serving.model.vocabulary) *
                          bytes_per_element(serving.weights->activation));
}

}  // namespace

// [INFER-4] [INFER-5] A stage has an even share of the layers, the first the embedding, the last
// the head.
ServingMemory memory_of(const Serving& serving, std::int64_t context, std::int64_t prompt) {
  const Layout layout = layout_of(serving, 1);
  const Job job = serving_job(serving, 1);
  const Share share(serving.model, job, layout);
  const std::vector<double> layers = layers_of_kinds(serving.model);
  double layer_bytes = 0;
  Bytes cached, state;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = serving.model.kinds[i];
    const HeldParameters held = forward_layer(share, layer).held;
    const double count = layer.experts ? static_cast<double>(layer.experts->count) : 1;
    const double redundant = serving.ep > 1 ? static_cast<double>(serving.routing.redundant) : 0;
    const double copies = 1 + redundant / count;
    layer_bytes += layers[i] * (held.dense * weight_bytes(serving, false) +
                                held.experts * copies * weight_bytes(serving, true));
    if (!layer.attention) continue;
    if (layer.attention->linear) {
      state += layers[i] * state_of(*layer.attention, serving.tp);
      continue;
    }
    const std::int64_t window = layer.attention->window;
    const double kept = window > 0 && window < context
                            ? static_cast<double>(window) / static_cast<double>(context)
                            : 1.0;
    cached += layers[i] * kept * cached_bytes(serving, *layer.attention);
  }
  const double stages = static_cast<double>(serving.pp);
  const double hidden = static_cast<double>(serving.model.hidden);
  const double ends = serving.predicts ? 2 * hidden * hidden / static_cast<double>(serving.tp)
                                       : forward_embedding(share).held.dense;
  const double head = serving.predicts ? 0 : forward_head(share).held.dense;
  ServingMemory out;
  out.weights = Bytes(layer_bytes / stages + (serving.pp > 1 ? std::max(ends, head) : ends + head) *
                                                 bytes_per_element(serving.weights->activation));
  out.cache_of_token = cached / stages;
  out.state_of_sequence = state / stages;
  if (!serving.eager && has_graphs(serving)) {
    out.graphs = serving.engine.graphs.bytes(static_cast<double>(serving.model.layers()) / stages);
  }
  out.parts = reserved_of(serving);
  out.reserved = out.parts.total();
  // Ranks that share the sequences of a prompt keep a part of each [INFER-25].
  out.cache_of_token /= static_cast<double>(serving.cp);
  if (serving.engine.whole.only()) {
    hold_whole_batches(out, serving, prompt > 0 ? prompt : context);
  }
  // [INFER-16] What guesses the next tokens is there, too; prediction layers use the model's ends.
  if (serving.speculation) {
    const ServingMemory beside = memory_of(draft_of(serving), context, prompt);
    out.weights += beside.weights;
    out.graphs += beside.graphs;
    out.cache_of_token += beside.cache_of_token;
    out.state_of_sequence += beside.state_of_sequence;
  }
  const Bytes memory = serving.cluster.accelerator.memory;
  const double part = serving.engine.memory;
  out.capacity = part * memory;
  Bytes taken = out.weights + out.reserved;
  if (serving.engine.share_of == ShareOf::free) {
    out.capacity = std::min(memory, taken + part * (memory - taken));
  }
  if (serving.engine.share_of == ShareOf::pool) {
    taken = out.weights + part * (out.parts.context + out.parts.communicators);
  }
  out.free = out.capacity - taken;
  out.block = serving.engine.policy.block;
  out.cached_tokens = out.cache_of_token > Bytes(0)
                          ? whole_blocks(out.free / out.cache_of_token, out.block)
                          : out.room(static_cast<double>(context));
  return out;
}

ServingMemory memory_of(const Serving& serving, const Load& load) {
  return memory_of(serving, load.input + load.output, load.input);
}

}  // namespace headway
