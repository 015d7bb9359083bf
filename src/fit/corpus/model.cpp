// The model of a row: a built-in one by its name, laid out in the row's shape.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "fit/corpus/run.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

// A model_name that contains `pattern` (in lower case) is this model, or of this family: a family
// gives habits (norms, biases, positions), the row gives the shape. The first match holds.
struct Known {
  std::string_view pattern, model;
  bool family = false;
  std::string_view unsupported = {};
};
constexpr bool kFamily = true;
constexpr Known kKnown[] = {
    {"nemotronh", "", false, "hybrid Mamba layers"},
    {"nemotron-h", "", false, "hybrid Mamba layers"},
    {"nemotron 3", "", false, "hybrid Mamba layers"},
    {"nemotron_3", "", false, "hybrid Mamba layers"},
    {"mamba", "", false, "hybrid Mamba layers"},
    {"qwen3-next", "", false, "linear attention"},
    {"deepseek-v4", "", false, "compressed sparse attention"},
    {"mosaicgpt", "mosaicgpt-7b", kFamily},
    {"mpt", "mosaicgpt-7b", kFamily},
    {"llama-like", "llama-2-7b", kFamily},
    {"gpt l", "gpt3-1.3b", kFamily},
    {"maxtext", "llama-2-7b", kFamily},
    {"gpt-oss-20b", "gpt-oss-20b"},
    {"gpt-oss-120b", "gpt-oss-120b"},
    {"deepseek-v3", "deepseek-v3"},
    {"deepseek-v2-lite", "deepseek-v2-lite"},
    {"deepseek-v2", "deepseek-v2"},
    {"moonlight-16b", "moonlight-16b-a3b"},
    {"qwen3-235b-a22b", "qwen3-235b-a22b"},
    {"qwen3-30b-a3b", "qwen3-30b-a3b"},
    {"qwen3-32b", "qwen3-32b"},
    {"qwen3-14b", "qwen3-14b"},
    {"qwen3-8b", "qwen3-8b"},
    {"qwen2.5-72b", "qwen2.5-72b"},
    {"qwen2.5-32b", "qwen2.5-32b"},
    {"qwen2.5-14b", "qwen2.5-14b"},
    {"qwen2.5-7b", "qwen2.5-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "mixtral-8x22b"},
    {"mistral-7b", "mistral-7b"},
    {"grok1", "grok-1"},
    {"grok-1", "grok-1"},
    {"llama4-maverick", "llama-4-maverick"},
    {"llama4-scout", "llama-4-scout"},
    {"llama3.1-405b", "llama-3.1-405b"},
    {"llama-3.1-405b", "llama-3.1-405b"},
    {"llama3.1-70b", "llama-3.1-70b"},
    {"llama3.1-8b", "llama-3.1-8b"},
    {"llama3-70b", "llama-3-70b"},
    {"llama-3-70b", "llama-3-70b"},
    {"llama3-8b", "llama-3-8b"},
    {"llama-3-8b", "llama-3-8b"},
    {"llama2-70b", "llama-2-70b"},
    {"llama-2-70b", "llama-2-70b"},
    {"llama2-13b", "llama-2-13b"},
    {"llama-2-13b", "llama-2-13b"},
    {"llama2-7b", "llama-2-7b"},
    {"llama-2-7b", "llama-2-7b"},
    {"llama1-7b", "llama-7b"},
    {"llama1-13b", "llama-13b"},
    {"internlm-7b", "llama-7b"},
    {"aquila2-7b", "llama-2-7b"},
    {"gpt3-175b", "gpt3-175b"},
    {"gpt 175b", "gpt3-175b"},
    {"gpt3-20b", "gpt3-20b"},
    {"gpt3-13b", "gpt3-13b"},
    {"gpt 13b", "gpt3-13b"},
    {"gpt3-6.7b", "gpt3-6.7b"},
    {"gpt 7b", "gpt3-6.7b"},
    {"gpt3-5b", "gpt3-5b"},
    {"nemotron-340b", "nemotron-4-340b"},
    {"nemotron-15b", "nemotron-15b"},
    {"nemotron", "nemotron-15b", kFamily},
    {"gpt", "gpt3-1.3b", kFamily},
    {"deepseek", "", false, "multi-head latent attention of a shape the columns do not hold"},
};

Known known_of(const CorpusRow& row) {
  const std::string name = lower(row.model_name);
  for (const Known& known : kKnown) {
    if (name.find(known.pattern) != std::string::npos) return known;
  }
  if (row.n_experts.value_or(1) > 1) return {"", "mixtral-8x7b", kFamily};
  return {"", row.gated_mlp.value_or(1) == 1 ? "llama-2-7b" : "gpt3-1.3b", kFamily};
}

// The first `layers` layers of the pattern; where more are asked for, its last kinds go on in their
// rhythm (a period of at most 4).
void set_layers(Model& model, std::int64_t layers) {
  const auto size = static_cast<std::size_t>(layers);
  while (model.pattern.size() < size) {
    const std::size_t have = model.pattern.size();
    model.pattern.push_back(model.pattern[have >= 4 ? have - 4 : have - 1]);
  }
  model.pattern.resize(size);
}

// The columns laid over a model with one kind of layer.
void set_shape(const CorpusRow& row, Model& model) {
  Layer& layer = model.kinds.front();
  Attention& attention = *layer.attention;
  const bool own_heads = (!row.d_model || *row.d_model == model.hidden) &&
                         (!row.n_heads || *row.n_heads == attention.heads);
  const bool multi_head = attention.kv_heads == attention.heads;
  model.hidden = row.d_model.value_or(model.hidden);
  attention.heads = row.n_heads.value_or(attention.heads);
  if (!own_heads) attention.head_dim = std::max<std::int64_t>(1, model.hidden / attention.heads);
  attention.head_dim = number_after(row.notes, "head_dim ").value_or(attention.head_dim);
  attention.value_dim = attention.head_dim;
  attention.kv_heads = row.n_kv_heads.value_or(multi_head ? attention.heads : attention.kv_heads);
  FeedForward& feed_forward = layer.feed_forward ? *layer.feed_forward : layer.experts->each;
  feed_forward.width = row.d_ff.value_or(feed_forward.width);
  if (row.gated_mlp) feed_forward.gated = *row.gated_mlp == 1;
  if (layer.experts) {
    layer.experts->count = row.n_experts.value_or(layer.experts->count);
    layer.experts->active = row.top_k.value_or(layer.experts->active);
    if (const auto shared = number_after(row.notes, "shared expert ")) {
      layer.experts->shared_width = *shared;
    }
    const auto dense = number_after(row.notes, "dense ffn ");
    const auto first = number_after(row.notes, "first ");
    if (dense && first && *first < model.layers()) {
      Layer plain = layer;
      plain.feed_forward = plain.experts->each;
      plain.feed_forward->width = *dense;
      plain.experts.reset();
      model.kinds.push_back(plain);
      std::fill_n(model.pattern.begin(), *first, std::uint8_t{1});
    }
  }
}

// The width of the feed-forward part that makes up the stated number of parameters, a multiple of
// 256 as widths are; 0 where there is none. Parameters are linear in the width.
std::int64_t width_by_count(Model model, double stated) {
  const auto with_width = [&](std::int64_t width) {
    model.kinds.front().feed_forward->width = width;
    return static_cast<double>(parameters(model).total);
  };
  const double slope = (with_width(1024) - with_width(256)) / 768;
  const double width = (stated - with_width(256)) / slope + 256;
  if (!(width >= 256 && width < 1e7)) return 0;
  return static_cast<std::int64_t>(std::llround(width / 256)) * 256;
}

// Tied or not, whichever comes nearer to the stated number of parameters.
bool tied_by_count(Model model, double stated) {
  const auto distance = [&](bool tied) {
    model.tied_embeddings = tied;
    return std::abs(static_cast<double>(parameters(model).total) - stated);
  };
  return distance(true) < distance(false);
}

}  // namespace

std::optional<std::int64_t> number_after(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    const char* const begin = text.data() + at + words.size();
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(begin, text.data() + text.size(), value);
    if (status == std::errc() && value > 0 && value < 1'000'000'000) return value;
  }
  return std::nullopt;
}

Result<Model> model_of(const CorpusRow& row, Shelf& shelf, std::vector<std::string>& assumed) {
  const Known known = known_of(row);
  if (!known.unsupported.empty()) {
    return Problem{"unsupported: " + std::string(known.unsupported), row.model_name,
                   Trouble::unsupported};
  }
  const Result<Model>& built_in = shelf.model(std::string(known.model));
  if (!built_in)
    return Problem{"no such model", built_in.problems().front().message, Trouble::unknown};
  Model model = *built_in;
  const bool plain = model.kinds.size() == 1 && model.kinds.front().feed_forward.has_value();

  const std::pair<const char*, bool> shape[] = {{"layers", row.layers.has_value()},
                                                {"d_model", row.d_model.has_value()},
                                                {"n_heads", row.n_heads.has_value()},
                                                {"d_ff", row.d_ff.has_value()}};
  for (const auto& [cell, stated] : shape) {
    if (stated) continue;
    const bool solvable = cell == std::string_view("d_ff") && row.n_params && plain;
    if (known.family && solvable) continue;
    if (known.family) {
      return Problem{std::string("cell missing: ") + cell,
                     row.model_name + " is no built-in model"};
    }
    assumed.push_back(std::string(cell) + "=" + std::string(known.model));
  }
  if (!row.vocab) assumed.push_back("vocab=" + std::to_string(model.vocabulary));

  if (row.layers) set_layers(model, *row.layers);
  // Named models of several kinds of layer, or of experts, keep their widths: d_ff means the
  // expert's in some tables and the dense layers' in others.
  if (plain || known.family) {
    set_shape(row, model);
    if (!row.n_kv_heads) {
      assumed.push_back("n_kv_heads=" + std::to_string(model.kinds.front().attention->kv_heads));
    }
    if (!row.gated_mlp) assumed.emplace_back("gated_mlp=" + std::string(known.model));
  }
  model.vocabulary = row.vocab.value_or(model.vocabulary);
  if (known.family && !row.d_ff) {
    const std::int64_t width = width_by_count(model, *row.n_params);
    if (width == 0)
      return Problem{"cell missing: d_ff", "n_params leave nothing for it", Trouble::missing};
    model.kinds.front().feed_forward->width = width;
    assumed.push_back("d_ff=" + std::to_string(width));
  }
  model.name = row.model_name;
  model.maximum_sequence = 0;
  if (model.learned_positions > 0) model.learned_positions = row.seq_len.value_or(1);

  if (row.notes.find("tie_word_embeddings=True") != std::string::npos) {
    model.tied_embeddings = true;
  } else if (row.notes.find("tie_word_embeddings=False") != std::string::npos) {
    model.tied_embeddings = false;
  } else if (known.family && row.n_params) {
    model.tied_embeddings = tied_by_count(model, *row.n_params);
    assumed.emplace_back(model.tied_embeddings ? "tied_embeddings=1" : "tied_embeddings=0");
  }
  return model;
}

}  // namespace headway
