#include "model/count.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/linear.hpp"

namespace headway {
namespace {

// Values of attention outside its matrices that each rank holds whole: norms of heads, of latent
// ranks and of the result of linear attention (of each head where gates write its state).
std::int64_t attention_values(const Model& model, const Attention& attention) {
  if (attention.linear) {
    const LinearAttention& linear = *attention.linear;
    if (linear.form == LinearForm::selective) {
      return linear.norms_inside ? linear.rate_rank + 2 * attention.head_dim : 0;
    }
    const bool each = linear.form == LinearForm::delta_rule;
    return norm_values(model, (each ? 1 : attention.heads) * attention.value_dim);
  }
  std::int64_t values = 0;
  if (attention.query_key_norm == QueryKeyNorm::head) {
    values += 2 * norm_values(model, attention.head_dim);
  } else if (attention.query_key_norm == QueryKeyNorm::all_heads) {
    values += (attention.heads + attention.kv_heads) * attention.head_dim;
  }
  if (attention.latent) {
    const LatentProjection& latent = *attention.latent;
    if (latent.query_rank > 0) values += norm_values(model, latent.query_rank);
    values += norm_values(model, latent.key_value_rank);
  }
  // The norm of an indexer's key is a layer norm, with weight and bias, whatever the model's.
  if (attention.indexer) values += 2 * attention.indexer->head_dim;
  return values;
}

// Those that go with the heads: sinks; taps of the convolution, and the rate and offset of each
// head's gates, or of each head the rate of its state, the offset of a token's and what passes the
// state by; of the selective form a rate for each number of the state.
std::int64_t head_values(const Attention& attention) {
  if (!attention.linear) return attention.sinks ? attention.heads : 0;
  const LinearAttention& linear = *attention.linear;
  std::int64_t of_heads = 0;
  switch (linear.form) {
    case LinearForm::decay:
      break;
    case LinearForm::delta_rule:
      of_heads = 2 * attention.heads;
      break;
    case LinearForm::dual:
      of_heads = 3 * attention.heads;
      break;
    case LinearForm::selective:
      of_heads = attention.heads * (attention.head_dim + 1);
      break;
  }
  return (linear.convolution + (linear.convolution_bias ? 1 : 0)) * convolved_channels(attention) +
         of_heads;
}

std::int64_t idle_expert_values(const Layer& layer, std::int64_t all_experts) {
  if (!layer.experts || layer.experts->count == 0) return 0;
  return all_experts / layer.experts->count * (layer.experts->count - layer.experts->active);
}

std::vector<std::int64_t> layers_of_kind(const Model& model) {
  if (model.kinds.size() == 1) return {model.layers()};
  std::vector<std::int64_t> number(model.kinds.size(), 0);
  for (const std::uint8_t kind : model.pattern) ++number[kind];
  return number;
}

std::int64_t embedding_width(const Model& model) {
  return model.embedding_width > 0 ? model.embedding_width : model.hidden;
}

std::int64_t head_columns(const Model& model) {
  return model.labels.value_or(model.vocabulary);
}

// The head's product, and before it the projection to a narrower embedding.
double head_flops_per_token(const Model& model) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto width = static_cast<double>(embedding_width(model));
  const double projection = width != hidden ? 2 * hidden * width : 0;
  return projection + 2 * width * static_cast<double>(head_columns(model));
}

// [MODEL-6] The state of linear attention is written and read once a token, and once more where the
// delta rule asks what it holds; the convolution multiplies each channel by its taps.
double core_flops_per_token(const Attention& attention, std::int64_t sequence,
                            AttentionFlops convention) {
  const auto heads = static_cast<double>(attention.heads);
  const auto keys = static_cast<double>(attention.head_dim);
  const auto values = static_cast<double>(attention.value_dim);
  if (attention.indexer) {
    // [MODEL-7] Each query is scored against all keys, and sees as many of them as are kept: the
    // first see fewer, as with a window.
    const KeyIndexer& indexer = *attention.indexer;
    const auto index_width = static_cast<double>(indexer.heads * indexer.head_dim);
    return 2 * (keys + values) * heads * mean_keys(sequence, indexer.keep, convention) +
           2 * index_width * mean_keys(sequence, 0, convention);
  }
  if (!attention.linear) {
    return 2 * (keys + values) * heads * mean_keys(sequence, attention.window, convention);
  }
  const double passes = attention.linear->form == LinearForm::delta_rule ? 3 : 2;
  return passes * 2 * heads * keys * values +
         2 * static_cast<double>(attention.linear->convolution * convolved_channels(attention));
}

}  // namespace

std::int64_t convolved_channels(const Attention& attention) {
  const std::int64_t values = attention.heads * attention.value_dim;
  if (attention.linear && attention.linear->form == LinearForm::selective) return values;
  return attention.kv_heads * 2 * attention.head_dim + values;
}

bool has_experts(const Model& model) {
  return std::any_of(model.kinds.begin(), model.kinds.end(),
                     [](const Layer& layer) { return layer.experts.has_value(); });
}

std::int64_t layers_with_experts(const Model& model) {
  return std::count_if(model.pattern.begin(), model.pattern.end(),
                       [&](std::uint8_t kind) { return model.kinds[kind].experts.has_value(); });
}

namespace {

template <class Holds>
bool any_module(const Model& model, const Holds& holds) {
  return std::any_of(model.kinds.begin(), model.kinds.end(), [&](const Layer& layer) {
    return std::any_of(layer.modules.begin(), layer.modules.end(), holds);
  });
}

}  // namespace

bool has_tables(const Model& model) {
  return any_module(model, [](const NetworkModule& module) { return table_values(module) > 0; });
}

bool has_node_features(const Model& model) {
  return any_module(model, [](const NetworkModule& module) {
    return std::holds_alternative<NodeFeatures>(module.shape);
  });
}

bool has_class(const Model& model, ModuleClass of) {
  return any_module(model, [&](const NetworkModule& module) {
    return module.of == of && module_weights(module) > 0;
  });
}

const NetworkModule* first_trained_product(const Model& model) {
  if (!model.is_network()) return nullptr;  // what they read came from layers before
  const std::vector<std::int64_t> number = layers_of_kind(model);
  for (const std::uint8_t kind : model.pattern) {
    for (const NetworkModule& module : model.kinds[kind].modules) {
      if (std::holds_alternative<Lookup>(module.shape) && !module.frozen) return nullptr;
      if (module.frozen || !(module_forward_flops(module) > Flops(0))) continue;
      const bool reads = std::holds_alternative<Convolution>(module.shape) ||
                         std::holds_alternative<Projection>(module.shape);
      return reads && module.repeat == 1 && number[kind] == 1 ? &module : nullptr;
    }
  }
  return nullptr;
}

std::int64_t norm_values(const Model& model, std::int64_t width) {
  if (!model.norm_weight) return 0;
  return model.norm == NormKind::layer_norm && model.norm_bias ? 2 * width : width;
}

LayerParameters layer_parameters(const Model& model, const Layer& layer) {
  LayerParameters out;
  for (const Linear& linear : linears(layer, model.hidden)) {
    const std::int64_t bias = linear.bias ? linear.out : 0;
    if (is_expert(linear.role)) {
      out.experts += layer.experts->count * linear.weights();
    } else if (linear.split == Split::replicated) {
      out.replicated += linear.weights();
    } else {
      out.split += linear.in * linear.out;
      (linear.split == Split::column ? out.split : out.replicated) += bias;
    }
  }
  if (!layer.modules.empty()) {
    double weights = 0, tables = 0;
    for (const NetworkModule& module : layer.modules) {
      weights += module_weights(module);
      tables += table_values(module);
    }
    out.replicated = std::llround(weights);
    out.experts = std::llround(tables);
    return out;
  }
  out.replicated += layer.norms * norm_values(model, model.hidden);
  if (layer.attention) {
    out.replicated += attention_values(model, *layer.attention);
    out.split += head_values(*layer.attention);
  }
  return out;
}

Parameters parameters(const Model& model) {
  Parameters out;
  const std::int64_t width = embedding_width(model);
  out.embedding = model.vocabulary * width + model.learned_positions * model.hidden;
  if (width != model.hidden) out.embedding += 2 * width * model.hidden;
  if (!model.tied_embeddings) out.head = head_columns(model) * width;
  if (model.head_bias) out.head += head_columns(model);
  out.other = ((model.final_norm ? 1 : 0) + (model.embedding_norm ? 1 : 0)) *
              norm_values(model, model.hidden);

  std::int64_t idle = 0;
  const std::vector<std::int64_t> number = layers_of_kind(model);
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    const LayerParameters layer = layer_parameters(model, model.kinds[kind]);
    out.layers += number[kind] * layer.total();
    idle += number[kind] * idle_expert_values(model.kinds[kind], layer.experts);
  }
  if (model.prediction_layers > 0 && !model.pattern.empty()) {
    // A layer, the 2h→h projection, and norms of its two inputs and before the shared head
    // (DeepSeek-V3, arXiv 2412.19437 §2.2).
    const Layer& last = model.kinds[model.pattern.back()];
    out.prediction = model.prediction_layers *
                     (layer_parameters(model, last).total() + 2 * model.hidden * model.hidden +
                      3 * norm_values(model, model.hidden));
  }
  out.total = out.embedding + out.layers + out.head + out.other;
  out.active = out.total - idle;
  return out;
}

double mean_keys(std::int64_t sequence, std::int64_t window, AttentionFlops convention) {
  const auto all = static_cast<double>(sequence);
  const double seen = window > 0 ? std::min(all, static_cast<double>(window)) : all;
  if (convention == AttentionFlops::full || sequence <= 0) return seen;
  return seen - seen * seen / (2 * all);
}

Flops layer_forward_flops(const Model& model, const Layer& layer, std::int64_t sequence,
                          AttentionFlops convention) {
  double per_token = 0;
  for (const Linear& linear : linears(layer, model.hidden)) {
    const double passes = is_expert(linear.role) ? static_cast<double>(layer.experts->active) : 1.0;
    per_token += passes * linear.flops_per_token();
  }
  if (layer.attention) {
    per_token += core_flops_per_token(*layer.attention, sequence, convention);
  }
  for (const NetworkModule& module : layer.modules) {
    per_token += module_forward_flops(module).value();
  }
  return Flops(per_token * static_cast<double>(sequence));
}

Flops forward_flops(const Model& model, std::int64_t sequence, AttentionFlops convention) {
  const auto tokens = static_cast<double>(sequence);
  const auto hidden = static_cast<double>(model.hidden);
  Flops total(tokens * head_flops_per_token(model));
  if (embedding_width(model) != model.hidden) {
    total += Flops(tokens * 2 * hidden * static_cast<double>(model.embedding_width));
  }
  const std::vector<std::int64_t> number = layers_of_kind(model);
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    total += static_cast<double>(number[kind]) *
             layer_forward_flops(model, model.kinds[kind], sequence, convention);
  }
  if (model.prediction_layers > 0 && !model.pattern.empty()) {
    const Layer& last = model.kinds[model.pattern.back()];
    total += static_cast<double>(model.prediction_layers) *
             (layer_forward_flops(model, last, sequence, convention) +
              Flops(tokens * (4 * hidden * hidden + head_flops_per_token(model))));
  }
  return total;
}

Flops network_training_flops(const Model& model) {
  Flops total = 3 * forward_flops(model, 1, AttentionFlops::full);
  const std::vector<std::int64_t> number = layers_of_kind(model);
  for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
    for (const NetworkModule& module : model.kinds[kind].modules) {
      const double spared = module.frozen ? 2 : module.reads_sample ? 1 : 0;
      total = total - spared * static_cast<double>(number[kind]) * module_forward_flops(module);
    }
  }
  const NetworkModule* first = first_trained_product(model);
  const bool counted = first == nullptr || first->reads_sample;
  return counted ? total : total - module_forward_flops(*first);
}

Flops head_forward_flops(const Model& model, std::int64_t sequence) {
  return Flops(static_cast<double>(sequence) * head_flops_per_token(model));
}

Flops six_n_flops(const Model& model, std::int64_t tokens) {
  return Flops(6 * static_cast<double>(parameters(model).active) * static_cast<double>(tokens));
}

}  // namespace headway
